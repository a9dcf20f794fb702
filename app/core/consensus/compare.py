"""Do N statements mean the same, and if not, where do they part?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.core.consensus.canonical import Canonical, Status, canonical
from app.core.consensus.facts import Difference, differences
from app.core.consensus.schema import SchemaInput, read_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

SECONDS = 0.5
"""Of processor time, for one statement; an ordinary one takes a few milliseconds."""


@dataclass(frozen=True)
class Candidate:
    """One agent's answer. The lists say which data it used, and which it missed, by the agent's own words."""

    sql: str
    in_data_model: tuple[str, ...] = ()
    not_in_data_model: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """How one candidate was read. `reason` says why it is invalid or undetermined; `facts` are its facts by axis."""

    index: int
    status: Status
    reason: str | None
    facts: tuple[tuple[str, tuple[str, ...]], ...]
    nodes: int


@dataclass(frozen=True)
class Part:
    """Where two equivalence classes part; `left` and `right` are the indices of their cleanest members."""

    left: int
    right: int
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Comparison:
    """The candidates in equivalence classes, largest first; invalid candidates are in none.

    `parts` has one entry for each two classes. `notes` says what differs without changing a row.
    """

    candidates: tuple[Candidate, ...]
    readings: tuple[Reading, ...]
    classes: tuple[tuple[int, ...], ...]
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def equivalent(self) -> bool:
        """Whether all candidates, at least one, are valid and mean the same."""
        return len(self.classes) == 1 and len(self.classes[0]) == len(self.candidates)


def compare(
    candidates: Sequence[Candidate | str],
    *,
    dialect: str | None = None,
    schema: SchemaInput | None = None,
    ordered: bool = False,
    seconds: float = SECONDS,
) -> Comparison:
    """Puts the candidates that provably mean the same into one class, and says where the classes part.

    Two statements are called equivalent only if they have the same bag of rows, up to one order of their columns, on
    every database that fits the schema. Unsure is not equivalent: the axis is then `undetermined`.

    Arguments: `candidates`, in any order; `dialect`, a sqlglot name; `schema`, CREATE TABLE text or `{table: {column:
    type}}`; `ordered`, whether the order of rows counts; `seconds`, the time for one statement.
    Raises `SchemaRefused` for a schema that cannot be read; nothing for whatever a candidate holds.

    >>> found = compare(["SELECT a FROM t WHERE b=1 OR b=2", "SELECT a FROM t WHERE b IN (2, 1)", "SELECT a FROM t"])
    >>> found.classes
    ((0, 1), (2,))
    >>> found.parts[0].differences
    (Difference(axis='filters', left=('t.b IN (1, 2)',), right=()),)
    """
    given = tuple(Candidate(c) if isinstance(c, str) else c for c in candidates)
    known = read_schema(schema, dialect)
    seen: dict[str, Canonical] = {}
    for candidate in given:
        if candidate.sql not in seen:
            seen[candidate.sql] = canonical(candidate.sql, known, dialect=dialect, ordered=ordered, seconds=seconds)
    read = [seen[c.sql] for c in given]
    classes = _classes(read)
    heads = [cleanest(given, read, c) for c in classes]
    parts = tuple(
        Part(a, b, _parted(read[a], read[b], ordered=ordered))
        for i, a in enumerate(heads)
        for b in heads[i + 1 :]
    )  # fmt: skip
    readings = tuple(
        Reading(i, c.status, c.reason, tuple(sorted(c.facts.listed().items())), c.nodes) for i, c in enumerate(read)
    )
    return Comparison(given, readings, classes, parts, _notes(read, classes))


def _classes(read: Sequence[Canonical]) -> tuple[tuple[int, ...], ...]:
    by_key: dict[str, list[int]] = {}
    for index, item in enumerate(read):
        if item.key is not None:
            by_key.setdefault(item.key, []).append(index)
    return tuple(sorted(map(tuple, by_key.values()), key=lambda c: (-len(c), c)))


def cleanest(candidates: Sequence[Candidate], read: Sequence[Canonical | Reading], members: Sequence[int]) -> int:
    """The member with the fewest nodes, then the shortest text, then the first."""
    return min(members, key=lambda i: (read[i].nodes, len(candidates[i].sql), i))


def _parted(left: Canonical, right: Canonical, *, ordered: bool) -> tuple[Difference, ...]:
    """The differences between two classes; never none, since they are two."""
    found = differences(left.facts, right.facts)
    if not ordered:
        counted = tuple(
            d for d in found if d.axis != "ordering" or left.facts.by_axis["limit"] or right.facts.by_axis["limit"]
        )
        unsure = not counted
    else:
        unsure = not found
    if unsure or "undetermined" in (left.status, right.status):
        reasons = tuple((c.reason,) if c.reason is not None else () for c in (left, right))
        found = (*found, Difference("undetermined", *reasons))
    return found


def _notes(read: Sequence[Canonical], classes: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """What differs among the members of one class without changing a row: order, and tables that add nothing."""
    notes = []
    for members in classes:
        first = read[members[0]]
        for other in members[1:]:
            if read[other].tables != first.tables:
                extra = _extra(first.tables, read[other].tables)
                notes.append(f"{members[0]} and {other} read different tables, with the same rows: {extra}")
            if read[other].facts.by_axis["ordering"] != first.facts.by_axis["ordering"]:
                notes.append(f"{members[0]} and {other} order their rows differently")
    return tuple(notes)


def _extra(left: Sequence[str], right: Sequence[str]) -> str:
    only = sorted(set(left) ^ set(right)) or sorted(left if len(left) > len(right) else right)
    return ", ".join(only)
