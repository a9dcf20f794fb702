"""Which generated column answers which golden one, and how many rows that matches.

By values, never by position; a name only breaks a tie. First the question that decides a pass, whether every row can
be matched; then, where it cannot, the pairing that matches the most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.core.comparator.leftovers import is_telling, may_agree
from app.core.comparator.most_rows import most_rows
from app.core.comparator.refinement import Equality, equal_pairing
from app.core.comparator.rows import Aligned, RowClasses
from app.core.comparator.sides import ColumnClass, Pairs, Side, column_classes

MAX_EFFORT = 20_000_000
"""How many cells each of the two searches may look at beyond its first pass: about a second."""

MIN_PASSES = 16
"""Over a larger result, how many times each may look at all of it: twelve columns that the rows tell apart take two."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """`pairs` in the golden order with the `agreement` of each, the `matched` golden rows (0 where a golden column has
    no partner), and whether the search `stopped` at its bound, so that a better pairing may exist."""

    pairs: Pairs
    agreement: tuple[float, ...]
    matched: int
    stopped: bool


def pair_columns(golden: Side, generated: Side, rows: RowClasses, *, extra_allowed: bool) -> Pairing:
    """Pair the columns of two sides of equal height, at least one row and one golden column.

    Arguments: `rows`, which rows may answer each other whatever their cells; `extra_allowed`, whether a generated
    column may stay over in a full match.
    """
    height = len(golden.codes[0])
    cells = height * (len(golden.codes) + len(generated.codes))
    effort = max(MAX_EFFORT, MIN_PASSES * cells)
    wider = len(generated.codes) - len(golden.codes)
    fits = wider == 0 or (wider > 0 and extra_allowed)
    equality = Equality(None)
    if fits:
        equality = _in_place(golden, generated) or equal_pairing(golden, generated, rows, effort=effort)
    if equality.pairs is not None:
        return Pairing(tuple(sorted(equality.pairs)), (1.0,) * len(equality.pairs), height, stopped=False)
    columns = (tuple(range(len(side.codes))) for side in (golden, generated))
    classes = column_classes(golden, generated, rows, *columns)
    # A golden column that stays without a partner anyhow makes the score 0.0, and no search can better it.
    hopeless = not fits or not _may_all_pair(golden, generated, rows, classes)
    best = most_rows(golden, generated, rows, classes, effort=0 if hopeless else effort)
    agreement = dict.fromkeys(best.equal, 1.0) | {(pair.i, pair.j): pair.agreement for pair in best.leftover}
    pairs = tuple(sorted(agreement))
    stopped = not hopeless and (equality.stopped or best.stopped)
    return Pairing(pairs, tuple(agreement[pair] for pair in pairs), best.matched, stopped)


def _in_place(golden: Side, generated: Side) -> Equality | None:
    """The full match of two sides whose rows come in the same order, which is common and cheap to see."""
    places = np.arange(len(golden.codes[0]))
    equality = equal_pairing(golden, generated, Aligned(places, places), effort=0)
    return equality if equality.pairs is not None else None


def _may_all_pair(golden: Side, generated: Side, rows: RowClasses, classes: list[ColumnClass]) -> bool:
    """Whether every golden column that its class leaves over may find a partner among the generated ones left over."""
    height = len(golden.codes[0])
    left_over = [j for group in classes if len(group.generated) > len(group.golden) for j in group.generated]
    telling = [j for j in left_over if is_telling(generated.codes[j])]

    def may_pair(i: int) -> bool:
        if any(golden.names[i] == generated.names[j] for j in left_over):
            return True
        return is_telling(golden.codes[i]) and any(
            may_agree(golden.codes[i], generated.codes[j])
            and rows.joined(golden.codes[i], generated.codes[j]).matched() * 2 > height
            for j in telling
        )

    surplus = ((group, len(group.golden) - len(group.generated)) for group in classes)
    return all(sum(map(may_pair, group.golden)) >= over for group, over in surplus if over > 0)
