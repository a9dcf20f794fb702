"""Filling the review, merge and outcome groups: once, by whom the token says, with what the human authored."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

import pytest

from app.agreements.schemas import AgreementKind, GuardrailVerdict, HumanVerdict
from tests.support import errors_of

if TYPE_CHECKING:
    import httpx

    from tests.support import LiveService


def patch(service: LiveService, role: str, row: dict[str, Any], **body: Any) -> httpx.Response:
    return service.as_(role).patch(f"/v1/agreements/{row['id']}", json=body)


@pytest.mark.parametrize(
    ("guardrail", "human", "agreement"),
    list(itertools.product(get_args(GuardrailVerdict), get_args(HumanVerdict), get_args(AgreementKind))),
)
def test_every_combination_is_stored_as_authored(
    service: LiveService, guardrail: str, human: str, agreement: str
) -> None:
    row = service.recorded(guardrail_verdict=guardrail)
    answer = patch(service, "ada", row, human_verdict=human, agreement=agreement, human_reason="seen")
    assert answer.status_code == 200
    stored = service.as_("dashboard").get(f"/v1/agreements/{row['id']}").json()
    assert (stored["guardrail_verdict"], stored["human_verdict"], stored["agreement"]) == (guardrail, human, agreement)
    assert bool(stored["warnings"]) is (not agreement.endswith(guardrail))
    assert stored["reviewed_by"] == "ada"


def test_no_agreement_is_computed_from_the_verdicts(service: LiveService) -> None:
    row = service.recorded()
    answer = patch(service, "ada", row, human_verdict="merge")
    assert answer.json()["agreement"] is None
    assert patch(service, "ada", row, agreement="false_pass").json()["agreement"] == "false_pass"


def test_the_same_value_again_changes_nothing(service: LiveService) -> None:
    row = service.recorded()
    body = {"human_verdict": "merge", "agreement": "true_pass", "human_review_latency": 12.5}
    first = patch(service, "ada", row, **body)
    for role in ("ada", "grace"):
        again = patch(service, role, row, **body)
        assert (again.status_code, again.json()) == (200, first.json())


@pytest.mark.parametrize(
    ("field", "first", "second"),
    [
        ("human_verdict", "merge", "reject"),
        ("human_reason", "a", "b"),
        ("agreement", "true_pass", "false_pass"),
        ("human_review_latency", 1, 2),
        ("pr_id", "1", "2"),
        ("merged_at", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
        ("proposal_to_merge_diff", {"a": 1}, {"a": 2}),
        ("reviewed_by", "somebody", "somebody else"),
    ],
)
def test_another_value_names_the_field_and_the_corrections_call(
    service: LiveService, field: str, first: Any, second: Any
) -> None:
    row = service.recorded()
    stored = patch(service, "root", row, **{"human_verdict": "merge", field: first}).json()
    answer = patch(service, "root", row, **{field: second})
    assert answer.status_code == 409
    assert set(errors_of(answer)) == {f"/{field}"}
    assert answer.json()["corrections"] == f"/v1/agreements/{row['id']}/corrections"
    assert service.as_("dashboard").get(f"/v1/agreements/{row['id']}").json() == stored


def test_a_conflict_in_one_field_writes_none_of_the_others(service: LiveService) -> None:
    row = service.recorded()
    patch(service, "root", row, human_verdict="merge")
    answer = patch(service, "root", row, human_verdict="reject", agreement="true_pass", pr_id="7")
    assert answer.status_code == 409
    stored = service.as_("dashboard").get(f"/v1/agreements/{row['id']}").json()
    assert (stored["agreement"], stored["pr_id"]) == (None, None)


def test_a_second_reviewers_word_is_not_filed_under_the_firsts_name(service: LiveService) -> None:
    row = service.recorded()
    patch(service, "ada", row, human_verdict="merge")
    answer = patch(service, "grace", row, agreement="true_pass")
    assert answer.status_code == 409
    assert set(errors_of(answer)) == {"/reviewed_by"}
    assert patch(service, "ada", row, agreement="true_pass").status_code == 200


def test_a_relayed_human_is_named(service: LiveService) -> None:
    row = service.recorded()
    answer = patch(service, "ada", row, human_verdict="merge", agreement="true_pass", reviewed_by="Katherine J.")
    assert answer.json()["reviewed_by"] == "Katherine J."


def test_an_agent_never_authors_a_review(service: LiveService) -> None:
    row = service.recorded(agent_id="somebody-else")
    answer = patch(service, "agent-7", row, human_verdict="merge", agreement="true_pass")
    assert answer.status_code == 403
    correction = {"reason": "r", "agreement": "true_pass"}
    assert service.as_("agent-7").post(f"/v1/agreements/{row['id']}/corrections", json=correction).status_code == 403
    assert patch(service, "agent-7", row, pr_id="7").status_code == 200


def test_the_reviewer_is_never_the_rows_own_agent(service: LiveService) -> None:
    row = service.recorded(agent_id="ada")
    assert set(errors_of(patch(service, "ada", row, human_verdict="merge"))) == {"/reviewed_by"}
    other = service.recorded(agent_id="agent-9")
    assert patch(service, "ada", other, human_verdict="merge", reviewed_by="agent-9").status_code == 422
    assert patch(service, "ada", other, human_verdict="merge").status_code == 200


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({"human_verdict": "revise"}, ["/human_reason"]),
        ({"human_verdict": "waive"}, ["/agreement", "/human_reason"]),
        ({"human_verdict": "waive", "agreement": "true_pass"}, ["/human_reason"]),
        ({"human_verdict": "waive", "human_reason": "urgent"}, ["/agreement"]),
        ({"human_verdict": "revise", "human_reason": " \u00a0\n"}, ["/human_reason"]),
        ({"agreement": "true_pass"}, ["/human_verdict"]),
        ({"reviewed_by": "ada"}, ["/human_verdict"]),
        ({"human_verdict": "reject", "post_merge_outcome": "held"}, ["/post_merge_outcome"]),
        ({}, [""]),
        ({"human_verdict": None}, [""]),
        ({"post_merge_outcome": ""}, ["/post_merge_outcome"]),
        ({"human_review_latency": -1}, ["/human_review_latency"]),
        ({"lane": "other"}, ["/lane"]),
        ({"outcome_by": "me"}, ["/outcome_by"]),
        ({"outcome_at": "2026-01-01T00:00:00Z"}, ["/post_merge_outcome"]),
    ],
    ids=str,
)
def test_a_fill_that_breaks_a_rule_is_told_where(
    service: LiveService, body: dict[str, Any], pointers: list[str]
) -> None:
    row = service.recorded()
    answer = patch(service, "root", row, **body)
    assert answer.status_code == 422, answer.text
    assert sorted(errors_of(answer)) == pointers
    assert service.as_("dashboard").get(f"/v1/agreements/{row['id']}").json() == row


def test_a_reason_may_have_several_lines(service: LiveService) -> None:
    reason = "first\n\tsecond \u2028 third"
    assert service.reviewed(human_verdict="revise", human_reason=reason)["human_reason"] == reason


def test_each_group_needs_its_scope(service: LiveService) -> None:
    fields = {"review": {"human_verdict": "merge"}, "record": {"pr_id": "7"}, "outcome": {"post_merge_outcome": "held"}}
    roles = {"review": "ada", "record": "review-bot", "outcome": "verifier"}
    for scope, body in fields.items():
        for other, role in roles.items():
            answer = patch(service, role, service.recorded(), **body)
            assert answer.status_code == (200 if other == scope else 403), (scope, role)


def test_times_of_the_log_s_clock_need_the_scope_import(service: LiveService) -> None:
    past = "2026-02-01T00:00:00Z"
    for role in ("root", "importer"):
        row = service.recorded()
        answer = patch(service, role, row, human_verdict="merge", reviewed_at=past)
        assert answer.status_code == 200
        assert answer.json()["reviewed_at"] == past
    assert patch(service, "ada", service.recorded(), human_verdict="merge", reviewed_at=past).status_code == 403
    before = datetime.now(UTC)
    stamped = patch(service, "ada", service.recorded(), human_verdict="merge").json()["reviewed_at"]
    assert before <= datetime.fromisoformat(stamped) <= datetime.now(UTC)


def test_an_outcome_is_filled_and_attributed(service: LiveService) -> None:
    row = service.reviewed()
    answer = patch(service, "verifier", row, post_merge_outcome="held")
    assert answer.status_code == 200
    stored = answer.json()
    assert (stored["id"], stored["post_merge_outcome"], stored["outcome_by"]) == (row["id"], "held", "verifier")
    assert stored["outcome_at"] is not None
    assert patch(service, "verifier", row, post_merge_outcome="held").json() == stored


def test_a_later_outcome_appends_a_revision_by_itself(service: LiveService) -> None:
    row = service.reviewed()
    held = patch(service, "verifier", row, post_merge_outcome="held").json()
    answer = patch(service, "root", row, post_merge_outcome="regressed")
    assert answer.status_code == 200
    new = answer.json()
    assert (new["supersedes"], new["revision"], new["post_merge_outcome"]) == (row["id"], 2, "regressed")
    assert (new["outcome_by"], new["recorded_by"], new["reviewed_by"]) == ("root", "root", "ada")
    assert new["created_at"] == row["created_at"]
    assert new["outcome_at"] > held["outcome_at"]
    assert answer.headers["content-location"] == f"/v1/agreements/{new['id']}"
    assert service.as_("dashboard").get(f"/v1/agreements/{row['id']}").json() == held
    late = patch(service, "verifier", row, post_merge_outcome="held")
    assert late.status_code == 409
    assert late.json()["current"] == f"/v1/agreements/{new['id']}"


def test_an_unknown_id_is_not_found(service: LiveService) -> None:
    missing = {"id": "00000000-0000-0000-0000-000000000000"}
    assert patch(service, "root", missing, pr_id="7").status_code == 404
    assert service.as_("root").get(f"/v1/agreements/{missing['id']}").status_code == 404
    assert service.as_("root").get(f"/v1/agreements/{missing['id']}/history").status_code == 404
    answer = service.as_("root").post(f"/v1/agreements/{missing['id']}/corrections", json={"reason": "r", "pr_id": "7"})
    assert answer.status_code == 404
    assert service.as_("root").get("/v1/agreements/not-a-uuid").status_code == 422
