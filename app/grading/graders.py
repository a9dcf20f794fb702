"""One grader a kind: calls the core, and says what came of it in verdicts, counts and words of closed sets.

What the core answers may name columns, tables and parts; a stored row may not. So that nothing of the evidence can
slip through, no text of the core is passed on but the comparator's reason for not judging, which is made of its own
words; everything else is counted.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import get_args

from app.core.comparator import Bounds, ItemScore, ResultSet, compare_result_sets
from app.core.consensus import Candidate, SchemaRefused, round_of
from app.core.reconcile import Part, diff, ledger
from app.grading.check import (
    AxisCount,
    Check,
    ConsensusSummary,
    FamilyCounts,
    GradeCounts,
    NumberSummary,
    ResultSetSummary,
    StatementSummary,
    failed,
)
from app.grading.evidence import (
    CandidateStatement,
    ConsensusEvidence,
    Evidence,
    NumberEvidence,
    ResultSetEvidence,
    Rows,
    StatementEvidence,
)

FAMILIES = frozenset(get_args(FamilyCounts.model_fields["family"].annotation))


def grade_or_fail(item: Evidence, name: str) -> Check:
    """The check of one item of evidence, which is in error where the core has a defect or no memory is left."""
    try:
        return grade(item, name)
    # The one outermost guard. The message is left out, for it may quote a cell.
    except Exception as failure:  # noqa: BLE001
        return failed(name, item.kind, "error", f"grading failed ({type(failure).__name__})")


def grade(item: Evidence, name: str) -> Check:
    """The check of one item of evidence. Raises whatever the core does on a defect of its own.

    >>> item = NumberEvidence(kind="number", expected="$4.2M", actual=4_200_000)
    >>> check = grade(item, "evidence/0")
    >>> check.verdict, check.score
    ('pass', Decimal('1'))
    """
    match item:
        case ResultSetEvidence():
            return _result_set(item, name)
        case NumberEvidence():
            return _number(item, name)
        case StatementEvidence():
            return _statement(item, name)
        case ConsensusEvidence():
            return _consensus(item, name)


def _result_set(item: ResultSetEvidence, name: str) -> Check:
    if item.golden is None and item.match not in ("bounded", "nonempty"):
        return failed(name, item.kind, "error", f"the level {item.match} needs a golden result")
    try:
        bounds = Bounds(**item.bounds.model_dump()) if item.bounds is not None else None
    except ValueError as refused:  # its messages are its own words
        return failed(name, item.kind, "error", f"the bounds are refused: {refused}")
    score = compare_result_sets(
        _rows(item.golden),
        _rows(item.generated),
        match=item.match,
        golden_sql=item.golden_sql,
        bounds=bounds,
        dialect=item.dialect,
    )
    summary = ResultSetSummary(
        match=item.match,
        order_sensitive=score.order_sensitive,
        golden_rows=score.golden_row_count,
        generated_rows=score.generated_row_count,
        paired_columns=len(score.column_pairs),
        unmatched_golden_columns=len(score.unmatched_golden_columns),
        unmatched_generated_columns=len(score.unmatched_generated_columns),
        notes=len(score.notes),
    )
    return Check(
        name=name,
        kind=item.kind,
        verdict="pass" if score.passed else "fail",
        score=None if score.accuracy is None else Decimal(repr(score.accuracy)),
        status=score.status,
        reason=None if score.passed else _why_not(score, summary),
        summary=summary,
    )


def _rows(side: Rows | None) -> ResultSet:
    return ResultSet((), ()) if side is None else ResultSet(side.columns, side.rows)


def _why_not(score: ItemScore, summary: ResultSetSummary) -> str:
    if score.status != "scored":
        return score.reason
    if summary.match == "bounded":
        return "the result is out of its bounds"
    if summary.match == "nonempty":
        return "the result has no row"
    if summary.golden_rows != summary.generated_rows:
        return f"the row counts differ: {summary.golden_rows} golden, {summary.generated_rows} generated"
    if summary.match == "shape":
        return "the columns differ in number or in type"
    if summary.unmatched_golden_columns:
        return f"{summary.unmatched_golden_columns} golden columns have no counterpart"
    if summary.unmatched_generated_columns and summary.match == "exact":
        return f"{summary.unmatched_generated_columns} generated columns are too many"
    return "not every golden row is matched"


def _number(item: NumberEvidence, name: str) -> Check:
    try:
        if item.tolerance is None:
            found = diff(item.expected, item.actual)
        else:
            found = diff(item.expected, item.actual, tolerance=item.tolerance)
    except ValueError:
        return failed(name, item.kind, "error", "the tolerance is not a share: a fraction, or a percentage such as 1%")
    return Check(
        name=name,
        kind=item.kind,
        verdict="pass" if found.match else "fail",
        score=Decimal(1 if found.match else 0),
        status="scored",
        reason=None if found.match else found.reason,
        summary=NumberSummary(result=found.reason),
    )


def _statement(item: StatementEvidence, name: str) -> Check:
    graded = ledger(item.files, with_claims=item.with_claims)
    counts = GradeCounts(**graded.counts)
    of_grade = sum(graded.counts.values()) - counts.noted
    passed = graded.verdict == "confirmed"
    return Check(
        name=name,
        kind=item.kind,
        verdict="pass" if passed else "fail",
        score=Decimal(repr(counts.confirmed / of_grade)) if of_grade else None,
        status="scored" if of_grade else "unscored",
        reason=None if passed else f"the weakest part is {graded.verdict}",
        summary=StatementSummary(verdict=graded.verdict, counts=counts, families=_families(graded.parts)),
    )


def _families(parts: tuple[Part, ...]) -> tuple[FamilyCounts, ...]:
    found: dict[str, Counter[str]] = {}
    for part in parts:
        word = part.part.partition(":")[0]
        found.setdefault(word if word in FAMILIES else "other", Counter())[part.verdict] += 1
    return tuple(FamilyCounts.model_validate({"family": family, **counts}) for family, counts in found.items())


def _consensus(item: ConsensusEvidence, name: str) -> Check:
    candidates = to_candidates(item.candidates)
    try:
        decision = round_of(candidates, dialect=item.dialect, schema=item.tables)
    except SchemaRefused:
        return failed(name, item.kind, "error", "the schema could not be read")
    agreed = decision.outcome == "consensus"
    largest = max(map(len, decision.classes), default=0)
    parted = Counter(dispute.axis for dispute in decision.disputes)
    summary = ConsensusSummary(
        outcome="consensus" if agreed else "disagreement",
        candidates=len(candidates),
        classes=len(decision.classes),
        largest_class=largest,
        invalid=len(decision.invalid),
        differences=tuple(AxisCount(axis=axis, count=count) for axis, count in parted.items()),
    )
    return Check(
        name=name,
        kind=item.kind,
        verdict="pass" if agreed else "fail",
        score=Decimal(repr(largest / len(candidates))),
        status="scored",
        reason=None if agreed else f"{largest} of {len(candidates)} candidates mean the same",
        summary=summary,
    )


def to_candidates(sent: list[str | CandidateStatement]) -> list[Candidate]:
    """The candidates as the core takes them."""
    return [
        Candidate(one)
        if isinstance(one, str)
        else Candidate(one.sql, tuple(one.in_data_model), tuple(one.not_in_data_model))
        for one in sent
    ]
