"""Corrections append: what was written stays, and history is one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from app.agreements.table import COLUMNS
from tests.support import errors_of

if TYPE_CHECKING:
    import httpx

    from tests.support import LiveService

FROZEN = {
    "id": "x", "project_id": "x", "decision_id": "x", "lane": "x", "risk_tier": "x", "agent_id": "x", "property": "x",
    "guardrail_verdict": "fail", "guardrail_confidence": 0.1, "guardrail_checks": {}, "workflow_slug": "x", "phase": "x",
    "artifact_ref": "x", "created_at": "2026-01-01T00:00:00Z", "recorded_by": "x", "outcome_by": "x", "revision": 3,
    "supersedes": "x", "revised_at": "2026-01-01T00:00:00Z", "revision_reason": "x",
}  # fmt: skip


def correct(service: LiveService, row: dict[str, Any], role: str = "grace", **body: Any) -> httpx.Response:
    return service.as_(role).post(f"/v1/agreements/{row['id']}/corrections", json={"reason": "misread", **body})


def test_a_correction_is_a_full_copy_with_the_change(service: LiveService) -> None:
    row = service.reviewed(human_review_latency=3.25)
    answer = correct(service, row, agreement="false_pass")
    assert answer.status_code == 201
    new = answer.json()
    changed = {name for name in COLUMNS if new[name] != row[name]}
    assert changed == {
        "id", "agreement", "reviewed_by", "reviewed_at", "recorded_by", "revision", "supersedes", "revised_at", "revision_reason",
    }  # fmt: skip
    assert (new["supersedes"], new["revision"], new["revision_reason"]) == (row["id"], 2, "misread")
    assert (new["reviewed_by"], new["recorded_by"]) == ("grace", "grace")
    assert service.as_("dashboard").get(f"/v1/agreements/{row['id']}").json() == row
    for address in (row["id"], new["id"]):
        history = service.as_("dashboard").get(f"/v1/agreements/{address}/history").json()
        assert history == {"items": [row, new]}
    assert service.as_("dashboard").get("/v1/agreements").json()["items"] == [new]


def test_a_correction_of_one_group_leaves_the_others_authors(service: LiveService) -> None:
    row = service.reviewed()
    row = service.as_("verifier").patch(f"/v1/agreements/{row['id']}", json={"post_merge_outcome": "held"}).json()
    new = correct(service, row, post_merge_outcome="regressed", human_review_latency=9).json()
    assert (new["reviewed_by"], new["reviewed_at"]) == ("ada", row["reviewed_at"])
    assert new["outcome_by"] == "grace"
    merged = correct(service, new, pr_id="99").json()
    assert (merged["outcome_by"], merged["outcome_at"]) == ("grace", new["outcome_at"])


def test_a_value_can_be_taken_away(service: LiveService) -> None:
    row = service.reviewed()
    row = service.as_("verifier").patch(f"/v1/agreements/{row['id']}", json={"post_merge_outcome": "held"}).json()
    new = correct(service, row, post_merge_outcome=None).json()
    assert (new["post_merge_outcome"], new["outcome_by"], new["outcome_at"]) == (None, None, None)
    bare = correct(service, new, human_verdict=None, agreement=None).json()
    assert (bare["human_verdict"], bare["agreement"], bare["reviewed_by"], bare["reviewed_at"]) == (
        None,
        None,
        None,
        None,
    )
    again = service.as_("ada").patch(f"/v1/agreements/{bare['id']}", json={"human_verdict": "reject"})
    assert again.status_code == 200


@pytest.mark.parametrize("field", FROZEN)
def test_what_was_proposed_is_never_corrected(service: LiveService, field: str) -> None:
    row = service.reviewed()
    answer = correct(service, row, **{field: FROZEN[field]})
    assert answer.status_code == 422
    assert set(errors_of(answer)) == {f"/{field}"}


@pytest.mark.parametrize(
    "body",
    [
        {"reason": " ", "agreement": "false_pass"},
        {"reason": None, "agreement": "false_pass"},
        {"reason": "nothing differs", "agreement": "true_pass"},
        {"reason": "no field"},
        {"reason": "r", "human_verdict": "waive"},
        {"reason": "r", "human_verdict": None},
        {"reason": "r", "human_verdict": "reject", "post_merge_outcome": "held"},
        {"reason": "r", "reviewed_by": "agent-7"},
    ],
    ids=str,
)
def test_a_correction_that_breaks_a_rule_is_refused(service: LiveService, body: dict[str, Any]) -> None:
    row = service.reviewed()
    assert correct(service, row, **body).status_code == 422
    assert len(service.as_("dashboard").get(f"/v1/agreements/{row['id']}/history").json()["items"]) == 1


def test_a_correction_without_a_reason_is_refused(service: LiveService) -> None:
    row = service.reviewed()
    answer = service.as_("grace").post(f"/v1/agreements/{row['id']}/corrections", json={"agreement": "false_pass"})
    assert set(errors_of(answer)) == {"/reason"}


def test_a_superseded_row_points_at_the_current_one(service: LiveService) -> None:
    row = service.reviewed()
    second = correct(service, row, agreement="false_pass").json()
    third = correct(service, second, agreement="true_fail").json()
    for late in (correct(service, row, agreement="true_fail"), correct(service, second, pr_id="1")):
        assert late.status_code == 409
        assert late.json()["current"] == f"/v1/agreements/{third['id']}"
        assert late.headers["location"] == late.json()["current"]
