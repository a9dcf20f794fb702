"""What may be published. A column that is not named here is not published, whatever the table grows."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from app.agreements.schemas import AgreementKind, GuardrailVerdict, HumanVerdict
from app.platform.fields import Instant, Word


class PublicAgreement(BaseModel):
    """The public columns of a row."""

    created_at: datetime
    lane: str
    risk_tier: str
    guardrail_verdict: GuardrailVerdict
    guardrail_confidence: Annotated[Decimal, Field(json_schema_extra={"type": "number"})] | None
    human_verdict: HumanVerdict | None
    agreement: AgreementKind | None
    post_merge_outcome: str | None
    property: str
    workflow_slug: str | None
    phase: str | None
    artifact_ref: str | None


PUBLIC_COLUMNS: tuple[str, ...] = tuple(PublicAgreement.model_fields)


class PublicPage(BaseModel):
    """One page of a list, newest first."""

    items: list[PublicAgreement]
    next_cursor: str | None


class PublicQuery(BaseModel):
    """The filters of the public list, and which page."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lane: Word | None = None
    risk_tier: Word | None = None
    property: Word | None = None
    since: Instant | None = None
    until: Instant | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 50
    cursor: Annotated[str, Field(max_length=2000)] | None = None
