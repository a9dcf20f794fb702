"""The comparator as one would write it with no regard for speed: every pairing of columns, every row counted.

For small results of plain cells (None, bool, int, text that is only text). It shares no code with the comparator.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

Pair = tuple[int, int]
Columns = Sequence[Sequence[Any]]


def reference_accuracy(
    golden: Columns,
    generated: Columns,
    names: Sequence[str],
    other_names: Sequence[str],
    groups: Sequence[int],
    level: str,
) -> float:
    """The accuracy of `generated` columns against `golden` ones, at `exact` or `values`.

    `groups` says of each row position which group it is in: rows may answer each other inside a group only.
    """
    if level == "exact" and len(golden) != len(generated):
        return 0.0
    golden, generated = ([[(type(c).__name__, c) for c in column] for column in side] for side in (golden, generated))
    best = -1
    for equal in _equal_pairings(golden, generated, groups):
        pairs = equal + _leftovers(golden, generated, names, other_names, groups, equal)
        if len(pairs) == len(golden):
            best = max(best, _matched(golden, generated, groups, pairs))
    return max(best, 0) / len(groups)


def _rows(columns: Columns, groups: Sequence[int], chosen: Sequence[int]) -> list[tuple[Any, ...]]:
    return [(group, *(columns[i][row] for i in chosen)) for row, group in enumerate(groups)]


def _matched(golden: Columns, generated: Columns, groups: Sequence[int], pairs: Sequence[Pair]) -> int:
    left = Counter(_rows(golden, groups, [i for i, _ in pairs]))
    right = Counter(_rows(generated, groups, [j for _, j in pairs]))
    return sum((left & right).values())


def _equal_pairings(golden: Columns, generated: Columns, groups: Sequence[int]) -> Iterator[list[Pair]]:
    """Every way to pair as many columns as possible with one that holds the same values in every group."""
    classes: dict[Any, tuple[list[int], list[int]]] = {}
    for side, columns in enumerate((golden, generated)):
        for index, column in enumerate(columns):
            values = frozenset(Counter(zip(groups, column, strict=True)).items())
            classes.setdefault(values, ([], []))[side].append(index)
    choices = []
    for left, right in classes.values():
        if len(left) <= len(right):
            choices.append([list(zip(left, some, strict=True)) for some in itertools.permutations(right, len(left))])
        else:
            choices.append([list(zip(some, right, strict=True)) for some in itertools.permutations(left, len(right))])
    for combination in itertools.product(*choices):
        yield [pair for pairs in combination for pair in pairs]


def _leftovers(
    golden: Columns,
    generated: Columns,
    names: Sequence[str],
    other_names: Sequence[str],
    groups: Sequence[int],
    equal: list[Pair],
) -> list[Pair]:
    """First the left-over columns of one name, then those that agree on more than half the rows."""
    taken: list[Pair] = []

    def free() -> list[Pair]:
        used = equal + taken
        rest = [i for i in range(len(golden)) if i not in {i for i, _ in used}]
        other = [j for j in range(len(generated)) if j not in {j for _, j in used}]
        return list(itertools.product(rest, other))

    def agreement(pair: Pair) -> int:
        return _matched(golden, generated, groups, [*equal, pair])

    def telling(column: Sequence[Any]) -> bool:
        return max(Counter(column).values()) * 2 <= len(column)

    while offers := [(i, j) for i, j in free() if names[i] == other_names[j]]:
        taken.append(max(offers, key=lambda pair: (agreement(pair), -pair[0], -pair[1])))
    while offers := [
        (i, j)
        for i, j in free()
        if telling(golden[i]) and telling(generated[j]) and agreement((i, j)) * 2 > len(groups)
    ]:
        taken.append(max(offers, key=lambda pair: (agreement(pair), -pair[0], -pair[1])))
    return taken
