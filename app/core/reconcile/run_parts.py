"""Whether the statement ran, and whether the semantic model lets it see what it names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.core.reconcile.part import Part, grade

if TYPE_CHECKING:
    from app.core.reconcile.row_evidence import RowEvidence

_DEFECTS: Final = frozenset({"column_not_found", "table_not_found", "syntax"})
_SCOPE: Final = frozenset({"table_scope", "column_scope"})


def run_parts(row: RowEvidence) -> list[Part]:
    """`runs`, and `scope` where the run settles it. The evidence is the record's kind and remediation: never the
    error's own text, which quotes the statement and the data."""
    record = row.run.value
    if record is None:
        evidence = {"file": row.run.file, "problem": row.run.problem}
        return [grade("runs", "unresolved", f"there is no run record: run.json {row.run.problem}", evidence=evidence)]
    evidence = {"kind": record.kind, "remediation": record.remediation}
    match (record.status, record.rule, record.kind):
        case ("ok", _, _) if record.ran:
            return [
                grade("runs", "confirmed", "the statement ran", evidence=evidence),
                grade("scope", "confirmed", "the semantic model exposes everything the statement names"),
            ]
        case ("refused", rule, _) if rule in _SCOPE:
            return [
                grade("runs", "unresolved", "the statement was refused before it ran; see scope", evidence=evidence),
                grade(
                    "scope",
                    "model_gap",
                    "the statement names a table or column that the semantic model does not expose",
                    gap="scope",
                    evidence={"rule": rule, "remediation": record.remediation},
                ),
            ]
        case ("refused", "select_star", _):
            note = "the statement selects * and was refused for it"
            return [grade("runs", "query_defect", note, evidence={"rule": record.rule, **evidence})]
        case ("failed", _, kind) if kind in _DEFECTS:
            return [grade("runs", "query_defect", f"the database rejected the statement: {kind}", evidence=evidence)]
        case _:
            why = record.kind or record.rule or record.status
            note = f"the statement did not run, so nothing that needs its run was checked: {why}"
            return [grade("runs", "unresolved", note, evidence={"rule": record.rule, **evidence})]
