"""The document of a graded row, from the checks that were made and those that rode along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from app.grading.check import Check
from app.grading.schemas import VERSION, GradeEnvelope, GuardrailChecks, RecordEnvelope
from app.grading.verdict import Verdict, verdict_of

if TYPE_CHECKING:
    from collections.abc import Sequence


class Graded(NamedTuple):
    """A verdict, and the document that says how it came about."""

    verdict: Verdict
    document: GuardrailChecks

    def to_answer(self) -> dict[str, Any]:
        """What `POST /v1/grade` answers and `agreement-log grade` prints."""
        return {
            "guardrail_verdict": self.verdict.verdict,
            "guardrail_confidence": self.verdict.confidence,
            "guardrail_checks": self.document.model_dump(),
        }


def graded(sent: GradeEnvelope | RecordEnvelope, digest: str | None, checks: Sequence[Check]) -> Graded:
    """The verdict on `checks`, one for each item of the evidence, and on the sender's own."""
    own = tuple(
        Check(
            name=check.name,
            kind="own",
            verdict=check.verdict,
            score=None,
            status="given",
            reason=check.detail,
            summary=None,
        )
        for check in sent.checks
    )
    together = (*checks, *own)
    document = GuardrailChecks.model_validate(
        {"version": VERSION, "proposal": sent.proposal, "evidence_digest": digest, "checks": together}
    )
    return Graded(verdict_of(together), document)
