"""Logs and metrics: what operators need, and nothing of a row."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import structlog
from sqlalchemy.exc import IntegrityError

from app.platform import telemetry
from app.platform.telemetry import configure_logging, describe
from tests.support import a_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support import LiveService

CANARY = "canary-4f1d"


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Reads what was logged in production's form; puts back what was there."""
    root, before, stream = logging.getLogger(), structlog.get_config(), io.StringIO()
    handlers, level = root.handlers, root.level
    monkeypatch.setattr(sys, "stderr", stream)
    # the loggers that are there already would keep the form they were first used with
    monkeypatch.setattr(telemetry, "log", structlog.get_logger("agreement_log"))
    configure_logging("info", "json")
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.handlers, root.level = handlers, level
    structlog.configure(**before)


def test_a_request_is_one_line_with_its_id_and_nothing_of_the_row(service: LiveService, logged: Any) -> None:
    service.designate(CANARY)
    body = a_record(lane=CANARY, agent_id=CANARY, property=CANARY, guardrail_checks={CANARY: CANARY})
    answer = service.as_("review-bot").post("/v1/agreements", json=body, headers={"X-Request-Id": "req-1"})
    assert answer.status_code == 201
    row = answer.json()
    service.as_("ada").patch(f"/v1/agreements/{row['id']}", json={"human_verdict": "revise", "human_reason": CANARY})
    service.as_("dashboard").get(f"/v1/lanes/{CANARY}", params={"since": "2026-01-01T00:00:00Z"})
    service.as_("dashboard").get("/v1/agreements", params={"lane": CANARY})
    service.as_("review-bot").post("/v1/agreements", json={**body, "phase": CANARY})
    service.as_("review-bot").post(f"/v1/{CANARY}", content=CANARY)
    lines = [line for line in logged() if line["logger"] == "agreement_log"]
    requests = [line for line in lines if line["event"] == "request"]
    assert [(line["method"], line["route"], line["status"]) for line in requests] == [
        ("POST", "/v1/agreements", 201),
        ("PATCH", "/v1/agreements/{agreement_id}", 200),
        ("GET", "/v1/lanes/{lane:path}", 200),
        ("GET", "/v1/agreements", 200),
        ("POST", "/v1/agreements", 409),
        ("any", "unmatched", 404),
    ]
    assert requests[0]["request_id"] == "req-1" == answer.headers["x-request-id"]
    assert requests[0]["principal"] == "review-bot"
    assert {line["level"] for line in requests} == {"info"}
    assert CANARY not in json.dumps(lines)
    assert row["id"] not in json.dumps(lines)
    metrics = service.as_(None).get("/metrics").text
    assert CANARY not in metrics
    assert row["id"] not in metrics


@pytest.mark.parametrize("sent", ["", "a b", "x" * 65, 'x"y', "naïve".encode().decode("latin-1")])
def test_a_request_id_that_is_not_fit_for_a_log_is_replaced(service: LiveService, sent: str) -> None:
    answer = service.as_(None).get("/healthz", headers={"X-Request-Id": sent.encode("latin-1")})
    assert len(answer.headers["x-request-id"]) == 32


def test_metrics_count_requests_rows_refusals_and_connections(service: LiveService) -> None:
    row = service.reviewed()
    service.as_("verifier").patch(f"/v1/agreements/{row['id']}", json={"post_merge_outcome": "held"})
    service.as_("root").post(f"/v1/agreements/{row['id']}/corrections", json={"reason": "r", "pr_id": "1"})
    service.as_("review-bot").post("/v1/agreements", json=a_record(property="hidden"))
    service.as_(None).post("/v1/agreements", json=a_record())
    lines = service.as_(None).get("/metrics").text.splitlines()
    for expected in (
        'agreement_log_rows_total{kind="recorded"} 1.0',
        'agreement_log_rows_total{kind="review"} 1.0',
        'agreement_log_rows_total{kind="outcome"} 1.0',
        'agreement_log_rows_total{kind="correction"} 1.0',
        'agreement_log_refused_total{reason="undesignated-property"} 1.0',
        'agreement_log_refused_total{reason="unauthenticated"} 1.0',
        'agreement_log_requests_total{method="POST",route="/v1/agreements",status="201"} 1.0',
        'agreement_log_request_seconds_count{method="POST",route="/v1/agreements"} 3.0',
        'agreement_log_pool_connections{state="in_use"} 0.0',
    ):
        assert expected in lines
    assert any(
        line.startswith('agreement_log_pool_connections{state="idle"}') and not line.endswith(" 0.0") for line in lines
    )


def test_a_fault_is_answered_as_a_problem_and_logged_without_its_message(
    service: LiveService, logged: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> None:
        raise RuntimeError(CANARY)

    monkeypatch.setattr("app.agreements.store.get", fail)
    answer = service.as_("dashboard").get("/v1/agreements/00000000-0000-0000-0000-000000000000")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    lines = logged()
    [fault] = [line for line in lines if line["level"] == "error"]
    assert fault["error"] == "RuntimeError"
    assert fault["request_id"] == answer.headers["x-request-id"]
    assert any("routes.py" in place for place in fault["at"])
    assert CANARY not in json.dumps(lines) + answer.text


def test_a_driver_error_is_described_by_its_code_alone() -> None:
    import psycopg

    error = IntegrityError(
        "INSERT …", {"x": CANARY}, psycopg.errors.UniqueViolation(f"Key (lane)=({CANARY}) already exists")
    )
    described = describe(error)
    assert described["sqlstate"] == "23505"
    assert CANARY not in str(described)


def test_an_exception_that_another_library_logs_loses_its_message(logged: Any) -> None:
    try:
        raise ValueError(CANARY)
    except ValueError:
        logging.getLogger("somebody.else").exception("it failed")
    lines = logged()
    assert [line["error"] for line in lines] == ["ValueError"]
    assert CANARY not in json.dumps(lines)


def test_help_is_quick_to_import() -> None:
    heavy = ("fastapi", "sqlalchemy", "scipy", "sqlglot", "numpy", "pyarrow")
    code = f"import sys, app.cli; print([name for name in {heavy} if name in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
