"""Columns that no column equals, paired by best effort: one wrong cell costs its row and not the whole score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.core.comparator.rows import Codes, RowClasses
    from app.core.comparator.sides import Side


@dataclass(frozen=True, slots=True)
class LeftoverPair:
    """Golden column `i`, generated column `j`, and the share of rows on which they agree."""

    i: int
    j: int
    agreement: float


def pair_leftovers(
    golden: Side, generated: Side, rows: RowClasses, open_golden: tuple[int, ...], open_generated: tuple[int, ...]
) -> tuple[LeftoverPair, ...]:
    """Pairs among the open columns: first those of one folded name, then the best agreement above one half.

    `rows` are the row classes of the columns already paired, so that agreement is counted on rows that answer each
    other and not on values that merely occur. A column with one value on most rows agrees with any other such column
    by chance, and is paired by its name or not at all.
    """

    def offers(columns: Iterable[tuple[int, int]]) -> list[LeftoverPair]:
        agreed = ((i, j, rows.joined(golden.codes[i], generated.codes[j]).matched()) for i, j in columns)
        return [LeftoverPair(i, j, matched / len(golden.codes[i])) for i, j, matched in agreed]

    named = [(i, j) for i in open_golden for j in open_generated if golden.names[i] == generated.names[j]]
    pairs = _claimed(offers(named), ())
    free_golden = [i for i in open_golden if i not in {pair.i for pair in pairs} and is_telling(golden.codes[i])]
    free_generated = [
        j for j in open_generated if j not in {pair.j for pair in pairs} and is_telling(generated.codes[j])
    ]
    likely = [(i, j) for i in free_golden for j in free_generated if may_agree(golden.codes[i], generated.codes[j])]
    return _claimed([pair for pair in offers(likely) if pair.agreement > 0.5], pairs)


def may_agree(golden: Codes, generated: Codes) -> bool:
    """Whether two columns may agree on more than half the rows: a cheap look, for a row agrees at most where its value
    occurs in the other column at all.

    >>> may_agree(np.array([1, 2, 3]), np.array([2, 3, 4])), may_agree(np.array([1, 2]), np.array([2, 3]))
    (True, False)
    """
    occurs = np.zeros(1 + max(int(golden.max()), int(generated.max())), dtype=bool)
    occurs[generated] = True
    return int(occurs[golden].sum()) * 2 > len(golden)


def is_telling(codes: Codes) -> bool:
    """Whether no value stands on most rows.

    >>> is_telling(np.array([1, 1, 2])), is_telling(np.array([1, 1, 2, 2]))
    (False, True)
    """
    return int(np.bincount(codes).max()) * 2 <= len(codes)


def _claimed(offers: list[LeftoverPair], pairs: tuple[LeftoverPair, ...]) -> tuple[LeftoverPair, ...]:
    """`pairs` and the offers that may join them, the best first, each column once."""
    for offer in sorted(offers, key=lambda pair: (-pair.agreement, pair.i, pair.j)):
        if all(offer.i != pair.i and offer.j != pair.j for pair in pairs):
            pairs = (*pairs, offer)
    return pairs
