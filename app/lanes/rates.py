"""Rates per (lane, risk tier) over a window, from the current rows.

Postgres counts rows by every word that matters, in one pass over one index; all figures are sums over those counts,
made here in plain sight.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from app.agreements.rules import contradicts
from app.agreements.table import current_agreements
from app.lanes.intervals import clopper_pearson

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from app.platform.database import Database

DEFAULT_WINDOW = timedelta(days=90)
WORDS = ("true_pass", "false_pass", "true_fail", "false_fail")

_c = current_agreements.c
_BY = (
    _c.lane,
    _c.risk_tier,
    _c.guardrail_verdict,
    _c.human_verdict,
    _c.agreement,
    _c.post_merge_outcome,
)
_COUNTS = sa.select(*_BY, sa.func.count().label("rows")).group_by(*_BY)


def _percentile(share: float) -> sa.ColumnElement[float]:
    """By linear interpolation between the two nearest scores."""
    percentile = sa.func.percentile_cont(share, type_=sa.Float)
    return sa.type_coerce(percentile.within_group(_c.guardrail_confidence), sa.Float)


_SCORES = (
    sa.select(
        _c.lane,
        _c.risk_tier,
        sa.func.count().label("count"),
        sa.func.min(_c.guardrail_confidence).label("min"),
        _percentile(0.5).label("median"),
        _percentile(0.05).label("p05"),
    )
    .where(_c.guardrail_confidence.is_not(None))
    .group_by(_c.lane, _c.risk_tier)
)


@dataclass(frozen=True, slots=True)
class Window:
    """`since` is inside, `until` is not."""

    since: datetime
    until: datetime

    @classmethod
    def of(cls, since: datetime | None, until: datetime | None) -> Window:
        """The window asked for; open ends are closed by now and by 90 days before the end."""
        end = until or datetime.now(UTC)
        earliest = datetime.min.replace(tzinfo=UTC)
        start = since or (end - DEFAULT_WINDOW if end - earliest > DEFAULT_WINDOW else earliest)
        return cls(start, end)


@dataclass(slots=True)
class _Tier:
    """The sums of one (lane, risk tier) while they are made."""

    rows: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(WORDS, 0))
    waived: dict[str, int] = field(default_factory=lambda: dict.fromkeys(WORDS, 0))
    outcomes: dict[str, int] = field(default_factory=dict)
    contradictions: int = 0
    confidence: dict[str, Any] | None = None


async def lane_rates(
    database: Database,
    window: Window,
    regressed_outcomes: Collection[str] | None,
    *,
    lane: str | None = None,
    properties: Collection[str] | None = None,
) -> dict[str, Any]:
    """The answer of the lanes calls, as a document.

    Arguments: `regressed_outcomes`, the policy's words, None where there is no policy; `lane`, that one alone;
    `properties`, only rows of these, None for all rows.
    """
    counts, scores = statements(conditions(window, lane=lane, properties=properties))
    async with database.snapshot() as connection:
        counted = [row._asdict() for row in await connection.execute(counts)]
        scored = [row._asdict() for row in await connection.execute(scores)]
    tiers = _sum(counted, scored)
    return {
        "window": {"since": window.since, "until": window.until},
        "rows_read": sum(tier.rows for tier in tiers.values()),
        "lanes": [_answer(key, tiers[key], regressed_outcomes) for key in sorted(tiers)],
    }


def conditions(
    window: Window, *, lane: str | None = None, properties: Collection[str] | None = None
) -> list[sa.ColumnElement[bool]]:
    """Which rows are counted."""
    made = [_c.created_at >= window.since, _c.created_at < window.until]
    if lane is not None:
        made.append(_c.lane == lane)
    if properties is not None:
        made.append(_c.property.in_(sorted(properties)))
    return made


def statements(of: Sequence[sa.ColumnElement[bool]]) -> tuple[sa.Select[Any], sa.Select[Any]]:
    """The two statements that all figures come from: the counts by word, and the scores."""
    return _COUNTS.where(*of), _SCORES.where(*of)


def _sum(counted: Iterable[Mapping[str, Any]], scored: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], _Tier]:
    tiers: dict[tuple[str, str], _Tier] = {}
    for group in counted:
        tier = tiers.setdefault((group["lane"], group["risk_tier"]), _Tier())
        rows, word, outcome = group["rows"], group["agreement"], group["post_merge_outcome"]
        tier.rows += rows
        if word is not None:
            split = tier.waived if group["human_verdict"] == "waive" else tier.counts
            split[word] += rows
        if outcome is not None:
            tier.outcomes[outcome] = tier.outcomes.get(outcome, 0) + rows
        if contradicts(group["guardrail_verdict"], word):
            tier.contradictions += rows
    for group in scored:
        figures = {name: group[name] for name in ("count", "min", "median", "p05")}
        tiers[group["lane"], group["risk_tier"]].confidence = figures
    return tiers


def _answer(key: tuple[str, str], tier: _Tier, regressed_outcomes: Collection[str] | None) -> dict[str, Any]:
    authored, waived = sum(tier.counts.values()), sum(tier.waived.values())
    regressed = None
    if regressed_outcomes is not None:
        regressed = sum(rows for outcome, rows in tier.outcomes.items() if outcome in regressed_outcomes)
    return {
        "lane": key[0],
        "risk_tier": key[1],
        "rows": tier.rows,
        "authored": authored,
        "awaiting_review": tier.rows - authored - waived,
        **tier.counts,
        "shares": {word: tier.counts[word] / authored for word in WORDS} if authored else None,
        **_rate("false_pass", tier.counts["false_pass"], tier.counts["true_pass"]),
        **_rate("false_fail", tier.counts["false_fail"], tier.counts["true_fail"]),
        "waived": {"count": waived, **tier.waived},
        "post_merge": {"outcomes": dict(sorted(tier.outcomes.items())), "regressed": regressed},
        "guardrail_confidence": tier.confidence,
        "contradictions": tier.contradictions,
    }


def _rate(name: str, count: int, others: int) -> dict[str, Any]:
    """A rate with no rows is unknown: null, never 0."""
    of = count + others
    limits = clopper_pearson(count, of) if of else None
    return {
        f"{name}_rate": count / of if of else None,
        f"{name}_upper_95": limits.upper_95 if limits else None,
        f"{name}_interval_95": limits.interval_95 if limits else None,
    }
