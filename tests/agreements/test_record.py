"""Recording one guardrail verdict."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from tests.support import a_record, errors_of

if TYPE_CHECKING:
    from tests.support import LiveService


def test_a_row_is_answered_as_it_is_stored(service: LiveService) -> None:
    body = a_record(
        guardrail_confidence=0.875,
        guardrail_checks={"checks": [{"name": "lint", "ok": True, "took": 1.50}], "proposal": "pr://7"},
        pr_id="7",
        workflow_slug="weekly",
        phase="build",
        artifact_ref="s3://bucket/a b",
        project_id=str(uuid.uuid4()),
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


def test_the_same_decision_again_is_answered_with_the_first_row(service: LiveService) -> None:
    body = a_record(guardrail_confidence=0.5)
    first = service.as_("review-bot").post("/v1/agreements", json=body)
    again = service.as_("review-bot").post("/v1/agreements", json=body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()


def test_the_same_decision_with_other_content_names_the_differing_fields(service: LiveService) -> None:
    body = a_record(guardrail_confidence=0.5)
    service.as_("review-bot").post("/v1/agreements", json=body)
    other = {**body, "lane": "sql-metrics", "guardrail_confidence": 0.25}
    answer = service.as_("review-bot").post("/v1/agreements", json=other)
    assert answer.status_code == 409
    assert set(errors_of(answer)) == {"/lane", "/guardrail_confidence"}
