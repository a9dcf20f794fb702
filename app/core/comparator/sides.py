"""The two sides of a comparison as the pairing sees them: folded names and coded columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from app.core.comparator.rows import Codes, RowClasses

Pairs = tuple[tuple[int, int], ...]
"""Columns that answer each other, by index: (golden, generated)."""


@dataclass(frozen=True, eq=False)
class Side:
    """The columns of one side: `names` folded, `codes` one array a column, each as long as the result."""

    names: tuple[str, ...]
    codes: tuple[Codes, ...]

    @cached_property
    def variety(self) -> tuple[int, ...]:
        """How many different values each column holds."""
        return tuple(1 + int(np.count_nonzero(np.diff(np.sort(codes)))) for codes in self.codes)

    @cached_property
    def vectors(self) -> tuple[int, ...]:
        """A number for each column, the same for columns that are cell for cell identical."""
        seen: dict[bytes, int] = {}
        return tuple(seen.setdefault(codes.tobytes(), len(seen)) for codes in self.codes)


@dataclass(frozen=True, slots=True)
class ColumnClass:
    """Columns, by index, that hold the same values in every class of rows; any may answer any, as vectors."""

    golden: tuple[int, ...]
    generated: tuple[int, ...]


def column_classes(
    golden: Side, generated: Side, rows: RowClasses, open_golden: tuple[int, ...], open_generated: tuple[int, ...]
) -> list[ColumnClass]:
    """The open columns of both sides in classes, in the order in which the golden side shows them."""
    found: dict[bytes, tuple[list[int], list[int]]] = {}
    for i in open_golden:
        found.setdefault(rows.signature(golden.codes[i], "golden"), ([], []))[0].append(i)
    for j in open_generated:
        found.setdefault(rows.signature(generated.codes[j], "generated"), ([], []))[1].append(j)
    return [ColumnClass(tuple(left), tuple(right)) for left, right in found.values()]


def told_apart(golden: Side, generated: Side, rows: RowClasses, group: ColumnClass) -> RowClasses:
    """`rows` by what the columns of a class hold together, whichever answers which."""
    if len(group.golden) != len(group.generated):
        return rows  # some column of it stays over, and nobody knows yet which
    left = np.sort([golden.codes[i] for i in group.golden], axis=0)
    right = np.sort([generated.codes[j] for j in group.generated], axis=0)
    for one, other in zip(left, right, strict=True):
        rows = rows.joined(one, other)
    return rows


def by_name(golden: Side, generated: Side, group: ColumnClass) -> Pairs:
    """Pairs of a class whose columns may be paired anyhow: equal names first, then in order."""
    free = list(group.generated)
    pairs = []
    for i in group.golden:
        same = [j for j in free if generated.names[j] == golden.names[i]]
        if same:
            pairs.append((i, same[0]))
            free.remove(same[0])
    named = {i for i, _ in pairs}
    return (*pairs, *zip((i for i in group.golden if i not in named), free, strict=False))


def candidates(
    asking: Side, answering: Side, column: int, answers: tuple[int, ...], telling_names: frozenset[str] = frozenset()
) -> list[int]:
    """The `answers` worth trying for a `column` of the other side, equal names first: one of each vector, and of each
    of the `telling_names` that it bears."""
    ordered = sorted(answers, key=lambda answer: answering.names[answer] != asking.names[column])
    first_of: dict[tuple[int, str | None], int] = {}
    for answer in ordered:
        name = answering.names[answer] if answering.names[answer] in telling_names else None
        first_of.setdefault((answering.vectors[answer], name), answer)
    return list(first_of.values())
