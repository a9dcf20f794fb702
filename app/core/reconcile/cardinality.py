"""Whether a join can multiply rows: is one of its sides unique?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.core.reconcile.fold import fold
from app.core.reconcile.part import Part, grade
from app.core.reconcile.probe import probe
from app.core.reconcile.same_table import same_table

if TYPE_CHECKING:
    from app.core.reconcile.row_files import RowFiles
    from app.core.reconcile.shapes import Join


@dataclass(frozen=True, slots=True)
class _Side:
    """The columns of one side, as `table.column`; `unique` is None where it is not known."""

    columns: tuple[str, ...]
    unique: bool | None

    @property
    def name(self) -> str:
        return ", ".join(self.columns)


def cardinality(join: Join, label: str, files: RowFiles, unique: frozenset[str]) -> list[Part]:
    """The `cardinality` part of a join; none where nobody planned to measure it.

    Arguments: `unique`, the folded `table.column` names the semantic model declares unique.
    """
    planned = list(dict.fromkeys((join.probes.cardinality if join.probes else None) or ()))
    if not planned:
        return []
    sides = [_Side(columns, _unique(columns, files, unique)) for columns in _sides(join, planned)]
    evidence: dict[str, object] = {"sides": {side.name: side.unique for side in sides}}
    part = f"cardinality:{label}"
    if len(sides) != 2 or any(side.unique is None for side in sides):
        return [grade(part, "unresolved", "whether a side is unique could not be measured", evidence=evidence)]
    one = next((side for side in sides if side.unique), None)
    if one is None:
        return [grade(part, "query_defect", "both sides repeat, so the join multiplies rows", evidence=evidence)]
    evidence["one_side"] = one.name
    return [grade(part, "confirmed", f"{one.name} is unique, so the join brings in one row of it", evidence=evidence)]


def _sides(join: Join, planned: list[str]) -> list[tuple[str, ...]]:
    """The columns on each side, from the pairs the predicate equates, else from the two columns planned."""
    left, right = join.endpoints
    ends = [end for pair in join.pairs or () for end in pair]
    if ends and all(len(pair) == 2 for pair in join.pairs or ()) and all(len(end) == 2 for end in ends):
        if same_table(left, right):
            found = [[pair[side] for pair in join.pairs or ()] for side in (0, 1)]
        else:
            found = [[end for end in ends if same_table(end[0], side)] for side in (left, right)]
        if all(found) and sum(map(len, found)) == len(ends):
            named = [tuple(dict.fromkeys(f"{table}.{column}" for table, column in side)) for side in found]
            return sorted(named, key=lambda columns: [fold(c) for c in columns])
    return [(column,) for column in sorted(planned, key=fold)] if len(planned) == 2 else []


def _unique(columns: tuple[str, ...], files: RowFiles, unique: frozenset[str]) -> bool | None:
    """A side of several columns is unique when one of them is; when none is, they still may be together, which no probe
    measured."""
    known = [True if fold(column) in unique else _measured(files, column) for column in columns]
    if any(known):
        return True
    return False if len(known) == 1 and known[0] is False else None


def _measured(files: RowFiles, column: str) -> bool | None:
    answer = probe(files, f"cardinality.{column}.csv", "total", "distinct_count", "null_count")
    total, distinct, nulls = (answer.count(header) for header in ("total", "distinct_count", "null_count"))
    if total is None or distinct is None or nulls is None or distinct + nulls > total:
        return None
    return distinct == total - nulls
