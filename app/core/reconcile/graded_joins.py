"""The joins a statement writes, each graded by what the semantic model declares and what probes measured."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.core.reconcile.cardinality import cardinality
from app.core.reconcile.dropped_rows import dropped_rows
from app.core.reconcile.fold import fold
from app.core.reconcile.part import Part, Verdict, grade
from app.core.reconcile.probe import Probe, probe
from app.core.reconcile.row_files import Malformed, entries
from app.core.reconcile.same_table import same_table
from app.core.reconcile.shapes import Join, JoinProbes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.core.reconcile.row_files import RowFiles


@dataclass(frozen=True, slots=True)
class GradedJoin:
    """A join: its own part, the parts beside it, and what a fan-out grade has to know of it.

    `endpoints` are None where the entry could not be read; it still stands among the joins, since a join nobody can
    read is one nobody confirmed.
    """

    part: Part
    beside: tuple[Part, ...]
    id: str | None
    endpoints: tuple[str, str] | None
    one_row_on_right: bool


def graded_joins(probes: JoinProbes | None, files: RowFiles) -> tuple[GradedJoin, ...]:
    """The joins of join-probes.json in their order; none where that file cannot be used.

    Two joins of one pair of tables are two parts; the second is `#2`. Rule: docs/reconcile.md, "Parts".
    """
    if probes is None:
        return ()
    model = probes.unique_by_model if isinstance(probes.unique_by_model, dict) else {}
    unique = frozenset(fold(column) for column, declared in model.items() if declared is True)
    answers = _overlap_files(files)
    joins = entries(Join, probes.joins)
    # An id that two joins share leads to the results of one of them, and nobody can say of which.
    ids = Counter(fold(join.id) for join in joins if isinstance(join, Join) and join.id)
    seen: dict[str, int] = {}
    found: list[GradedJoin] = []
    for join in joins:
        label = _label(join)
        seen[fold(label)] = nth = seen.get(fold(label), 0) + 1
        numbered = label if nth == 1 or label == "*" else f"{label}#{nth}"
        if isinstance(join, Malformed) or label == "*":
            found.append(_unreadable(numbered))
        else:
            own = join if join.id and ids[fold(join.id)] == 1 else join.model_copy(update={"id": _NO_ID})
            found.append(_graded(own, numbered, files, answers, unique))
    return tuple(found)


def _label(join: Join | Malformed) -> str:
    raw = join.raw.get("endpoints") if isinstance(join, Malformed) and isinstance(join.raw, dict) else None
    ends = raw if isinstance(join, Malformed) else join.endpoints
    if not isinstance(ends, list) or len(ends) != 2 or not all(isinstance(end, str) and end for end in ends):
        return "*"
    # Sorted in one case, so that a table written `Orders` in one statement does not turn the pair around.
    return "-".join(sorted(ends, key=lambda end: (fold(end), end)))


def _unreadable(label: str) -> GradedJoin:
    evidence = {"file": "join-probes.json", "problem": "holds a join of another shape", "one_row_on_right": False}
    note = "join-probes.json holds this join in another shape, so it was not checked"
    return GradedJoin(grade(f"join:{label}", "unresolved", note, evidence=evidence), (), None, None, False)


def _overlap_files(files: RowFiles) -> Mapping[str, set[int]]:
    """Which overlap probes left a file, planned or not, under the folded id of their join."""
    found: dict[str, set[int]] = {}
    for name in files.names():
        if matched := _OVERLAP.fullmatch(name):
            found.setdefault(matched["id"], set()).add(int(matched["number"]))
    return found


_NO_ID = "\0"  # the beginning of no file's name
_OVERLAP = re.compile(r"(?P<id>.+)\.overlap\.(?P<number>[0-9]{1,4})\.csv", re.DOTALL)


def _graded(
    join: Join, label: str, files: RowFiles, answers: Mapping[str, set[int]], unique: frozenset[str]
) -> GradedJoin:
    planned = len((join.probes.overlap if join.probes else None) or ())
    numbers = sorted({*range(planned), *answers.get(fold(join.id or ""), ())})
    overlaps = [probe(files, f"{join.id}.overlap.{i}.csv", "matched") for i in numbers]
    one_row = _one_row_on_right(join, unique)
    beside = (*_join_key(label, overlaps), *cardinality(join, label, files, unique), *dropped_rows(join, label, files))
    left, right = join.endpoints
    return GradedJoin(_own_part(join, label, overlaps, one_row=one_row), beside, join.id, (left, right), one_row)


def _own_part(join: Join, label: str, overlaps: list[Probe], *, one_row: bool) -> Part:
    verdict: Verdict
    found = _overlap(overlaps)
    match (join.status, found):
        case ("declared", _):
            verdict, note = "confirmed", "the join is on the key the semantic model declares"
        case ("wrong_key", _):
            verdict, note = "query_defect", "the join is on another key than the one the semantic model declares"
        case ("undeclared", True):
            verdict, note = "model_gap", "the keys meet in the data, and the semantic model declares no such join"
        case ("undeclared", False):
            verdict, note = "query_defect", "every probe answered, and the keys never meet in the data"
        case ("undeclared", None):
            verdict, note = "unresolved", _unprobed(join, overlaps)
        case ("undeclarable" | "undetermined", _):
            verdict = "unresolved"
            note = join.not_probed_because or "the join could not be resolved to two declared tables"
        case _:
            verdict, note = "unresolved", "the check gave the join no status that is known"
    evidence = {
        "tables": list(join.endpoints),
        "one_row_on_right": one_row,
        "pairs": join.pairs,
        "predicate": join.predicate,
        "declared_pairs": join.declared_pairs,
        "overlap": [_matched(answer) for answer in overlaps],
    }
    return grade(f"join:{label}", verdict, note, gap="relationship", evidence=evidence)


def _unprobed(join: Join, overlaps: list[Probe]) -> str:
    failed = next((answer.problem for answer in overlaps if answer.problem), None)
    if failed:
        return f"not every overlap probe answered: a result {failed}"
    return join.not_probed_because or "no probe measured whether the keys meet"


def _join_key(label: str, overlaps: list[Probe]) -> list[Part]:
    if not overlaps:
        return []
    evidence = {"overlap": [_matched(answer) for answer in overlaps]}
    part = f"join_key:{label}"
    match _overlap(overlaps):
        case True:
            return [grade(part, "confirmed", "keys from one side were found on the other", evidence=evidence)]
        case False:
            return [grade(part, "query_defect", "no key from either side was found on the other", evidence=evidence)]
        case None:
            return [grade(part, "unresolved", "not every overlap probe answered", evidence=evidence)]


def _overlap(overlaps: list[Probe]) -> bool | None:
    """Whether keys meet: True once one probe found some, False when all answered and none did, None when not known."""
    matched = [_matched(answer) for answer in overlaps]
    if any(matched):
        return True
    return False if matched and None not in matched else None


def _matched(answer: Probe) -> int | None:
    return 0 if answer.found_nothing else answer.count("matched")


def _one_row_on_right(join: Join, unique: frozenset[str]) -> bool:
    """Whether each row on the left meets one row on the right at most: by a declared relationship the statement wrote,
    or because a column it equates is unique there. A join of a table with itself has no side of its own to ask of."""
    left, right = join.endpoints
    if same_table(left, right):
        return False
    for declared in join.declared_cardinality or ():
        if declared.matched is True and any(same_table(side, right) for side in declared.one_side or ()):
            return True
    written = (end for pair in join.pairs or () for end in pair if len(end) == 2)
    return any(same_table(table, right) and fold(f"{table}.{column}") in unique for table, column in written)
