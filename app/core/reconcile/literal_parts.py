"""Whether the values a statement filters by are in the data, and whether the semantic model lists them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from app.core.reconcile.part import Part, Verdict, grade
from app.core.reconcile.row_files import Malformed, entries
from app.core.reconcile.shapes import JudgedColumn, JudgedLiteral

if TYPE_CHECKING:
    from app.core.reconcile.row_evidence import RowEvidence

_GRADES: Final[dict[str, Verdict]] = {
    "confirmed": "confirmed",
    "model_gap": "model_gap",
    "query_defect": "query_defect",
    "unresolved": "unresolved",
}
_CARRIED = ("table", "column", "literal", "op", "tier", "observed", "near_miss", "rows_with_value", "declared")


def literal_parts(row: RowEvidence) -> list[Part]:
    """`literal` of each judged value and `values_declared` of each column; none where filter-values.judge.json cannot
    be used, which is an open part of its own."""
    judge = row.judge.value
    if judge is None:
        return []
    literals = [_literal(judged) for judged in entries(JudgedLiteral, judge.literals)]
    columns = judge.columns or {}
    return [
        *literals,
        *(_declared(k, c) for k, c in zip(columns, entries(JudgedColumn, [*columns.values()]), strict=True)),
    ]


def _literal(judged: JudgedLiteral | Malformed) -> Part:
    if isinstance(judged, Malformed):
        evidence = {"file": "filter-values.judge.json", "problem": "holds a value of another shape"}
        note = "filter-values.judge.json holds this value in another shape, so it was not checked"
        return grade("literal:*", "unresolved", note, evidence=evidence)
    value = judged.literal if isinstance(judged.literal, str) else json.dumps(judged.literal)
    part = f"literal:{judged.table}.{judged.column}={value}"
    evidence = {key: getattr(judged, key) for key in _CARRIED}
    verdict = _GRADES.get(judged.verdict or "")
    if verdict is None:
        return grade(part, "unresolved", "the judge gave the value no grade that is known", evidence=evidence)
    return grade(part, verdict, judged.note or f"the judge's grade: {verdict}", gap="description", evidence=evidence)


def _declared(key: str, column: JudgedColumn | Malformed) -> Part:
    part = f"values_declared:{key}"
    evidence: dict[str, object]
    if isinstance(column, Malformed):
        evidence = {"file": "filter-values.judge.json", "problem": "holds a column of another shape"}
        note = "filter-values.judge.json holds this column in another shape, so it was not checked"
        return grade(part, "unresolved", note, evidence=evidence)
    evidence = {
        "declared": column.declared,
        "distinct": column.distinct,
        "observed_count": column.observed_count,
    }
    match (column.declared, column.sensitive, column.distinct):
        case ("populated", _, _):
            return grade(part, "confirmed", "the semantic model lists the column's values", evidence=evidence)
        case ("absent" | "empty", True, _):
            note = "the column is sensitive, so its values are neither looked at nor listed"
            return grade(part, "noted", note, evidence=evidence)
        case ("absent" | "empty", _, "listed"):
            note = f"the column holds {_few(column)} and the semantic model lists none"
            if column.declared == "empty":
                note = f"the column holds {_few(column)} that the semantic model names a list for and nobody decoded"
            return grade(part, "model_gap", note, gap="description", evidence=evidence)
        case ("absent" | "empty", _, "overflow"):
            return grade(part, "noted", "the column holds too many values for a list", evidence=evidence)
        case ("absent" | "empty", _, "empty"):
            return grade(part, "noted", "the column holds no values", evidence=evidence)
        case _:
            note = "whether the column's values should be listed could not be measured"
            return grade(part, "unresolved", note, evidence=evidence)


def _few(column: JudgedColumn) -> str:
    return "few distinct values" if column.observed_count is None else f"{column.observed_count} distinct values"
