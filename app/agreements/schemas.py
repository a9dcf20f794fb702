"""What the calls on agreements take and answer."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.platform.fields import Identifier, Instant, JsonDocument, Reason, Reference, Seconds, Share, Word

GuardrailVerdict = Literal["pass", "fail"]
HumanVerdict = Literal["merge", "reject", "revise", "waive"]
AgreementKind = Literal["true_pass", "false_pass", "true_fail", "false_fail"]


class Awaiting(StrEnum):
    """What a row still lacks."""

    REVIEW = "review"
    OUTCOME = "outcome"


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    def sent(self) -> dict[str, Any]:
        """The fields that the body named, with their values."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class Proposal(_Body):
    """What is said of a proposal, whoever decides the guardrail verdict."""

    id: UUID | None = Field(None, description="the client's own choice; the service makes a time-ordered one otherwise")
    project_id: UUID | None = None
    decision_id: Identifier
    pr_id: Identifier | None = Field(None, description="may be filled later")
    lane: Word
    risk_tier: Word
    agent_id: Identifier = Field(description="who proposed")
    property: Word | None = Field(None, description="refused unless it is designated")
    workflow_slug: Identifier | None = None
    phase: Identifier | None = None
    artifact_ref: Reference | None = None
    created_at: Instant | None = Field(None, description="a time in the past; needs the scope `import`")

    def given(self) -> dict[str, Any]:
        """The fields that have a value. Null and absent are the same here: both leave the column null."""
        return {name: value for name in self.model_fields_set if (value := getattr(self, name)) is not None}


class Record(Proposal):
    """One guardrail verdict, given."""

    guardrail_verdict: GuardrailVerdict
    guardrail_confidence: Share | None = Field(None, description="null for a deterministic check")
    guardrail_checks: JsonDocument | None = Field(
        None, description="which checks fired, their results, and the pointer to the proposal"
    )


def _without_null(schema: dict[str, Any]) -> None:
    """A fill may leave a field out, and never write null: the schema says so."""
    for field in schema["properties"].values():
        kinds = [kind for kind in field.pop("anyOf") if kind != {"type": "null"}]
        field.pop("default", None)
        field.update(kinds[0] if len(kinds) == 1 else {"anyOf": kinds})


class Fill(_Body):
    """Fields to fill that are still null. Who acts comes from the token."""

    model_config = ConfigDict(json_schema_extra=_without_null)

    human_verdict: HumanVerdict | None = None
    human_reason: Reason | None = Field(None, description="required with `revise` and `waive`")
    agreement: AgreementKind | None = Field(None, description="authored by the human who saw the diff")
    human_review_latency: Seconds | None = Field(None, description="seconds from PR open to verdict")
    reviewed_by: Identifier | None = Field(None, description="the human whom the token relays")
    reviewed_at: Instant | None = Field(None, description="needs the scope `import`")
    proposal_to_merge_diff: JsonDocument | None = Field(None, description="the diff or a pointer")
    pr_id: Identifier | None = None
    merged_at: Instant | None = None
    post_merge_outcome: Word | None = None
    outcome_at: Instant | None = Field(None, description="needs the scope `import`")

    @model_validator(mode="after")
    def _has_values(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("name at least one field to fill")
        empty = sorted(name for name, value in self.sent().items() if value is None)
        if empty:
            raise ValueError(f"{', '.join(empty)}: a fill cannot write null; to take a value away, POST a correction")
        return self


class Correction(_Body):
    """What a new revision changes. A field given as null is taken away."""

    reason: Reason
    human_verdict: HumanVerdict | None = None
    human_reason: Reason | None = None
    agreement: AgreementKind | None = None
    human_review_latency: Seconds | None = None
    reviewed_by: Identifier | None = None
    proposal_to_merge_diff: JsonDocument | None = None
    pr_id: Identifier | None = None
    merged_at: Instant | None = None
    post_merge_outcome: Word | None = None

    @model_validator(mode="after")
    def _names_a_field(self) -> Self:
        if self.model_fields_set == {"reason"}:
            raise ValueError("name at least one field to correct beside the reason")
        return self


class Agreement(BaseModel):
    """A row as it is stored."""

    id: UUID
    project_id: UUID | None
    decision_id: str
    pr_id: str | None
    lane: str
    risk_tier: str
    agent_id: str
    guardrail_verdict: GuardrailVerdict
    guardrail_confidence: Annotated[Decimal, Field(json_schema_extra={"type": "number"})] | None
    guardrail_checks: JsonDocument | None
    human_verdict: HumanVerdict | None
    human_reason: str | None
    proposal_to_merge_diff: JsonDocument | None
    human_review_latency: Annotated[Decimal, Field(json_schema_extra={"type": "number"})] | None
    agreement: AgreementKind | None
    post_merge_outcome: str | None
    created_at: datetime
    property: str | None
    workflow_slug: str | None
    phase: str | None
    artifact_ref: str | None
    recorded_by: str | None = Field(description="who recorded this revision; null on rows older than the service")
    reviewed_by: str | None
    reviewed_at: datetime | None
    merged_at: datetime | None
    outcome_by: str | None
    outcome_at: datetime | None
    revision: int
    supersedes: UUID | None
    revised_at: datetime | None
    revision_reason: str | None
    warnings: list[str] = Field(description="what a reader may want to look at; the row is stored as written")


class BatchRow(BaseModel):
    """One row of a batch, and whether it was new."""

    created: bool = Field(description="false where the decision was recorded before, with the same content")
    row: Agreement


class BatchAnswer(BaseModel):
    """The rows, in the order in which they were sent."""

    rows: list[BatchRow]


class Page(BaseModel):
    """One page of a list, newest first."""

    items: list[Agreement]
    next_cursor: str | None = Field(description="send it back as `cursor` for the next page; null on the last one")


class History(BaseModel):
    """Every revision of one decision, the first one first."""

    items: list[Agreement]


class Filters(BaseModel):
    """The query of the list; each filter narrows it further."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lane: Word | None = None
    risk_tier: Word | None = None
    agent_id: Identifier | None = None
    project_id: UUID | None = None
    decision_id: Identifier | None = None
    property: Word | None = None
    guardrail_verdict: GuardrailVerdict | None = None
    human_verdict: HumanVerdict | None = None
    agreement: AgreementKind | None = None
    post_merge_outcome: Word | None = None
    since: Instant | None = Field(None, description="created at this time or later")
    until: Instant | None = Field(None, description="created before this time")
    awaiting: Awaiting | None = Field(
        None, description="`review`: no authored agreement yet; `outcome`: merged or waived, and no outcome yet"
    )


class ListQuery(Filters):
    """The filters, and which page."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 50
    cursor: Annotated[str, Field(max_length=2000)] | None = None
