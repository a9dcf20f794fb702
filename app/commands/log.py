"""The log from a shell: `agreement-log record|review|outcome|list|rates`, over the API."""

from __future__ import annotations

import json
import sys
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, NoReturn

import typer

from app.commands.client import call, open_client
from app.commands.settings import fail

Url = Annotated[str | None, typer.Option("--url", help="Address of the service; default AGREEMENT_LOG_URL.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
Id = Annotated[str | None, typer.Argument(help="The row's id; or name it by --decision.")]
Decision = Annotated[str | None, typer.Option("--decision", help="The decision_id of the row.")]
Project = Annotated[str | None, typer.Option("--project", help="The project_id, where the decision has one.")]

_ROW = ("created_at", "lane", "risk_tier", "decision_id", "guardrail_verdict", "human_verdict", "agreement")


def record(
    decision: Annotated[str, typer.Option(help="decision_id, unique within a project.")],
    lane: Annotated[str, typer.Option()],
    tier: Annotated[str, typer.Option(help="risk_tier")],
    agent: Annotated[str, typer.Option(help="agent_id: who proposed.")],
    verdict: Annotated[str, typer.Option(help="What the guardrail said: pass or fail.")],
    confidence: Annotated[str | None, typer.Option(help="0..1; leave out for a deterministic check.")] = None,
    checks: Annotated[str | None, typer.Option(help="guardrail_checks, as JSON.")] = None,
    project: Project = None,
    pr: Annotated[str | None, typer.Option(help="pr_id")] = None,
    property_: Annotated[str | None, typer.Option("--property", help="Refused unless it is designated.")] = None,
    workflow: Annotated[str | None, typer.Option(help="workflow_slug")] = None,
    phase: Annotated[str | None, typer.Option()] = None,
    artifact: Annotated[str | None, typer.Option(help="artifact_ref")] = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Record one guardrail verdict (scope record)."""
    body = {
        "decision_id": decision,
        "lane": lane,
        "risk_tier": tier,
        "agent_id": agent,
        "guardrail_verdict": verdict,
        "guardrail_confidence": _number(confidence, "--confidence"),
        "guardrail_checks": _document(checks, "--checks"),
        "project_id": project,
        "pr_id": pr,
        "property": property_,
        "workflow_slug": workflow,
        "phase": phase,
        "artifact_ref": artifact,
    }
    with open_client(url) as client:
        row = _send(client, "POST", "/v1/agreements", {k: v for k, v in body.items() if v is not None})
    _print_row(row, as_json=as_json)


def review(
    agreement_id: Id = None,
    decision: Decision = None,
    project: Project = None,
    verdict: Annotated[str | None, typer.Option(help="merge, reject, revise or waive")] = None,
    agreement: Annotated[
        str | None, typer.Option(help="Your word on the guardrail: true_pass, false_pass, true_fail or false_fail.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Required with revise and waive.")] = None,
    latency: Annotated[str | None, typer.Option(help="Seconds from PR open to verdict.")] = None,
    reviewed_by: Annotated[str | None, typer.Option(help="The human whom this token relays.")] = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Author a review (scope review; finding a row by --decision needs read too)."""
    body = {
        "human_verdict": verdict,
        "agreement": agreement,
        "human_reason": reason,
        "human_review_latency": _number(latency, "--latency"),
        "reviewed_by": reviewed_by,
    }
    _patch(agreement_id, decision, project, url, {k: v for k, v in body.items() if v is not None}, as_json=as_json)


def outcome(
    outcome: Annotated[str, typer.Option(help="What the world showed: held, regressed, …")],
    agreement_id: Id = None,
    decision: Decision = None,
    project: Project = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Record a post-merge outcome (scope outcome). Another outcome than before appends a revision."""
    _patch(agreement_id, decision, project, url, {"post_merge_outcome": outcome}, as_json=as_json)


def list_rows(
    lane: Annotated[str | None, typer.Option()] = None,
    tier: Annotated[str | None, typer.Option(help="risk_tier")] = None,
    agent: Annotated[str | None, typer.Option(help="agent_id")] = None,
    decision: Decision = None,
    awaiting: Annotated[str | None, typer.Option(help="review or outcome")] = None,
    agreement: Annotated[str | None, typer.Option()] = None,
    outcome: Annotated[str | None, typer.Option(help="post_merge_outcome")] = None,
    since: Annotated[str | None, typer.Option(help="RFC 3339 with an offset")] = None,
    until: Annotated[str | None, typer.Option(help="RFC 3339 with an offset")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many rows in all.")] = 50,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """List current rows, newest first (scope read)."""
    named = {
        "lane": lane,
        "risk_tier": tier,
        "agent_id": agent,
        "decision_id": decision,
        "awaiting": awaiting,
        "agreement": agreement,
        "post_merge_outcome": outcome,
        "since": since,
        "until": until,
    }
    filters = {name: value for name, value in named.items() if value is not None}
    rows: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    with open_client(url) as client:
        while len(rows) < limit:
            asked = {**filters, **cursor, "limit": min(200, limit - len(rows))}
            page = call(client, "GET", "/v1/agreements", params=asked)
            rows += page["items"]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
    if as_json:
        _print_json(rows)
        return
    _print_table(("id", *_ROW, "post_merge_outcome"), rows)


def rates(
    lane: Annotated[str | None, typer.Argument(help="One lane; default all.")] = None,
    since: Annotated[str | None, typer.Option(help="RFC 3339 with an offset; default 90 days ago.")] = None,
    until: Annotated[str | None, typer.Option(help="RFC 3339 with an offset; default now.")] = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """What the log says of each lane and risk tier (scope read)."""
    from urllib.parse import quote

    window = {name: value for name, value in (("since", since), ("until", until)) if value is not None}
    path = f"/v1/lanes/{quote(lane, safe='')}" if lane else "/v1/lanes"
    with open_client(url) as client:
        answer = call(client, "GET", path, params=window)
    if as_json:
        _print_json(answer)
        return
    lines = [_rates_line(tier) for tier in answer["lanes"]]
    _print_table(tuple(lines[0]) if lines else ("lane",), lines)
    used = answer["window"]
    typer.echo(f"{answer['rows_read']} rows, {used['since']} to {used['until']}")


def _rates_line(tier: dict[str, Any]) -> dict[str, Any]:
    return {
        "lane": tier["lane"],
        "tier": tier["risk_tier"],
        "rows": tier["rows"],
        "authored": tier["authored"],
        "awaiting": tier["awaiting_review"],
        "false pass": _shown(tier, "pass"),
        "false fail": _shown(tier, "fail"),
        "waived": tier["waived"]["count"],
        "regressed": tier["post_merge"]["regressed"],
    }


def _shown(tier: dict[str, Any], side: str) -> str:
    """`2/51 = 3.9% (<11.8%)`: the count, the rate, and its one-sided 95 % upper bound."""
    wrong, right = tier[f"false_{side}"], tier[f"true_{side}"]
    if not wrong + right:
        return "unknown (0 rows)"
    bound = tier[f"false_{side}_upper_95"]
    return f"{wrong}/{wrong + right} = {tier[f'false_{side}_rate']:.1%} (<{bound:.1%})"


def _patch(
    agreement_id: str | None,
    decision: str | None,
    project: str | None,
    url: str | None,
    body: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    with open_client(url) as client:
        row = _send(client, "PATCH", f"/v1/agreements/{_find(client, agreement_id, decision, project)}", body)
    _print_row(row, as_json=as_json)


def _find(client: Any, agreement_id: str | None, decision: str | None, project: str | None) -> str:
    if (agreement_id is None) == (decision is None):
        fail("name the row by its id or by --decision")
    if agreement_id is not None:
        return agreement_id
    asked = {"decision_id": decision, **({"project_id": project} if project else {})}
    rows = [
        row
        for row in call(client, "GET", "/v1/agreements", params=asked)["items"]
        if project is not None or row["project_id"] is None
    ]
    if len(rows) != 1:
        fail("no current row has that decision_id" + ("" if project else " and no project; name its --project"), code=1)
    return str(rows[0]["id"])


def _send(client: Any, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    from app.platform.json_response import to_json

    headers = {"Content-Type": "application/json"}
    row: dict[str, Any] = call(client, method, path, content=to_json(body), headers=headers)
    return row


def _number(text: str | None, option: str) -> Decimal | None:
    """Through Decimal, so that every digit arrives."""
    if text is None:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        _bad(option, "a number")
    if not value.is_finite():
        _bad(option, "a number")
    return value


def _document(text: str | None, option: str) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text, parse_float=Decimal)
    except ValueError:
        _bad(option, "JSON")


def _bad(option: str, wanted: str) -> NoReturn:
    fail(f"{option} takes {wanted}")


def _print_row(row: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        _print_json(row)
        return
    for name, value in row.items():
        if value not in (None, []):
            typer.echo(f"{name:24} {value if isinstance(value, str) else json.dumps(value)}")


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def _print_table(columns: tuple[str, ...], rows: list[dict[str, Any]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(*columns, box=SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        # escaped: a lane may be called [bold]
        table.add_row(*(escape("" if row[name] is None else str(row[name])) for name in columns))
    # Into a pipe or a file every cell is printed whole, however wide that is.
    Console(width=None if sys.stdout.isatty() else 1000).print(table)
