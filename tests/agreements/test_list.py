"""Lists: filters, and pages that stay stable while rows arrive and are corrected."""

from __future__ import annotations

import base64
import itertools
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import a_record, errors_of

if TYPE_CHECKING:
    from tests.support import LiveService


def listed(service: LiveService, **query: Any) -> list[dict[str, Any]]:
    answer = service.as_("dashboard").get("/v1/agreements", params=query)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


@pytest.mark.parametrize("call", ["/v1/agreements", "/v1/public/agreements"])
def test_pages_with_writes_between_them_repeat_and_skip_nothing(service: LiveService, call: str) -> None:
    service.designate("storefront")
    # one batch, so that all rows share one created_at
    rows = [
        a_record(decision_id=f"d{number:02}", artifact_ref=f"d{number:02}", property="storefront")
        for number in range(40)
    ]
    stored = service.as_("root").post("/v1/agreements/batch", json={"rows": rows}).json()["rows"]
    ids = {one["row"]["artifact_ref"]: one["row"]["id"] for one in stored}
    seen: list[str] = []
    query: dict[str, Any] = {"limit": 7}
    for step in itertools.count():
        page = service.as_("dashboard").get(call, params=query).json()
        seen += [item["artifact_ref"] for item in page["items"]]
        # between two pages: a new row, and corrections of rows that were seen and of rows that were not
        service.recorded(artifact_ref=f"new{step}", property="storefront")
        for name in {seen[0], seen[-1], next((name for name in ids if name not in seen), seen[0])}:
            body = {"reason": "r", "pr_id": f"{step}-{name}"}
            corrected = service.as_("root").post(f"/v1/agreements/{ids[name]}/corrections", json=body)
            assert corrected.status_code == 201
            ids[name] = corrected.json()["id"]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert sorted(seen) == sorted(ids)


def test_the_newest_comes_first(service: LiveService) -> None:
    ids = [service.recorded()["id"] for _ in range(5)]
    assert [row["id"] for row in listed(service)] == ids[::-1]


def test_each_filter_narrows_the_list(service: LiveService) -> None:
    service.designate("storefront")
    project = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
    body = a_record(lane="a lane", risk_tier="high", agent_id="agent-9", property="storefront", project_id=project,
                    guardrail_verdict="fail")  # fmt: skip
    row = service.as_("root").post("/v1/agreements", json=body).json()
    review = {"human_verdict": "merge", "agreement": "false_fail", "post_merge_outcome": "held"}
    row = service.as_("root").patch(f"/v1/agreements/{row['id']}", json=review).json()
    service.recorded()
    filters = {**{name: row[name] for name in (
        "lane", "risk_tier", "agent_id", "project_id", "decision_id", "property", "guardrail_verdict", "human_verdict",
        "agreement", "post_merge_outcome")}}  # fmt: skip
    for name, value in filters.items():
        assert listed(service, **{name: value}) == [row], name
    assert listed(service, **filters) == [row]
    assert listed(service, **filters | {"lane": "A lane"}) == []


def test_rows_that_await_something(service: LiveService) -> None:
    bare, verdict_only = service.recorded(), service.recorded()
    verdict_only = (
        service.as_("ada").patch(f"/v1/agreements/{verdict_only['id']}", json={"human_verdict": "merge"}).json()
    )
    merged, rejected = service.reviewed(), service.reviewed(human_verdict="reject")
    waived = service.reviewed(human_verdict="waive", human_reason="urgent")
    revised = service.reviewed(human_verdict="revise", human_reason="again")
    done = service.reviewed()
    service.as_("verifier").patch(f"/v1/agreements/{done['id']}", json={"post_merge_outcome": "held"})
    assert {row["id"] for row in listed(service, awaiting="review")} == {bare["id"], verdict_only["id"]}
    assert {row["id"] for row in listed(service, awaiting="outcome")} == {
        verdict_only["id"],
        merged["id"],
        waived["id"],
    }
    assert rejected["id"] not in {row["id"] for row in listed(service, awaiting="outcome")}
    assert revised["id"] not in {row["id"] for row in listed(service, awaiting="outcome")}


def test_a_window_has_its_start_inside_and_its_end_outside(service: LiveService) -> None:
    base = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    for hours in range(4):
        moment = (base + timedelta(hours=hours)).astimezone().isoformat()
        body = a_record(decision_id=str(hours), created_at=moment)
        assert service.as_("importer").post("/v1/agreements", json=body).status_code == 201
    window = {"since": "2026-03-29T04:30:00+02:00", "until": "2026-03-29T00:30:00-04:00"}
    assert [row["decision_id"] for row in listed(service, **window)] == ["2", "1"]


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-01-31T09:30:00+14:00", "2026-01-30T19:30:00Z"),
        ("2026-01-31T09:30:00-12:00", "2026-01-31T21:30:00Z"),
        ("2026-01-31t09:30:00.5z", "2026-01-31T09:30:00.500000Z"),
        ("2026-01-31T09:30:00.123456+00:00", "2026-01-31T09:30:00.123456Z"),
        ("2024-02-29T23:59:59.999999-00:01", "2024-03-01T00:00:59.999999Z"),
        ("1999-12-31T23:00:00+05:45", "1999-12-31T17:15:00Z"),
    ],
)
def test_a_time_comes_back_as_the_same_instant(service: LiveService, text: str, instant: str) -> None:
    body = a_record(created_at=text)
    row = service.as_("importer").post("/v1/agreements", json=body).json()
    assert row["created_at"] == instant
    assert service.as_("importer").post("/v1/agreements", json=body).status_code == 200
    assert [found["id"] for found in listed(service, since=text, until="2030-01-01T00:00:00Z")] == [row["id"]]


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"since": "2026-01-01T00:00:00"}, "since"),
        ({"since": "2026-01-01"}, "since"),
        ({"until": "yesterday"}, "until"),
        ({"since": "1700000000"}, "since"),
        ({"agreement": "maybe"}, "agreement"),
        ({"awaiting": "godot"}, "awaiting"),
        ({"lane": ""}, "lane"),
        ({"lane": "a\x00b"}, "lane"),
        ({"project_id": "x"}, "project_id"),
        ({"order": "asc"}, "order"),
        ({"cursor": "nonsense"}, "cursor"),
        ({"cursor": "é"}, "cursor"),
        ({"cursor": base64.urlsafe_b64encode(b"\x7f" * 32).decode()}, "cursor"),
    ],
    ids=str,
)
def test_a_query_that_cannot_be_read_names_the_parameter(
    service: LiveService, query: dict[str, Any], parameter: str
) -> None:
    answer = service.as_("dashboard").get("/v1/agreements", params=query)
    assert answer.status_code == 422, answer.text
    assert set(errors_of(answer)) == {parameter}


def test_a_cursor_belongs_to_its_filters(service: LiveService) -> None:
    for _ in range(3):
        service.recorded()
    cursor = service.as_("dashboard").get("/v1/agreements", params={"limit": 1}).json()["next_cursor"]
    answer = service.as_("dashboard").get("/v1/agreements", params={"cursor": cursor, "lane": "dependency-bumps"})
    assert set(errors_of(answer)) == {"cursor"}
