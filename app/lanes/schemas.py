"""What the calls on lanes take and answer."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from app.platform.fields import Instant

Proportion = Annotated[float, Field(ge=0, le=1)]
Interval = tuple[Proportion, Proportion]


class WindowQuery(BaseModel):
    """The window on created_at. The default is the last 90 days."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    since: Instant | None = Field(None, description="from this time on; default 90 days before `until`")
    until: Instant | None = Field(None, description="before this time; default now")


class Window(BaseModel):
    """The window that was used: `since` is inside, `until` is not."""

    since: datetime
    until: datetime


class Shares(BaseModel):
    """The four authored words as shares of `authored`."""

    true_pass: Proportion
    false_pass: Proportion
    true_fail: Proportion
    false_fail: Proportion


class Waived(BaseModel):
    """Recorded human overrides: in no rate."""

    count: int
    true_pass: int
    false_pass: int
    true_fail: int
    false_fail: int


class PostMerge(BaseModel):
    """What the world showed after the merge."""

    outcomes: dict[str, int] = Field(description="rows by outcome")
    regressed: int | None = Field(description="rows whose outcome the policy calls a regression; null without a policy")


class Confidence(BaseModel):
    """The graded scores of a lane."""

    count: int
    min: Proportion
    median: Proportion
    p05: Proportion = Field(description="5th percentile, by linear interpolation")


class TierRates(BaseModel):
    """What the log says of one (lane, risk tier). rows = authored + waived.count + awaiting_review."""

    lane: str
    risk_tier: str
    rows: int
    authored: int = Field(description="rows with an authored agreement, waived ones left out")
    awaiting_review: int = Field(description="rows without an authored agreement")
    true_pass: int
    false_pass: int
    true_fail: int
    false_fail: int
    shares: Shares | None = Field(description="null where nothing is authored")
    false_pass_rate: Proportion | None = Field(
        description="false_pass / (true_pass + false_pass); null, never 0, where that is 0"
    )
    false_pass_upper_95: Proportion | None = Field(description="one-sided 95 % upper bound (Clopper-Pearson)")
    false_pass_interval_95: Interval | None = Field(description="two-sided 95 % interval (Clopper-Pearson)")
    false_fail_rate: Proportion | None = Field(
        description="false_fail / (true_fail + false_fail); null, never 0, where that is 0"
    )
    false_fail_upper_95: Proportion | None = Field(description="one-sided 95 % upper bound (Clopper-Pearson)")
    false_fail_interval_95: Interval | None = Field(description="two-sided 95 % interval (Clopper-Pearson)")
    waived: Waived
    post_merge: PostMerge
    guardrail_confidence: Confidence | None = Field(description="null for a deterministic lane")
    contradictions: int = Field(description="rows whose authored word names the other side than the guardrail verdict")


class LaneRates(BaseModel):
    """Rates over a window."""

    window: Window
    rows_read: int
    lanes: list[TierRates]
