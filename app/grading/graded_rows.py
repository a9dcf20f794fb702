"""Rows whose verdict is computed: graded where they are new, recorded like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from app.agreements import recording
from app.agreements.errors import DecisionConflict
from app.agreements.first_rows import Decision, first_checks
from app.agreements.schemas import Proposal, Record
from app.grading.document import Graded, graded
from app.grading.schemas import GradeEnvelope, GuardrailChecks, RecordEnvelope
from app.platform.problems import FieldError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from app.grading.check import Check
    from app.grading.session import SentEvidence, Session
    from app.platform.service import Service
    from app.platform.tokens import Principal

_COMPUTED = ("guardrail_verdict", "guardrail_confidence", "guardrail_checks")


class _Judged(NamedTuple):
    """A row, ready to be recorded."""

    record: Record
    differing: tuple[str, ...]
    """What the sender would call a difference in what is computed."""
    found: bool
    """Whether the decision was there already when it was looked for."""


async def grade(session: Session, sent: GradeEnvelope | RecordEnvelope, evidence: SentEvidence) -> Graded:
    """Grades what was sent, and records nothing."""
    return graded(sent, evidence.digest, await session.grade(sent.evidence, evidence.kinds))


async def record(  # noqa: PLR0913, PLR0917 - what `recording.record` takes, and the evidence
    rows: Sequence[Record | RecordEnvelope],
    evidence: Sequence[SentEvidence],
    session: Session,
    principal: Principal,
    service: Service,
    designated: AbstractSet[str],
    *,
    pointer: str | None = None,
) -> list[recording.Stored]:
    """Grades the rows that come with evidence, and records all of them; arguments and answer as `recording.record`.

    A decision that is there already is not graded again: the digest tells whether the evidence is the same.
    """
    recording.check_proposals(rows, principal, designated, pointer=pointer)
    kept: dict[int, tuple[Check, ...]] = {}
    places = recording.places(rows, pointer)
    for last_turn in (False, True):
        judged = await _judge(rows, evidence, session, service, kept)
        try:
            return await recording.record(
                [row.record for row in judged], principal, service, designated, pointer=pointer
            )
        except DecisionConflict as conflict:
            # A decision that was not there before was recorded by somebody else while it was graded here. A check
            # that was cut off here and not there would make a conflict of the same evidence, so look again, once.
            if last_turn or all(row.found for row in judged):
                raise _told(conflict, judged, places) from None
    raise AssertionError("the last turn returns or raises")


async def _judge(
    rows: Sequence[Record | RecordEnvelope],
    evidence: Sequence[SentEvidence],
    session: Session,
    service: Service,
    kept: dict[int, tuple[Check, ...]],
) -> list[_Judged]:
    """Every row with its verdict. `kept` holds the checks made so far, by the index of their evidence."""
    sent = [Decision(row.decision_id, row.project_id) for row in rows if isinstance(row, RecordEnvelope)]
    first = await first_checks(sent, service)
    judged: list[_Judged] = []
    for row in rows:
        if isinstance(row, Record):
            judged.append(_Judged(row, (), found=True))
            continue
        own = evidence[row.evidence]
        decision = Decision(row.decision_id, row.project_id)
        if decision in first:
            judged.append(_again(row, own, first[decision]))
        else:
            if row.evidence not in kept:
                kept[row.evidence] = await session.grade(row.evidence, own.kinds)
            judged.append(
                _Judged(_record(row, graded(row, own.digest, kept[row.evidence])), ("evidence",), found=False)
            )
    return judged


def _again(row: RecordEnvelope, evidence: SentEvidence, first: Any) -> _Judged:
    """A decision that is there already, with the checks that were made then where the evidence is the same."""
    before = _document(first)
    same = before is not None and before.evidence_digest == evidence.digest
    checks = tuple(check for check in before.checks if check.kind != "own") if before is not None and same else ()
    again = graded(row, evidence.digest, checks)
    differing: list[str] = []
    if before is None or not same:
        differing.append("evidence")
    else:
        own = [check for check in before.checks if check.kind == "own"]
        if own != [check for check in again.document.checks if check.kind == "own"]:
            differing.append("checks")
        if before.proposal != row.proposal:
            differing.append("proposal")
    return _Judged(_record(row, again), tuple(differing), found=True)


def _document(first: Any) -> GuardrailChecks | None:
    try:
        return GuardrailChecks.model_validate(first)
    except ValidationError:
        return None  # a row whose verdict was given


def _record(row: RecordEnvelope, came_of_it: Graded) -> Record:
    return Record(
        **{name: getattr(row, name) for name in Proposal.model_fields},
        guardrail_verdict=came_of_it.verdict.verdict,
        guardrail_confidence=came_of_it.verdict.confidence,
        guardrail_checks=came_of_it.document.model_dump(),
    )


def _told(conflict: DecisionConflict, judged: Sequence[_Judged], places: Sequence[str]) -> DecisionConflict:
    """The conflict in the words of the sender, who sent evidence where the row holds a verdict."""
    renamed = {
        f"{at}/{computed}": [f"{at}/{name}" for name in row.differing]
        for row, at in zip(judged, places, strict=True)
        if row.differing
        for computed in _COMPUTED
    }
    pointers = [name for error in conflict.errors for name in renamed.get(error.pointer or "", [error.pointer or ""])]
    detail = conflict.errors[0].detail
    return DecisionConflict(errors=[FieldError(detail, pointer=name) for name in dict.fromkeys(pointers)])
