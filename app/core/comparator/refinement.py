"""Is there a pairing of columns under which *every* row is matched? Found exactly, by refinement and then by search.

Rows tell columns apart and columns tell rows apart, turn by turn, until neither side learns anything: the colour
refinement of graph isomorphism, on the graph of rows and columns. Where columns are still alike and not identical,
one golden column is given to each candidate in turn and the refinement goes on from there. Each branch is a proof:
it ends in a pairing that matches every row, or in the finding that there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.core.comparator.sides import ColumnClass, Pairs, Side, by_name, candidates, column_classes, told_apart

if TYPE_CHECKING:
    from app.core.comparator.rows import RowClasses


BRANCH_COST = 10_000
"""What following one guess costs beside its cells, in cells: many small steps are not free."""


@dataclass(frozen=True, slots=True)
class Equality:
    """`pairs`: a pairing (golden, generated) that matches every row, None where there is none, or where the search
    `stopped` before it knew."""

    pairs: Pairs | None
    stopped: bool = False


def equal_pairing(golden: Side, generated: Side, rows: RowClasses, *, effort: int) -> Equality:
    """A pairing of every golden column under which every row of `rows` is matched, if there is one.

    Arguments: `rows`, the classes before any column is paired; `effort`, how many cells may be looked at in following
    guesses. Generated columns may stay over. After Weisfeiler and Leman's refinement with individualisation, as nauty
    does it.

    >>> import numpy as np
    >>> two = Side(("a", "b"), (np.array([1, 2, 2]), np.array([2, 1, 2])))
    >>> swapped = Side(("x", "y"), (np.array([2, 2, 1]), np.array([2, 1, 2])))
    >>> from app.core.comparator.rows import row_classes
    >>> equal_pairing(two, swapped, row_classes(np.zeros(3, int), np.zeros(3, int)), effort=99_999).pairs is None
    False
    """
    search = _Search(golden, generated, effort)
    everything = _Open(rows, tuple(range(len(golden.codes))), tuple(range(len(generated.codes))), ())
    pairs = search.solve(everything)
    return Equality(pairs, stopped=pairs is None and search.effort < 0)


@dataclass(frozen=True, slots=True)
class _Open:
    """What is still open: the row classes so far, the columns not yet paired, and the pairs."""

    rows: RowClasses
    golden: tuple[int, ...]
    generated: tuple[int, ...]
    pairs: Pairs

    def paired(self, i: int, j: int, rows: RowClasses) -> _Open:
        golden = tuple(column for column in self.golden if column != i)
        generated = tuple(column for column in self.generated if column != j)
        return _Open(rows, golden, generated, (*self.pairs, (i, j)))


class _Search:
    def __init__(self, golden: Side, generated: Side, effort: int) -> None:
        self._golden = golden
        self._generated = generated
        self._height = len(golden.codes[0])
        self._pass = self._height * (len(golden.codes) + len(generated.codes)) + BRANCH_COST
        self.effort = effort

    def solve(self, state: _Open) -> Pairs | None:
        refined = self._refined(state)
        if refined is None:
            return None
        state, classes = refined
        undecided = [group for group in classes if not self._is_interchangeable(group)]
        if not undecided:
            return state.pairs + tuple(
                pair for group in classes for pair in by_name(self._golden, self._generated, group)
            )
        group = min(undecided, key=lambda group: len(group.generated))
        i = group.golden[0]
        for j in candidates(self._golden, self._generated, i, group.generated):
            self.effort -= self._pass
            if self.effort < 0:
                return None
            rows = state.rows.joined(self._golden.codes[i], self._generated.codes[j])
            pairs = self.solve(state.paired(i, j, rows))
            if pairs is not None:
                return pairs
        return None

    def _refined(self, state: _Open) -> tuple[_Open, list[ColumnClass]] | None:
        """The state when nothing more can be told apart, with its open classes; None where some row has no match."""
        known = 0
        while state.rows.matched() == self._height:
            found = column_classes(self._golden, self._generated, state.rows, state.golden, state.generated)
            if any(len(group.golden) > len(group.generated) for group in found):
                return None
            classes = [group for group in found if group.golden]
            if state.rows.count() == known:  # no row was told apart, so no column will be
                return state, classes
            known = state.rows.count()
            rows = state.rows
            # The most various columns first: once every row is told apart, the others cost next to nothing.
            for group in sorted(classes, key=lambda group: -self._golden.variety[group.golden[0]]):
                rows = told_apart(self._golden, self._generated, rows, group)
            for group in classes:
                if len(group.golden) == len(group.generated) == 1:
                    state = state.paired(group.golden[0], group.generated[0], rows)
            state = _Open(rows, state.golden, state.generated, state.pairs)
        return None

    def _is_interchangeable(self, group: ColumnClass) -> bool:
        left = {self._golden.vectors[i] for i in group.golden}
        right = {self._generated.vectors[j] for j in group.generated}
        return len(left) == len(right) == 1
