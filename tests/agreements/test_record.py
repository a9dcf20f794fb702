"""Recording one guardrail verdict, and a batch of them."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import a_record, errors_of

if TYPE_CHECKING:
    from tests.support import LiveService


def count(service: LiveService) -> int:
    return len(service.as_("dashboard").get("/v1/agreements").json()["items"])


def test_a_row_is_answered_as_it_is_stored(service: LiveService) -> None:
    body = a_record(
        guardrail_confidence=0.875,
        guardrail_checks={"checks": [{"name": "lint", "ok": True, "took": 1.50}], "proposal": "pr://7"},
        pr_id="7",
        workflow_slug="weekly",
        phase="build",
        artifact_ref="s3://bucket/a b",
        project_id=str(uuid.uuid4()),
        id=str(uuid.uuid4()),
    )
    answer = service.as_("review-bot").post("/v1/agreements", json=body)
    assert answer.status_code == 201, answer.text
    row = answer.json()
    assert {name: row[name] for name in body} == body
    assert row["recorded_by"] == "review-bot"
    assert row["revision"] == 1
    assert row["agreement"] is None
    assert answer.headers["location"] == f"/v1/agreements/{row['id']}"
    assert service.as_("dashboard").get(answer.headers["location"]).json() == row


def test_every_digit_of_a_number_is_kept(service: LiveService) -> None:
    text = '{"decision_id":"d","lane":"l","risk_tier":"t","agent_id":"a","guardrail_verdict":"pass","guardrail_confidence":0.123456789012345678901234567890,"guardrail_checks":{"n":12345678901234567890.10,"big":123456789012345678901234}}'
    client = service.as_("review-bot")
    answer = client.post("/v1/agreements", content=text, headers={"Content-Type": "application/json"})
    assert answer.status_code == 201
    for shown in (
        answer.text,
        client.post("/v1/agreements", content=text, headers={"Content-Type": "application/json"}).text,
    ):
        assert "0.123456789012345678901234567890" in shown
        assert "12345678901234567890.10" in shown
        assert "123456789012345678901234" in shown


@pytest.mark.parametrize(
    "text", ["  padded ", "MiXeD", "e\u0301 vs \u00e9", "\u202eright to left", "emoji 🦜", "a'b\"c\\d%s"]
)
def test_text_is_stored_as_it_was_sent(service: LiveService, text: str) -> None:
    row = service.recorded(lane=text, phase=text, guardrail_checks={text: text})
    assert (row["lane"], row["phase"], row["guardrail_checks"]) == (text, text, {text: text})


def test_the_same_decision_again_is_answered_with_the_first_row(service: LiveService) -> None:
    body = a_record(guardrail_confidence=0.5, guardrail_checks={"b": 1, "a": [1.0]})
    first = service.as_("review-bot").post("/v1/agreements", json=body)
    # however much later: filled, corrected, and spelled otherwise
    address = first.headers["location"]
    filled = service.as_("root").patch(address, json={"pr_id": "9", "human_verdict": "merge"})
    corrected = service.as_("root").post(f"{address}/corrections", json={"reason": "r", "human_verdict": "reject"})
    again = service.as_("review-bot").post(
        "/v1/agreements", json={**body, "guardrail_confidence": 0.50, "guardrail_checks": {"a": [1], "b": 1}}
    )
    assert (first.status_code, filled.status_code, corrected.status_code, again.status_code) == (201, 200, 201, 200)
    assert again.json() == filled.json()
    assert again.headers["location"] == address


OTHER_CONTENT = {
    "lane": "other", "risk_tier": "high", "agent_id": "agent-8", "guardrail_verdict": "fail", "guardrail_confidence": 0.25,
    "guardrail_checks": {"other": 1}, "workflow_slug": "other", "phase": "other", "artifact_ref": "other", "pr_id": "8",
}  # fmt: skip


@pytest.mark.parametrize("field", OTHER_CONTENT)
def test_the_same_decision_with_other_content_names_the_differing_field(service: LiveService, field: str) -> None:
    body = a_record(pr_id="7")
    service.as_("review-bot").post("/v1/agreements", json=body)
    answer = service.as_("review-bot").post("/v1/agreements", json={**body, field: OTHER_CONTENT[field]})
    assert answer.status_code == 409
    assert set(errors_of(answer)) == {f"/{field}"}
    assert count(service) == 1


def test_a_decision_is_its_project_s(service: LiveService) -> None:
    projects = [None, str(uuid.uuid4()), str(uuid.uuid4())]
    ids = {service.recorded(decision_id="same", project_id=project)["id"] for project in projects}
    assert len(ids) == 3


def test_an_id_of_another_decision_is_refused(service: LiveService) -> None:
    row = service.recorded()
    answer = service.as_("review-bot").post("/v1/agreements", json=a_record(id=row["id"]))
    assert answer.status_code == 409
    assert set(errors_of(answer)) == {"/id"}
    again = a_record(decision_id=row["decision_id"], id=str(uuid.uuid4()))
    assert set(errors_of(service.as_("review-bot").post("/v1/agreements", json=again))) == {"/id"}


def test_who_acts_comes_from_the_token(service: LiveService) -> None:
    for field in ("recorded_by", "human_verdict", "agreement", "reviewed_by", "outcome_by", "revision", "supersedes"):
        answer = service.as_("review-bot").post("/v1/agreements", json=a_record(**{field: "x"}))
        assert answer.status_code == 422
        assert set(errors_of(answer)) == {f"/{field}"}
    assert count(service) == 0


def test_a_past_time_needs_the_scope_import(service: LiveService) -> None:
    past = "2026-01-31T23:59:59.123456+05:30"
    refused = service.as_("review-bot").post("/v1/agreements", json=a_record(created_at=past))
    assert refused.status_code == 403
    taken = service.as_("importer").post("/v1/agreements", json=a_record(created_at=past))
    assert taken.status_code == 201
    assert datetime.fromisoformat(taken.json()["created_at"]) == datetime.fromisoformat(past)


def test_nobody_sets_a_future_time(service: LiveService) -> None:
    future = (datetime.now(UTC) + timedelta(minutes=1)).isoformat()
    answer = service.as_("importer").post("/v1/agreements", json=a_record(created_at=future))
    assert answer.status_code == 422
    assert set(errors_of(answer)) == {"/created_at"}


def batch(service: LiveService, rows: list[dict[str, Any]], role: str = "review-bot") -> Any:
    return service.as_(role).post("/v1/agreements/batch", json={"rows": rows})


def test_a_batch_is_answered_in_its_order(service: LiveService) -> None:
    rows = [a_record(decision_id=f"d{number}") for number in (3, 1, 2)]
    first = batch(service, rows[:2])
    assert first.status_code == 201
    second = batch(service, [*rows, rows[0]])
    assert second.status_code == 201
    assert [one["created"] for one in second.json()["rows"]] == [False, False, True, False]
    assert [one["row"]["decision_id"] for one in second.json()["rows"]] == ["d3", "d1", "d2", "d3"]
    assert batch(service, rows).status_code == 200
    single = service.as_("review-bot").post("/v1/agreements", json=rows[1])
    assert single.json() == first.json()["rows"][1]["row"]


def test_a_batch_is_all_or_nothing_and_names_each_bad_row(service: LiveService) -> None:
    service.recorded(decision_id="taken", lane="first")
    rows = [a_record() for _ in range(6)]
    rows[1]["guardrail_verdict"] = "maybe"
    rows[4]["guardrail_confidence"] = 2
    answer = batch(service, rows)
    assert answer.status_code == 422
    assert set(errors_of(answer)) == {"/rows/1/guardrail_verdict", "/rows/4/guardrail_confidence"}
    conflict = batch(service, [a_record(), a_record(decision_id="taken", lane="second")])
    assert conflict.status_code == 409
    assert set(errors_of(conflict)) == {"/rows/1/lane"}
    twice = batch(service, [a_record(decision_id="twice", lane="a"), a_record(decision_id="twice", lane="b")])
    assert twice.status_code == 409
    assert count(service) == 1


def test_a_batch_has_a_limit(service: LiveService) -> None:
    assert batch(service, [a_record(decision_id=f"d{n}") for n in range(1000)]).status_code == 201
    assert batch(service, [a_record() for _ in range(1001)]).status_code == 422
    assert batch(service, []).status_code == 422


def test_a_property_that_is_not_designated_is_refused_and_not_named(
    service: LiveService, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    service.designate("storefront")
    canary = "secret-property-canary"
    for refused in (
        service.as_("review-bot").post("/v1/agreements", json=a_record(property=canary)),
        batch(service, [a_record(property="storefront"), a_record(property=canary)]),
    ):
        assert refused.status_code == 403
        assert canary not in refused.text
    assert count(service) == 0
    assert canary not in service.as_(None).get("/metrics").text
    logged = [str(vars(record)) for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    assert any("agreement_log" in line for line in logged)
    assert canary not in "".join(logged)
    assert service.recorded(property="storefront")["property"] == "storefront"


def test_a_missing_or_broken_list_designates_nothing(service: LiveService) -> None:
    client, body = service.as_("review-bot"), a_record(property="storefront")
    assert client.post("/v1/agreements", json=body).status_code == 403
    for content in (b"properties = [", b"properties = 'storefront'", b"\xff\xfe", b"", b"[[properties]]\n"):
        service.settings.designations_file.write_bytes(content)
        assert client.post("/v1/agreements", json=body).status_code == 403
    service.designate("storefront")
    assert client.post("/v1/agreements", json=body).status_code == 201
