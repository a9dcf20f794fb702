"""Rounds of a consensus over HTTP: the state travels with the caller, and nothing is kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from app.core.consensus import round_of
from tests.support import errors_of

if TYPE_CHECKING:
    from tests.support import LiveService

PARTED = ["SELECT a FROM t WHERE b = 1", "SELECT a FROM t", "SELECT a FROM t WHERE 1 = b"]


def decide(live: LiveService, **body: Any) -> dict[str, Any]:
    answer = live.as_("review-bot").post("/v1/consensus/rounds", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_round_is_decided_as_the_core_decides_it(live: LiveService) -> None:
    schema = {"t": {"a": "int primary key", "b": "int"}}
    decided = decide(live, candidates=PARTED, schema=schema, dialect="postgres", refinements=["before"], round=2)
    expected = round_of(PARTED, schema=schema, dialect="postgres", refinements=["before"], round=2)
    assert decided == json.loads(json.dumps(expected.as_dict()))


def test_the_state_travels_with_the_caller_until_the_last_round(live: LiveService) -> None:
    state: dict[str, Any] = {"round": 1, "refinements": []}
    outcomes = []
    while state["round"] is not None:
        decided = decide(live, candidates=PARTED, **state)
        outcomes.append(decided["outcome"])
        state = {"round": decided["next_round"], "refinements": decided["next_refinements"]}
    assert outcomes == ["disagreement", "disagreement", "unresolved"]
    assert decided["unresolved"]
    assert decided["record"]["refinements"] == decided["refinements"] == decided["next_refinements"]


def test_the_context_settles_what_it_describes(live: LiveService) -> None:
    view = {
        "name": "orders",
        "table": "orders",
        "one_row_means": "an order line",
        "dedup_key": ["order_id"],
        "text": "ignored",
    }
    candidates = ["SELECT count(x) FROM orders", "SELECT count(DISTINCT x) FROM orders"]
    assert decide(live, candidates=candidates)["disputes"][0]["settled_by"] is None
    [dispute, *_] = decide(live, candidates=candidates, context={"views": [view], "topics": []})["disputes"]
    assert (dispute["cause"], dispute["settled_by"]) == ("grain_confusion", "orders")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"round": 0}, "/round"),
        ({"round": 4}, "/round"),
        ({"needed": 9}, "/needed"),
        ({"schema": "no table"}, "/schema"),
        ({"candidates": []}, "/candidates"),
        ({"candidates": [1]}, "/candidates/0"),
        ({"candidates": ["SELECT 1"] * 51}, "/candidates"),
        ({"context": {"views": [{}]}}, "/context/views/0/name"),
        ({"refinements": [1]}, "/refinements/0"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_round_that_cannot_be_taken_is_refused_with_a_pointer(
    live: LiveService, change: dict[str, Any], pointer: str
) -> None:
    answer = live.as_("review-bot").post("/v1/consensus/rounds", json={"candidates": PARTED, **change})
    assert answer.status_code == 422, answer.text
    assert pointer in errors_of(answer)


def test_a_round_that_is_no_json_is_refused(live: LiveService) -> None:
    for text in ("{", "[" * 10_000, '{"candidates": []} x'):
        answer = live.as_("review-bot").post(
            "/v1/consensus/rounds", content=text, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 400, answer.text
