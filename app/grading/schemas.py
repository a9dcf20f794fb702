"""What the calls on grading take and answer, besides the evidence itself."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.agreements.schemas import GuardrailVerdict, Proposal, Record
from app.grading.check import Check, Score
from app.grading.evidence import EvidenceList
from app.platform.fields import Identifier, Reason, Reference

VERSION = 1
"""Of the document in guardrail_checks. A reader that meets another one reads docs/grading.md of that version."""


class OwnCheck(BaseModel):
    """A deterministic check that the sender made itself. When it failed, the row fails."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Identifier
    verdict: GuardrailVerdict
    detail: Annotated[Reason, Field(max_length=2000)] | None = Field(
        None, description="is stored and shown: nothing of the evidence belongs here"
    )


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    proposal: Reference | None = Field(None, description="the pointer to the proposal; stored in guardrail_checks")
    checks: Annotated[list[OwnCheck], Field(max_length=100)] = []


class GradeEnvelope(_Given):
    """The body of a grading, its evidence replaced by its place among those of the body."""

    evidence: int


class RecordEnvelope(Proposal, _Given):
    """A row that is to be graded, its evidence replaced likewise."""

    evidence: int


class ToGrade(_Given):
    """Evidence to be graded, and nothing recorded."""

    evidence: EvidenceList


class ToGradeAndRecord(Proposal, _Given):
    """A proposal with evidence: the service computes its guardrail verdict, confidence and checks."""

    evidence: EvidenceList


RecordBody = Record | ToGradeAndRecord


class BatchBody(BaseModel):
    """Up to 1,000 rows, written all together or not at all."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rows: Annotated[list[Record | ToGradeAndRecord], Field(min_length=1, max_length=1000)]


class BatchEnvelope(BaseModel):
    """The same, before its rows are looked at."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rows: Annotated[list[Any], Field(min_length=1, max_length=1000)]


class GuardrailChecks(BaseModel):
    """What a graded row holds in guardrail_checks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1]
    proposal: str | None
    evidence_digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="SHA-256; see docs/grading.md")]
    checks: tuple[Check, ...]


class Grade(BaseModel):
    """The verdict on evidence."""

    guardrail_verdict: GuardrailVerdict
    guardrail_confidence: Score | None = Field(description="the weakest check's score; null when none has one")
    guardrail_checks: GuardrailChecks


class RoundStep(BaseModel):
    """What to do about a dispute."""

    kind: Literal["ask_user", "refine_context", "state_grain"]
    text: str
    names: list[str]


class RoundVariant(BaseModel):
    """One side of a dispute."""

    members: list[int]
    assumption: str
    only: list[str]


class RoundDispute(BaseModel):
    """One difference between two classes of candidates."""

    axis: str
    variants: list[RoundVariant]
    cause: str
    settled_by: str | None = Field(description="what in the context decides it; null when nothing does")
    step: RoundStep


class RoundRecord(BaseModel):
    """The protocol's record of a round."""

    sql: str | None
    in_data_model: list[str]
    not_in_data_model: list[str]
    consensus_round: int | None
    refinements: list[str]
    unresolved: str | None


class RoundDecision(BaseModel):
    """What one round came to. It speaks of the statements that the caller sent, and is kept nowhere."""

    outcome: Literal["consensus", "disagreement", "unresolved"]
    round: int
    sql: str | None
    in_data_model: list[str]
    not_in_data_model: list[str]
    classes: list[list[int]]
    invalid: list[tuple[int, str]]
    disputes: list[RoundDispute]
    notes: list[str]
    refinements: list[str]
    next_round: int | None = Field(description="null when no round follows")
    next_refinements: list[str]
    unresolved: str | None
    record: RoundRecord
