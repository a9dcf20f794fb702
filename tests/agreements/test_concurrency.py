"""Many clients at once: one wins, nothing is lost, history is one line."""

from __future__ import annotations

import collections
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.support import a_record

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support import LiveService


def at_once(
    service: LiveService, role: str, clients: int, request: Callable[[httpx.Client, int], httpx.Response]
) -> list[httpx.Response]:
    """`clients` requests that leave at the same moment, each on a connection of its own."""
    barrier = Barrier(clients)
    headers = {"Authorization": f"Bearer {service.tokens[role]}"}

    def run(number: int) -> httpx.Response:
        with httpx.Client(base_url=service.url, headers=headers, timeout=30, trust_env=False) as client:
            client.get("/healthz")  # the connection is open before the race begins
            barrier.wait(30)
            return request(client, number)

    with ThreadPoolExecutor(clients) as pool:
        return list(pool.map(run, range(clients)))


def statuses(answers: list[httpx.Response]) -> dict[int, int]:
    return dict(collections.Counter(answer.status_code for answer in answers))


def test_of_32_corrections_at_once_one_wins(service: LiveService) -> None:
    row = service.reviewed()
    body = {"reason": "misread", "agreement": "false_pass"}
    answers = at_once(service, "root", 32, lambda client, number: client.post(
        f"/v1/agreements/{row['id']}/corrections", json={**body, "human_review_latency": number + 1}))  # fmt: skip
    assert statuses(answers) == {201: 1, 409: 31}
    [winner] = [answer.json() for answer in answers if answer.status_code == 201]
    assert {answer.json()["current"] for answer in answers if answer.status_code == 409} == {
        f"/v1/agreements/{winner['id']}"
    }
    history = service.as_("dashboard").get(f"/v1/agreements/{row['id']}/history").json()["items"]
    assert history == [row, winner]


def test_corrections_that_follow_each_other_make_one_line(service: LiveService) -> None:
    row = service.reviewed()

    def chase(client: httpx.Client, number: int) -> httpx.Response:
        address = f"/v1/agreements/{row['id']}"
        while True:
            answer = client.post(f"{address}/corrections", json={"reason": "r", "human_review_latency": number + 1})
            if answer.status_code != 409:
                return answer
            address = answer.json()["current"]

    assert statuses(at_once(service, "root", 12, chase)) == {201: 12}
    history = service.as_("dashboard").get(f"/v1/agreements/{row['id']}/history").json()["items"]
    assert [item["revision"] for item in history] == list(range(1, 14))
    assert [item["supersedes"] for item in history] == [None, *(item["id"] for item in history[:-1])]
    assert len({item["human_review_latency"] for item in history}) == 13


@pytest.mark.parametrize("attempt", range(3))
def test_of_two_first_reviews_at_once_one_wins(service: LiveService, attempt: int) -> None:
    row = service.recorded()
    words = ("true_pass", "false_pass")
    answers = at_once(service, "root", 2, lambda client, number: client.patch(
        f"/v1/agreements/{row['id']}", json={"human_verdict": "merge", "agreement": words[number]}))  # fmt: skip
    assert statuses(answers) == {200: 1, 409: 1}
    [winner] = [answer.json() for answer in answers if answer.status_code == 200]
    assert service.as_("dashboard").get(f"/v1/agreements/{row['id']}").json() == winner


@pytest.mark.parametrize("call", ["single", "batch"])
def test_the_same_post_from_16_clients_at_once_is_one_row(service: LiveService, call: str) -> None:
    body: dict[str, Any] = a_record(guardrail_checks={"a": 1}, guardrail_confidence=0.5)

    def post(client: httpx.Client, number: int) -> httpx.Response:
        if call == "single":
            return client.post("/v1/agreements", json=body)
        return client.post("/v1/agreements/batch", json={"rows": [body]})

    answers = at_once(service, "root", 16, post)
    assert statuses(answers) == {201: 1, 200: 15}
    rows = [answer.json() if call == "single" else answer.json()["rows"][0]["row"] for answer in answers]
    assert all(row == rows[0] for row in rows)
    assert service.as_("dashboard").get("/v1/agreements").json()["items"] == [rows[0]]


def test_a_fill_and_a_correction_at_once_lose_nothing(service: LiveService) -> None:
    for _ in range(10):
        row = service.reviewed()
        address = f"/v1/agreements/{row['id']}"

        def race(client: httpx.Client, number: int, address: str = address) -> httpx.Response:
            if number:
                return client.patch(address, json={"pr_id": "7"})
            return client.post(f"{address}/corrections", json={"reason": "r", "agreement": "false_pass"})

        correction, fill = at_once(service, "root", 2, race)
        assert correction.status_code == 201
        assert fill.status_code in (200, 409)
        # whoever came first: an acknowledged fill is in the newest revision
        current = service.as_("dashboard").get(f"{address}/history").json()["items"][-1]
        assert current["pr_id"] == ("7" if fill.status_code == 200 else None)


def test_batches_with_the_same_decisions_in_other_orders_all_succeed(service: LiveService) -> None:
    rows = [a_record(decision_id=f"d{number}") for number in range(100)]
    answers = at_once(service, "root", 8, lambda client, number: client.post(
        "/v1/agreements/batch", json={"rows": rows[number * 10 :] + rows[: number * 10]} if number % 2 else {"rows": rows[::-1]}))  # fmt: skip
    assert set(statuses(answers)) <= {200, 201}
    assert sum(one["created"] for answer in answers for one in answer.json()["rows"]) == 100
