"""What a stranger sees: rows that are designated now, in exactly the public columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg

from app.agreements.table import COLUMNS
from tests.support import a_record

if TYPE_CHECKING:
    from tests.support import LiveService

# The design's list, written out: a column that is added to the table or to the model must be added here by hand.
PUBLIC = {
    "created_at", "lane", "risk_tier", "guardrail_verdict", "guardrail_confidence", "human_verdict", "agreement",
    "post_merge_outcome", "property", "workflow_slug", "phase", "artifact_ref",
}  # fmt: skip
SECRET = {
    "project_id": "6f9619ff-8b86-d011-b42d-00c04fc964ff",
    "decision_id": "canary-decision",
    "pr_id": "canary-pr",
    "agent_id": "canary-agent",
    "guardrail_checks": {"canary": "canary-checks"},
}


def everything(service: LiveService) -> str:
    stranger = service.as_(None)
    return stranger.get("/v1/public/agreements").text + stranger.get("/v1/public/lanes").text


def a_full_row(service: LiveService) -> dict[str, Any]:
    service.designate("storefront")
    row = (
        service.as_("review-bot")
        .post("/v1/agreements", json=a_record(**SECRET, property="storefront", lane="public-lane", artifact_ref="ref"))
        .json()
    )
    fill = {"human_verdict": "revise", "human_reason": "canary-reason", "agreement": "true_pass", "human_review_latency": 77.125,
            "reviewed_by": "canary-human", "proposal_to_merge_diff": {"canary": "canary-diff"}, "merged_at": "2026-01-01T00:00:00Z",
            "post_merge_outcome": "held"}  # fmt: skip
    filled = service.as_("root").patch(f"/v1/agreements/{row['id']}", json=fill)
    assert filled.status_code == 200, filled.text
    corrected = service.as_("root").post(
        f"/v1/agreements/{row['id']}/corrections", json={"reason": "canary-correction", "agreement": "false_pass"}
    )
    result: dict[str, Any] = corrected.json()
    return result


def test_public_answers_have_exactly_the_public_columns(service: LiveService) -> None:
    row = a_full_row(service)
    [item] = service.as_(None).get("/v1/public/agreements").json()["items"]
    assert item == {name: row[name] for name in PUBLIC}
    text = everything(service)
    for name in COLUMNS:
        if name not in PUBLIC:
            value = row[name]
            assert value is None or isinstance(value, int) or str(value) not in text, name
    assert "canary" not in text
    assert "77.125" not in text
    assert row["supersedes"] not in text


def test_a_column_that_is_added_tomorrow_is_not_published(service: LiveService, owner_url: str) -> None:
    before = a_full_row(service)
    with psycopg.connect(owner_url, autocommit=True) as owner:
        owner.execute("ALTER TABLE agreements ADD COLUMN margin_note text DEFAULT 'canary-note'")
    assert "canary" not in everything(service)
    assert service.as_("dashboard").get(f"/v1/agreements/{before['id']}").json() == before


def test_rows_without_a_designated_property_are_not_published(service: LiveService) -> None:
    service.designate("storefront", "search")
    for lane, name in (("shown", "storefront"), ("hidden", "search"), ("bare", None)):
        body = a_record(lane=lane, property=name) if name else a_record(lane=lane)
        service.as_("review-bot").post("/v1/agreements", json=body)
    service.designate("storefront")
    text = everything(service)
    assert "shown" in text
    assert not any(word in text for word in ("hidden", "search", "bare"))


def test_a_property_taken_off_the_list_is_gone_at_the_next_request(service: LiveService) -> None:
    service.designate("storefront", "search")
    for number in range(3):
        service.recorded(property="search", lane="search-lane", decision_id=str(number))
    stranger = service.as_(None)
    page = stranger.get("/v1/public/agreements", params={"limit": 1}).json()
    for _ in range(20):
        assert "search" in everything(service)
        service.designate("storefront", "kearch")  # as long as before: neither size nor time need differ
        assert "search" not in everything(service)
        for query in ({"property": "search"}, {"lane": "search-lane"}):
            assert stranger.get("/v1/public/agreements", params=query).json()["items"] == []
        answer = stranger.get("/v1/public/agreements", params={"limit": 1, "cursor": page["next_cursor"]})
        assert answer.json() == {"items": [], "next_cursor": None}
        service.designate("storefront", "search")
    service.settings.designations_file.unlink()
    assert json.loads(stranger.get("/v1/public/agreements").text)["items"] == []
    assert stranger.get("/v1/public/lanes").json()["lanes"] == []
    assert "search" not in stranger.get("/metrics").text


def test_public_rates_are_computed_from_publishable_rows_alone(service: LiveService) -> None:
    service.designate("storefront", "search")
    for name, agreement in (("storefront", "true_pass"), ("search", "false_pass"), (None, "false_pass")):
        row = service.recorded(lane="shared", **({"property": name} if name else {}))
        service.as_("ada").patch(f"/v1/agreements/{row['id']}", json={"human_verdict": "merge", "agreement": agreement})
    service.designate("storefront")
    answer = service.as_(None).get("/v1/public/lanes").json()
    [tier] = answer["lanes"]
    assert (answer["rows_read"], tier["rows"], tier["true_pass"], tier["false_pass"]) == (1, 1, 1, 0)
    [whole] = service.as_("dashboard").get("/v1/lanes/shared").json()["lanes"]
    assert (whole["rows"], whole["false_pass"]) == (3, 2)


def test_a_public_error_names_no_property(service: LiveService) -> None:
    stranger = service.as_(None)
    for query in ({"property": "canary\x01"}, {"since": "canary"}, {"canary": "1"}, {"cursor": "canary"}):
        answer = stranger.get("/v1/public/agreements", params=query)
        assert answer.status_code == 422
        assert "canary" not in answer.json()["detail"]
        assert "canary" not in json.dumps([item["detail"] for item in answer.json()["errors"]])
