"""What one check found. Verdicts, counts and words of closed sets: nothing that stood in the evidence."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.grading.evidence import Kind

Status = Literal["scored", "unscored", "error", "timed_out", "given"]
Score = Annotated[Decimal, Field(ge=0, le=1, json_schema_extra={"type": "number"})]


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ResultSetSummary(_Frozen):
    """Counts of rows and columns; null where a side was not asked for."""

    match: Literal["exact", "values", "shape", "bounded", "nonempty"]
    order_sensitive: bool
    golden_rows: int | None
    generated_rows: int | None
    paired_columns: int
    unmatched_golden_columns: int
    unmatched_generated_columns: int
    notes: int


class NumberSummary(_Frozen):
    """How the two numbers met."""

    result: Literal["match", "mismatch", "missing_expected", "missing_actual"]


class GradeCounts(_Frozen):
    """How many parts have each grade."""

    confirmed: int = 0
    model_gap: int = 0
    query_defect: int = 0
    unresolved: int = 0
    noted: int = 0


class FamilyCounts(GradeCounts):
    """The same, of one family of parts."""

    family: Literal[
        "runs",
        "scope",
        "join",
        "join_key",
        "cardinality",
        "dropped_rows",
        "fan_out",
        "aggregation",
        "default_filter",
        "metric",
        "literal",
        "values_declared",
        "receipt",
        "question_fit",
        "predicates",
        "date_window",
        "other",
    ]


class StatementSummary(_Frozen):
    """The weakest grade, and how many parts have each."""

    verdict: Literal["confirmed", "model_gap", "query_defect", "unresolved", "noted"]
    counts: GradeCounts
    families: tuple[FamilyCounts, ...]


class AxisCount(_Frozen):
    """On how many pairs of classes the candidates part there."""

    axis: Literal[
        "tables",
        "joins",
        "filters",
        "aggregates",
        "grouping",
        "distinct",
        "having",
        "windows",
        "set_operations",
        "outputs",
        "ordering",
        "limit",
        "undetermined",
    ]
    count: int


class ConsensusSummary(_Frozen):
    """How many candidates there are, into how many classes they fall, and where the classes part."""

    outcome: Literal["consensus", "disagreement"]
    candidates: int
    classes: int
    largest_class: int
    invalid: int
    differences: tuple[AxisCount, ...]


Summary = ResultSetSummary | NumberSummary | StatementSummary | ConsensusSummary


class Check(_Frozen):
    """One check of a row.

    `score` is 0..1, None where there was nothing to score. `status`: `scored`; `unscored`, there was nothing to
    judge; `error`, judging was not possible; `timed_out`, it was cut off; `given`, the sender's own.
    """

    name: str
    kind: Kind | Literal["own"]
    verdict: Literal["pass", "fail"]
    score: Score | None
    status: Status
    reason: Annotated[str, Field(max_length=2000)] | None
    summary: Summary | None


def failed(name: str, kind: Kind, status: Literal["unscored", "error", "timed_out"], reason: str) -> Check:
    """The check that could not be made, which is never a pass.

    >>> failed("evidence/0", "number", "timed_out", "it took too long").verdict
    'fail'
    """
    return Check(name=name, kind=kind, verdict="fail", score=None, status=status, reason=reason, summary=None)
