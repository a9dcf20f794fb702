"""Where no pairing matches every row: the pairing, among columns of equal values, that matches the most.

Best-first search. A pairing begun is worth at most the rows that its pairs so far still match, for a further pair can
only tell rows apart. The most promising one is taken up first, so the first finished one to come up is the best.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from app.core.comparator.leftovers import LeftoverPair, pair_leftovers
from app.core.comparator.sides import ColumnClass, Pairs, Side, by_name, candidates, told_apart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from app.core.comparator.rows import RowClasses


PAIR_COST = 600
"""What trying one pair costs beside its cells, in cells: many small steps are not free."""


@dataclass(frozen=True, slots=True)
class BestPairing:
    """`equal`: pairs (golden, generated) of columns with equal values; `leftover`: those paired by best effort;
    `matched`: golden rows matched on all of them, 0 where a golden column has no partner; `stopped`: whether a better
    pairing may have gone unseen."""

    equal: Pairs
    leftover: tuple[LeftoverPair, ...]
    matched: int
    stopped: bool


@dataclass(frozen=True, slots=True)
class _Question:
    """A column of the scarcer side of its class, and the columns of the other side that could be its partner."""

    column: int
    answers: tuple[int, ...]
    asks_golden: bool


@dataclass(frozen=True, slots=True, order=True)
class _Begun:
    """A pairing on its way, in the order in which it is taken up: the most rows, then finished, then the furthest."""

    cost: int
    unfinished: bool
    open_questions: int
    serial: int
    pairs: Pairs


def most_rows(
    golden: Side, generated: Side, rows: RowClasses, classes: Sequence[ColumnClass], *, effort: int
) -> BestPairing:
    """The best pairing: each column of a class goes to one of the same class or, left over, pairs by best effort.

    Arguments: `rows`, the row classes before any column is paired; `classes`, all columns under them; `effort`, how
    many cells may be looked at in trying pairs. Past that the most promising one is finished by taking the best pair
    at each step, and the answer says `stopped`.
    """
    return _Search(golden, generated, rows, classes).best(effort)


class _Search:
    def __init__(self, golden: Side, generated: Side, rows: RowClasses, classes: Sequence[ColumnClass]) -> None:
        self._golden = golden
        self._generated = generated
        self._serial = count()
        self._leftover_names = _leftover_names(golden, generated, classes)
        decided = [group for group in classes if self._has_one_answer(group)]
        self._asked = sorted((group for group in classes if group not in decided), key=_size)
        self._questions = [question for group in self._asked for question in _questions(group)]
        self._decided = tuple(pair for group in decided for pair in by_name(golden, generated, group))
        settled = len(self._decided) + len(self._questions)
        self._leftover_pairs = (len(golden.codes) - settled) * (len(generated.codes) - settled)
        self._pair_cost = 2 * len(golden.codes[0]) + PAIR_COST
        # The most various first: rows soon stand side by side, and the rest is cheap.
        by_variety = sorted(self._decided, key=lambda pair: -golden.variety[pair[0]])
        self._rows = self._joined(rows, tuple(by_variety))

    def best(self, effort: int) -> BestPairing:
        heap = [self._begun((), self._rows)]
        if heap[0].unfinished and effort > 0:
            heapq.heappush(heap, self._guessed())
        while heap[0].unfinished and effort > 0:
            for begun in self._continued(heapq.heappop(heap)):
                heapq.heappush(heap, begun)
                effort -= self._pair_cost * (1 if begun.unfinished else 1 + self._leftover_pairs)
        stopped = heap[0].unfinished
        if stopped:
            heapq.heappush(heap, self._hurried(heap[0]))
        best = min(begun for begun in heap if not begun.unfinished)
        leftover = self._leftover(best.pairs)
        return BestPairing(self._decided + best.pairs, leftover, max(0, -best.cost), stopped)

    def _has_one_answer(self, group: ColumnClass) -> bool:
        left = {self._golden.vectors[i] for i in group.golden}
        right = {self._generated.vectors[j] for j in group.generated}
        if len(left) > 1 or len(right) > 1:
            return not left or not right
        # Which of several identical columns stays over matters only where its name then finds it a partner.
        names = {self._golden.names[i] for i in group.golden} | {self._generated.names[j] for j in group.generated}
        return len(group.golden) == len(group.generated) or not names & self._leftover_names

    def _joined(self, rows: RowClasses, pairs: Pairs) -> RowClasses:
        for i, j in pairs:
            rows = rows.joined(self._golden.codes[i], self._generated.codes[j])
        return rows

    def _begun(self, pairs: Pairs, rows: RowClasses) -> _Begun:
        """`rows` are the ones that `pairs` leave; they are not kept, for thousands of them would fill the memory."""
        still_open = len(self._questions) - len(pairs)
        cost = -rows.matched() if still_open else self._finished_cost(pairs, rows)
        return _Begun(cost, bool(still_open), still_open, next(self._serial), pairs)

    def _finished_cost(self, pairs: Pairs, rows: RowClasses) -> int:
        """Minus the rows matched with the leftovers as well; a golden column without partner is worse than no rows."""
        leftover = self._leftover(pairs)
        missing = len(self._golden.codes) - len(self._decided) - len(pairs) - len(leftover)
        return missing or -self._joined(rows, tuple((pair.i, pair.j) for pair in leftover)).matched()

    def _leftover(self, pairs: Pairs) -> tuple[LeftoverPair, ...]:
        equal = self._decided + pairs
        golden = set(range(len(self._golden.codes))) - {i for i, _ in equal}
        generated = set(range(len(self._generated.codes))) - {j for _, j in equal}
        rows = self._joined(self._rows, pairs)
        return pair_leftovers(self._golden, self._generated, rows, tuple(sorted(golden)), tuple(sorted(generated)))

    def _continued(self, begun: _Begun) -> Iterator[_Begun]:
        rows = self._joined(self._rows, begun.pairs)
        for pair in self._answers(begun.pairs):
            yield self._begun((*begun.pairs, pair), self._joined(rows, (pair,)))

    def _answers(self, pairs: Pairs) -> Iterator[tuple[int, int]]:
        """The pairs that may be added to `pairs`."""
        question = self._questions[len(pairs)]
        taken = {pair[1 if question.asks_golden else 0] for pair in pairs}
        free = tuple(answer for answer in question.answers if answer not in taken)
        sides = (self._golden, self._generated) if question.asks_golden else (self._generated, self._golden)
        for answer in candidates(*sides, question.column, free, self._leftover_names):
            yield (question.column, answer) if question.asks_golden else (answer, question.column)

    def _guessed(self) -> _Begun:
        """A good pairing to fall back on: rows are told apart as if all of them were matched, and most of them are."""
        rows = self._rows
        pairs: Pairs = ()
        for group in (*self._asked, self._undecided()):
            rows = told_apart(self._golden, self._generated, rows, group)
        for _ in self._questions:
            joined = {pair: self._joined(rows, (pair,)) for pair in self._answers(pairs)}
            best = max(joined, key=lambda pair: joined[pair].matched())
            rows, pairs = joined[best], (*pairs, best)
        return self._begun(pairs, self._joined(self._rows, pairs))

    def _undecided(self) -> ColumnClass:
        """All columns that may yet go to another, as if they were one class: a wrong cell takes its column out of its
        own, and leaves what the other rows hold together as it was."""
        golden = set(range(len(self._golden.codes))) - {i for i, _ in self._decided}
        generated = set(range(len(self._generated.codes))) - {j for _, j in self._decided}
        return ColumnClass(tuple(sorted(golden)), tuple(sorted(generated)))

    def _hurried(self, begun: _Begun) -> _Begun:
        while begun.unfinished:
            begun = min(self._continued(begun))
        return begun


def _leftover_names(golden: Side, generated: Side, classes: Sequence[ColumnClass]) -> frozenset[str]:
    """The names that a golden and a generated column share of which both may be left over."""
    left = {golden.names[i] for group in classes if len(group.golden) > len(group.generated) for i in group.golden}
    right = {
        generated.names[j] for group in classes if len(group.generated) > len(group.golden) for j in group.generated
    }
    return frozenset(left & right)


def _size(group: ColumnClass) -> int:
    return len(group.golden) * len(group.generated)


def _questions(group: ColumnClass) -> list[_Question]:
    if len(group.golden) <= len(group.generated):
        return [_Question(i, group.generated, asks_golden=True) for i in group.golden]
    return [_Question(j, group.golden, asks_golden=False) for j in group.generated]
