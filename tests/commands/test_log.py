"""The log from a shell, against a live service."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from app.cli import app

if TYPE_CHECKING:
    from click.testing import Result

    from tests.support import LiveService

RECORD = (
    "record",
    "--decision",
    "pr-1",
    "--lane",
    "sql-metrics",
    "--tier",
    "low",
    "--agent",
    "agent-9",
    "--verdict",
    "pass",
)


@pytest.fixture
def run(service: LiveService, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a command as a role."""
    monkeypatch.setenv("AGREEMENT_LOG_URL", service.url)

    def invoke(role: str, *arguments: str) -> Result:
        monkeypatch.setenv("AGREEMENT_LOG_TOKEN", service.tokens[role])
        return CliRunner().invoke(app, list(arguments))

    return invoke


def test_a_row_is_recorded_reviewed_and_followed_up_from_a_shell(service: LiveService, run: Any) -> None:
    recorded = run("root", *RECORD, "--confidence", "0.1234567890123456789", "--checks", '{"n": 1.50}', "--json")
    assert recorded.exit_code == 0, recorded.output
    row = json.loads(recorded.stdout)
    assert "0.1234567890123456789" in service.as_("root").get(f"/v1/agreements/{row['id']}").text
    reviewed = run(
        "root",
        "review",
        "--decision",
        "pr-1",
        "--verdict",
        "merge",
        "--agreement",
        "true_pass",
        "--latency",
        "12.5",
        "--json",
    )
    assert json.loads(reviewed.stdout)["agreement"] == "true_pass"
    outcome = run("root", "outcome", row["id"], "--outcome", "held", "--json")
    assert json.loads(outcome.stdout)["post_merge_outcome"] == "held"
    listed = run("root", "list", "--lane", "sql-metrics", "--json")
    assert [one["id"] for one in json.loads(listed.stdout)] == [row["id"]]
    rates = run("root", "rates", "sql-metrics", "--json")
    assert json.loads(rates.stdout)["lanes"][0]["true_pass"] == 1


def test_tables_show_the_whole_of_each_cell(service: LiveService, run: Any) -> None:
    long = "a-lane-with-a-long-name " * 4
    row = service.recorded(lane=long.strip(), decision_id="[bold]x[/bold]", agent_id="agent-9")
    service.as_("ada").patch(f"/v1/agreements/{row['id']}", json={"human_verdict": "merge", "agreement": "false_pass"})
    listed = run("root", "list")
    assert row["id"] in listed.stdout
    assert long.strip() in listed.stdout
    assert "[bold]x[/bold]" in listed.stdout
    rates = run("root", "rates")
    assert "1/1 = 100.0% (<100.0%)" in rates.stdout
    assert "unknown (0 rows)" in rates.stdout
    assert "1 rows" in rates.stdout
    assert "sql-metrics" in run("root", *RECORD).stdout


def test_a_long_list_is_read_page_by_page(service: LiveService, run: Any) -> None:
    rows = [
        {"decision_id": str(n), "lane": "l", "risk_tier": "t", "agent_id": "a", "guardrail_verdict": "pass"}
        for n in range(450)
    ]
    service.as_("root").post("/v1/agreements/batch", json={"rows": rows})
    for limit in (7, 430, 1000):
        listed = json.loads(run("root", "list", "--limit", str(limit), "--json").stdout)
        assert len({row["id"] for row in listed}) == len(listed) == min(limit, 450)


@pytest.mark.parametrize(
    ("role", "arguments", "code", "said"),
    [
        ("dashboard", RECORD, 1, "needs the scope record"),
        ("root", (*RECORD[:-1], "maybe"), 1, "/guardrail_verdict"),
        ("root", (*RECORD, "--confidence", "much"), 2, "--confidence takes a number"),
        ("root", (*RECORD, "--confidence", "nan"), 2, "--confidence takes a number"),
        ("root", (*RECORD, "--checks", "{"), 2, "--checks takes JSON"),
        ("root", ("review", "--verdict", "merge"), 2, "by its id or by --decision"),
        ("root", ("review", "--decision", "nowhere", "--verdict", "merge"), 1, "no current row"),
        ("root", ("list", "--since", "yesterday"), 1, "since: must be an RFC 3339 time"),
    ],
)
def test_a_refusal_is_said_in_a_sentence(
    service: LiveService, run: Any, role: str, arguments: tuple[str, ...], code: int, said: str
) -> None:
    result = run(role, *arguments)
    assert result.exit_code == code
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_a_service_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGREEMENT_LOG_TOKEN", "agl_x")
    result = CliRunner().invoke(app, ["rates", "--url", "http://127.0.0.1:9"])
    assert result.exit_code == 3
    assert "is the service running?" in result.stderr
    monkeypatch.delenv("AGREEMENT_LOG_TOKEN")
    assert "AGREEMENT_LOG_TOKEN" in CliRunner().invoke(app, ["rates"]).stderr


def test_the_demo_loads_a_believable_sample(service: LiveService, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    service.designate("storefront", "search", "billing-docs")
    service.settings.policy_file.write_text('regressed_outcomes = ["regressed", "rolled_back"]\n')
    from app.platform.tokens import Kind, Scope, TokenFile

    token = TokenFile(service.settings.tokens_file).new("demo", Kind.SERVICE, frozenset(Scope))
    monkeypatch.setenv("AGREEMENT_LOG_IMPORT_TOKEN", token)
    for _ in range(2):  # a second time changes nothing
        result = run("root", "demo", "--rows", "600")
        assert result.exit_code == 0, result.output
    tiers = service.as_("root").get("/v1/lanes", params={"since": "2020-01-01T00:00:00Z"}).json()["lanes"]
    assert len({tier["lane"] for tier in tiers}) == 6
    assert len({tier["risk_tier"] for tier in tiers}) == 3
    assert sum(tier["rows"] for tier in tiers) == 600
    for figure in ("waived", "post_merge"):
        assert any(tier[figure].get("count") or tier[figure].get("regressed") for tier in tiers)
    history = service.as_("root").get("/v1/agreements", params={"limit": 1000}).json()["items"]
    assert any(row["revision"] > 1 for row in history)
    assert service.as_(None).get("/v1/public/agreements").json()["items"]
