"""Whether a total counts a row more than once, and whether it may be made at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.core.reconcile.fold import fold
from app.core.reconcile.join_index import JoinIndex
from app.core.reconcile.part import Part, grade
from app.core.reconcile.row_files import Malformed, entries
from app.core.reconcile.shapes import Aggregate, AggregateFinding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.core.reconcile.row_evidence import RowEvidence

_WRONG_TOTALS: Final = frozenset({"bad_aggregation", "semi_additive"})
_HARMLESS: Final = frozenset({"fan_out_invariant"})
_NAMED = 5


def aggregate_parts(row: RowEvidence) -> list[Part]:
    """`fan_out` and `aggregation` of each aggregate in statement-prepare.json; none where that cannot be used, which is
    an open part of its own."""
    prepare = row.prepare.value
    if prepare is None:
        return []
    found: list[Part] = []
    index = JoinIndex(row.joins)
    for aggregate in entries(Aggregate, prepare.aggregates):
        if isinstance(aggregate, Malformed):
            name = aggregate.text("aggregate") or "*"
            note = "statement-prepare.json holds this aggregate in another shape, so it was not checked"
            evidence = {"file": row.prepare.file, "problem": "holds an aggregate of another shape"}
            found += [grade(f"{part}:{name}", "unresolved", note, evidence=evidence) for part in _BOTH]
        else:
            risks = _risks(aggregate, prepare.findings)
            found += [_fan_out(aggregate, risks, row, index), _aggregation(aggregate, risks)]
    return found


_BOTH = ("fan_out", "aggregation")


def _risks(aggregate: Aggregate, statement_findings: Sequence[object] | None) -> frozenset[str] | None:
    """The risks found for this aggregate; None where neither it nor the statement carries a list of them."""
    if aggregate.findings is not None:
        return frozenset(finding.risk for finding in aggregate.findings)
    if statement_findings is None:
        return None
    listed = entries(AggregateFinding, statement_findings)
    if any(isinstance(finding, Malformed) for finding in listed):
        return None
    named = fold(aggregate.aggregate)
    return frozenset(f.risk for f in listed if isinstance(f, AggregateFinding) and fold(f.aggregate or "") == named)


def _fan_out(aggregate: Aggregate, risks: frozenset[str] | None, row: RowEvidence, index: JoinIndex) -> Part:
    """The dependency rule comes first: a pre-flight that knows no cardinality for a join calls the total over it clean,
    and that is blindness. So the grade stands on its joins, and says on which."""
    part = f"fan_out:{aggregate.aggregate}"
    stands_on, unlisted = index.dependencies(aggregate.joins)
    depends_on = [*dict.fromkeys([*(join.part.part for join in stands_on), *unlisted])]
    weak = [*dict.fromkeys([*(j.part.part for j in stands_on if j.part.verdict != "confirmed"), *unlisted])]
    evidence: dict[str, object] = {"status": aggregate.status, "risks": sorted(risks or ()), "reason": aggregate.reason}
    if weak:
        more = f" and {len(weak) - _NAMED} more" if len(weak) > _NAMED else ""
        note = f"it stands on a join that is not confirmed: {', '.join(weak[:_NAMED])}{more}"
        return grade(part, "unresolved", note, depends_on=depends_on, evidence=evidence)
    match aggregate.status:
        case "multiplied" if risks == _HARMLESS:
            note = "rows are multiplied, and this aggregate cannot move with them"
            return grade(part, "confirmed", note, depends_on=depends_on, evidence=evidence)
        case "multiplied":
            named = ", ".join(sorted(risks or ())) or "the pre-flight names no risk"
            note = f"rows are counted more than once: {named}"
            return grade(part, "query_defect", note, depends_on=depends_on, evidence=evidence)
        case "not_multiplied":
            return grade(part, "confirmed", "no row is counted twice", depends_on=depends_on, evidence=evidence)
        case "undetermined":
            return _undetermined(part, row, evidence)
        case _:
            note = "the pre-flight gave the aggregate no status that is known"
            return grade(part, "unresolved", note, depends_on=depends_on, evidence=evidence)


def _undetermined(part: str, row: RowEvidence, evidence: dict[str, object]) -> Part:
    """The pre-flight could not bind the aggregate to a table, as with `count(*)`. It is settled only where nothing in
    the whole statement can multiply a row."""
    probes = row.probes.value
    depends_on = [join.part.part for join in row.joins]
    if probes is not None and probes.unreadable is None:
        if probes.joins_written == 0 and not probes.joins and not probes.dropped:
            note = "the statement writes no join, so nothing can multiply a row"
            return grade(part, "confirmed", note, evidence=evidence)
        if (
            probes.dropped == 0
            and row.joins
            and probes.joins_written == len(row.joins)
            and all(join.part.verdict == "confirmed" and join.one_row_on_right for join in row.joins)
        ):
            note = "every join the statement writes brings in one row at most"
            return grade(part, "confirmed", note, depends_on=depends_on, evidence=evidence)
    reason = evidence["reason"] or "it gave no reason"
    note = f"the pre-flight could not bind this aggregate to one table: {reason}"
    return grade(part, "unresolved", note, depends_on=depends_on, evidence=evidence)


def _aggregation(aggregate: Aggregate, risks: frozenset[str] | None) -> Part:
    part = f"aggregation:{aggregate.aggregate}"
    if risks is None:
        return grade(part, "unresolved", "the pre-flight lists no findings for this aggregate, not even none")
    wrong = sorted(risks & _WRONG_TOTALS)
    if wrong:
        note = f"the column may not be totalled like this: {', '.join(wrong)}"
        return grade(part, "query_defect", note, evidence={"risks": wrong})
    return grade(part, "confirmed", "nothing speaks against totalling the column like this")
