"""Which generated rows may answer which golden rows, as more columns are paired.

Both sides are told apart together. At first either all rows are alike (the golden statement orders nothing), or each
stands at its position, or it belongs to a group of ties. Every paired column tells further rows apart. Once nobody is
left alike, golden and generated rows are put side by side, and the rest is position by position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]
"""One column of one side: for each row the code of its cell; codes are shared by both sides and all columns."""

Ids = NDArray[np.int64]
SideName = Literal["golden", "generated"]


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """Row `i` of a side is in the class `golden[i]` or `generated[i]`; classes are shared by both sides."""

    golden: Ids
    generated: Ids

    def joined(self, golden: Codes, generated: Codes) -> RowClasses:
        """The classes told further apart by one pair of columns."""
        span = 1 + max(int(golden.max(initial=0)), int(generated.max(initial=0)))
        return row_classes(self.golden * span + golden, self.generated * span + generated)

    def matched(self) -> int:
        """How many golden rows find a generated row of their class, each row answering once."""
        counts = (np.bincount(side, minlength=self.count()) for side in (self.golden, self.generated))
        return int(np.minimum(*counts).sum())

    def count(self) -> int:
        """How many classes there are."""
        return 1 + max(int(self.golden.max(initial=-1)), int(self.generated.max(initial=-1)))

    def signature(self, codes: Codes, side: SideName) -> bytes:
        """What a column says of the classes, whatever the order of rows inside one: the same for equal columns only."""
        ids = self.golden if side == "golden" else self.generated
        if not ids.any():
            return np.sort(codes).tobytes()
        return np.sort(ids << 32 | codes).tobytes()


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """Golden row `golden[i]` can be answered by generated row `generated[i]` only; rows left out match nothing."""

    golden: Ids
    generated: Ids

    def joined(self, golden: Codes, generated: Codes) -> RowClasses:
        """Only the rows that this pair of columns agrees on as well."""
        same = golden[self.golden] == generated[self.generated]
        return self if same.all() else Aligned(self.golden[same], self.generated[same])

    def matched(self) -> int:
        """How many golden rows are answered."""
        return len(self.golden)

    def count(self) -> int:
        """How many classes there are."""
        return len(self.golden)

    def signature(self, codes: Codes, side: SideName) -> bytes:
        """The column itself, its rows put side by side with the other's."""
        return codes[self.golden if side == "golden" else self.generated].tobytes()


RowClasses = Alike | Aligned


def row_classes(golden: Ids, generated: Ids) -> RowClasses:
    """The classes of rows that share an id; `Aligned` where no class holds two rows of one side.

    >>> row_classes(np.array([7, 7, 9]), np.array([9, 7, 7])).matched()
    3
    >>> type(row_classes(np.array([1, 2]), np.array([2, 3]))).__name__
    'Aligned'
    """
    ids, count = dense_ids(np.concatenate((golden, generated)))
    left, right = ids[: len(golden)], ids[len(golden) :]
    # More rows than classes: some class must hold two of them, which saves the count.
    if count >= len(left) and max(np.bincount(left).max(initial=0), np.bincount(right).max(initial=0)) <= 1:
        at = np.full((2, count), -1, dtype=np.int64)
        at[0, left] = np.arange(len(left))
        at[1, right] = np.arange(len(right))
        both = at[:, (at >= 0).all(axis=0)]
        return Aligned(both[0], both[1])
    return Alike(left, right)


def dense_ids(values: Ids) -> tuple[Ids, int]:
    """`values` numbered from 0 in ascending order, equal ones alike, and how many different ones there are.

    >>> dense_ids(np.array([30, 10, 30]))[0].tolist()
    [1, 0, 1]
    """
    if not len(values):
        return values, 0
    low, high = int(values.min()), int(values.max())
    if high - low < 4 * len(values):  # a table beats a sort tenfold, as long as it stays in proportion
        present = np.zeros(high - low + 1, dtype=np.int64)
        present[values - low] = 1
        numbers = np.cumsum(present) - 1
        return numbers[values - low], int(numbers[-1]) + 1
    unique, inverse = np.unique(values, return_inverse=True)
    return inverse.astype(np.int64, copy=False), len(unique)
