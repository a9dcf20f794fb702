"""`agreement-log demo`: a believable sample, loaded through the API itself."""

from __future__ import annotations

import json
import os
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.client import call, open_client
from app.commands.settings import fail

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

DAYS = 120
TIERS = ("low", "medium", "high")
REVIEWERS = ("ada", "grace", "linus", "barbara")
_BATCH = 500


@dataclass(frozen=True, slots=True)
class _Lane:
    """How a lane behaves: shares of its rows, each in 0..1."""

    name: str
    weight: float
    passes: float
    false_passes: float
    false_fails: float
    graded: bool
    property: str | None


_LANES = (
    _Lane("content-roadmap", 1.5, 0.82, 0.02, 0.15, graded=False, property="storefront"),
    _Lane("sql-metrics", 1.2, 0.74, 0.05, 0.10, graded=True, property="search"),
    _Lane("dependency-bumps", 2.0, 0.93, 0.004, 0.30, graded=False, property=None),
    _Lane("doc-fixes", 1.6, 0.95, 0.01, 0.40, graded=False, property="billing-docs"),
    _Lane("schema-migrations", 0.6, 0.60, 0.09, 0.08, graded=True, property=None),
    _Lane("alert-tuning", 0.8, 0.70, 0.12, 0.20, graded=True, property=None),
)


def demo(
    rows: Annotated[int, typer.Option(min=1, help="How many decisions.")] = 3000,
    seed: Annotated[int, typer.Option(help="The same seed makes the same sample.")] = 7,
    url: Annotated[str | None, typer.Option("--url", help="Address of the service; default AGREEMENT_LOG_URL.")] = None,
    state: Annotated[Path, typer.Option(help="Where `agreement-log dev` keeps its tokens.")] = Path(".local"),
) -> None:
    """Load six lanes over 120 days: reviews, waives, corrections, regressions.

    Needs a token with the scopes record, review, outcome, read and import: AGREEMENT_LOG_IMPORT_TOKEN, or the one
    that `agreement-log dev` made. Loading the same seed twice on one day changes nothing.
    """
    import rich.progress

    now = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    with open_client(url or _dev_url(state), _import_token(state)) as client:
        sample = _sample(rows, seed, now)
        with rich.progress.Progress() as progress:
            task = progress.add_task("decisions", total=rows)
            for start in range(0, rows, _BATCH):
                _load(client, sample[start : start + _BATCH], lambda: progress.advance(task))
    typer.echo(f"{rows} decisions loaded; see them with `agreement-log rates`")


def _dev_url(state: Path) -> str | None:
    """Where `agreement-log dev` serves; None where it was never started, or the environment names another."""
    kept = state / "url"
    return kept.read_text() if kept.exists() and "AGREEMENT_LOG_URL" not in os.environ else None


def _import_token(state: Path) -> str:
    if "AGREEMENT_LOG_IMPORT_TOKEN" in os.environ:
        return os.environ["AGREEMENT_LOG_IMPORT_TOKEN"]
    try:
        return str(json.loads((state / "dev-tokens.json").read_text())["importer"])
    except (OSError, ValueError, KeyError):
        fail("set AGREEMENT_LOG_IMPORT_TOKEN, or start the service with `agreement-log dev` first")


def _load(client: httpx.Client, decisions: list[dict[str, Any]], advance: Any) -> None:
    answer = call(client, "POST", "/v1/agreements/batch", json={"rows": [d["record"] for d in decisions]})
    for decision, stored in zip(decisions, answer["rows"], strict=True):
        if stored["created"]:
            address = f"/v1/agreements/{stored['row']['id']}"
            for step in decision["steps"]:
                if "reason" in step:
                    address = f"/v1/agreements/{call(client, 'POST', f'{address}/corrections', json=step)['id']}"
                else:
                    address = f"/v1/agreements/{call(client, 'PATCH', address, json=step)['id']}"
        advance()


def _sample(rows: int, seed: int, now: datetime) -> list[dict[str, Any]]:
    """Each decision is its record and the steps that follow: a review, a correction, outcomes."""
    dice = random.Random(seed)  # noqa: S311 - a sample, not a secret
    weights = [lane.weight for lane in _LANES]
    made = []
    for number in range(rows):
        lane = dice.choices(_LANES, weights)[0]
        created = now - timedelta(days=DAYS) + timedelta(seconds=dice.random() * DAYS * 86_400)
        verdict = "pass" if dice.random() < lane.passes else "fail"
        record: dict[str, Any] = {
            "decision_id": f"demo-{seed}-{now:%Y%m%d}-{number}",
            "pr_id": str(1000 + number),
            "lane": lane.name,
            "risk_tier": dice.choices(TIERS, (6, 3, 1))[0],
            "agent_id": f"agent-{dice.randint(1, 9)}",
            "guardrail_verdict": verdict,
            "guardrail_checks": {"checks": [{"name": "lint", "verdict": verdict}], "proposal": f"pr://{1000 + number}"},
            "created_at": created.isoformat(),
        }
        if lane.graded:
            score = 1.0 if verdict == "pass" else round(dice.betavariate(6, 2), 3)
            record["guardrail_confidence"] = score
        if lane.property and dice.random() < 0.6:
            record |= {"property": lane.property, "workflow_slug": "weekly", "phase": "build"}
        made.append({"record": record, "steps": list(_steps(dice, lane, verdict, created, now))})
    return made


def _steps(
    dice: random.Random, lane: _Lane, verdict: str, created: datetime, now: datetime
) -> Iterator[dict[str, Any]]:
    reviewed = created + timedelta(seconds=dice.expovariate(1 / 7200))
    if reviewed >= now or dice.random() < 0.04:
        return  # nobody has looked yet
    wrong = dice.random() < (lane.false_passes if verdict == "pass" else lane.false_fails)
    agreement = f"{'false' if wrong else 'true'}_{verdict}"
    merged = (verdict == "pass") != wrong
    review: dict[str, Any] = {
        "human_verdict": "merge" if merged else dice.choice(("reject", "revise")),
        "agreement": agreement,
        "human_review_latency": round((reviewed - created).total_seconds(), 1),
        "reviewed_by": dice.choice(REVIEWERS),
        "reviewed_at": reviewed.isoformat(),
    }
    if review["human_verdict"] == "revise":
        review["human_reason"] = "needs another round"
    if not merged and dice.random() < 0.15:
        review |= {"human_verdict": "waive", "human_reason": "the release cannot wait; a follow-up is filed"}
    yield review
    if dice.random() < 0.01:
        yield {"reason": "misread the diff", "agreement": f"{'true' if wrong else 'false'}_{verdict}"}
    seen = reviewed + timedelta(days=dice.uniform(1, 9))
    if review["human_verdict"] in ("merge", "waive") and seen < now:
        yield {"post_merge_outcome": "held", "outcome_at": seen.isoformat()}
        if dice.random() < (0.3 if agreement == "false_pass" else 0.012):
            later = min(seen + timedelta(days=3), now - timedelta(seconds=1))
            yield {"post_merge_outcome": dice.choice(("regressed", "rolled_back")), "outcome_at": later.isoformat()}
