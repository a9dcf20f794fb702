"""Evidence over HTTP: the verdict, the row, the second time, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.grading.samples import CONSENSUS, NUMBER, PASSING, REFUSED_RUN, RESULT_SET, STATEMENT, to_record, with_file
from tests.support import LiveService, a_record, errors_of

if TYPE_CHECKING:
    import httpx

ROWS = {"columns": ["id"], "rows": [[n] for n in range(1000)]}
ONE_OFF = {"columns": ["id"], "rows": [[n] for n in range(999)] + [[-1]]}
EMPTY = {"columns": ["id"], "rows": []}
RAGGED = {"columns": ["id"], "rows": [[1], [1, 2]]}

# title: (evidence, score, status, a word of the reason)
FAILING: dict[str, tuple[dict[str, Any], float | None, str, str]] = {
    "one row of a thousand is off": (
        {**RESULT_SET, "golden": ROWS, "generated": ONE_OFF, "golden_sql": "SELECT id FROM t"}, 0.999, "scored", "matched",
    ),
    "the row counts differ": ({**RESULT_SET, "golden": EMPTY}, 0, "scored", "0 golden, 2 generated"),
    "a column is missing": (
        {**RESULT_SET, "generated": {"columns": ["p"], "rows": [[4], [2.5]]}}, 0, "scored", "1 golden columns",
    ),
    "a column is too many": (
        {**RESULT_SET, "generated": {"columns": ["p", "i", "x"], "rows": [[4, 2, 0], [2.5, 1, 0]]}}, 0, "scored", "too many",
    ),
    "both results are empty": ({**RESULT_SET, "golden": EMPTY, "generated": EMPTY}, None, "unscored", "empty"),
    "a row is too wide": ({**RESULT_SET, "generated": RAGGED}, None, "error", "malformed"),
    "no answer key": ({"kind": "result_set", "generated": ROWS}, None, "error", "golden"),
    "no bounds": ({**RESULT_SET, "match": "bounded"}, None, "error", "bounds"),
    "bounds upside down": (
        {**RESULT_SET, "match": "bounded", "bounds": {"min_rows": 3, "max_rows": 2}}, None, "error", "above",
    ),
    "out of bounds": ({**RESULT_SET, "match": "bounded", "bounds": {"min_rows": 3}}, 0, "scored", "bounds"),
    "no row": ({**RESULT_SET, "match": "nonempty", "generated": EMPTY}, 0, "scored", "no row"),
    "another shape": (
        {**RESULT_SET, "match": "shape", "generated": {"columns": ["a", "b"], "rows": [["x", 1], ["y", 2]]}}, 0, "scored", "type",
    ),
    "another number": ({**NUMBER, "actual": 4}, 0, "scored", "mismatch"),
    "no number": ({**NUMBER, "actual": "n/a"}, 0, "scored", "missing_actual"),
    "nothing expected": ({**NUMBER, "expected": None}, 0, "scored", "missing_expected"),
    "no tolerance": ({**NUMBER, "tolerance": "a little"}, None, "error", "tolerance"),
    "a query defect": (with_file("run.json", REFUSED_RUN), 0, "scored", "query_defect"),
    "nothing was run": ({**STATEMENT, "files": {}}, 0, "scored", "unresolved"),
    "a claim that was not made": ({**STATEMENT, "with_claims": True}, 0.5, "scored", "unresolved"),
    "no consensus": ({**CONSENSUS, "candidates": ["SELECT a FROM t", "SELECT b FROM t", "SELECT t.a FROM t"]}, 2 / 3, "scored", "2 of 3"),
    "a candidate that writes": ({**CONSENSUS, "candidates": ["SELECT a FROM t", "DROP TABLE t"]}, 0.5, "scored", "1 of 2"),
    "one candidate alone": ({**CONSENSUS, "candidates": ["SELECT a FROM t"]}, 1, "scored", "1 of 1"),
    "no valid candidate": ({**CONSENSUS, "candidates": ["DROP TABLE t", "("]}, 0, "scored", "0 of 2"),
    "no schema that can be read": ({**CONSENSUS, "schema": "what?"}, None, "error", "schema"),
}  # fmt: skip


def grade(live: LiveService, *evidence: Any, **given: Any) -> dict[str, Any]:
    answer = live.as_("review-bot").post("/v1/grade", json={"evidence": list(evidence), **given})
    assert answer.status_code == 200, answer.text
    return answer.json()


def post(live: LiveService, body: dict[str, Any], path: str = "/v1/agreements") -> httpx.Response:
    return live.as_("review-bot").post(path, json=body)


@pytest.mark.parametrize("kind", PASSING)
def test_evidence_that_holds_passes_with_full_confidence(live: LiveService, kind: str) -> None:
    graded = grade(live, PASSING[kind])
    [check] = graded["guardrail_checks"]["checks"]
    assert (graded["guardrail_verdict"], graded["guardrail_confidence"]) == ("pass", 1)
    assert (check["name"], check["kind"], check["verdict"], check["score"]) == ("evidence/0", kind, "pass", 1)
    assert (check["status"], check["reason"]) == ("scored", None)


@pytest.mark.parametrize("title", FAILING)
def test_evidence_that_does_not_hold_fails_with_its_reason(live: LiveService, title: str) -> None:
    evidence, score, status, word = FAILING[title]
    graded = grade(live, evidence)
    [check] = graded["guardrail_checks"]["checks"]
    assert graded["guardrail_verdict"] == check["verdict"] == "fail"
    assert (
        graded["guardrail_confidence"] == check["score"] == (None if score is None else pytest.approx(score, abs=1e-9))
    )
    assert check["status"] == status
    assert word in check["reason"]


def test_the_weakest_check_decides(live: LiveService) -> None:
    off = {**RESULT_SET, "golden": ROWS, "generated": ONE_OFF, "golden_sql": "SELECT id FROM t"}
    unscored = {**RESULT_SET, "golden": EMPTY, "generated": EMPTY}
    graded = grade(live, *PASSING.values(), off, unscored)
    assert (graded["guardrail_verdict"], graded["guardrail_confidence"]) == ("fail", 0.999)
    assert [check["verdict"] for check in graded["guardrail_checks"]["checks"]] == ["pass"] * 4 + ["fail"] * 2


def test_own_checks_ride_along_and_a_failing_one_fails_the_row(live: LiveService) -> None:
    lint = {"name": "lint", "verdict": "pass", "detail": "no findings"}
    graded = grade(live, NUMBER, checks=[lint], proposal="https://example.org/pr/7")
    assert (graded["guardrail_verdict"], graded["guardrail_confidence"]) == ("pass", 1)
    assert graded["guardrail_checks"]["proposal"] == "https://example.org/pr/7"
    assert graded["guardrail_checks"]["checks"][1] == {
        "name": "lint", "kind": "own", "verdict": "pass", "score": None, "status": "given", "reason": "no findings", "summary": None,
    }  # fmt: skip
    graded = grade(live, NUMBER, checks=[lint, {"name": "types", "verdict": "fail"}])
    assert (graded["guardrail_verdict"], graded["guardrail_confidence"]) == ("fail", 1)


def test_a_row_is_recorded_as_it_is_graded_and_answered_again(live: LiveService) -> None:
    body = to_record(*PASSING.values(), checks=[{"name": "lint", "verdict": "pass"}], proposal="pr://7", lane="graded")
    graded = grade(live, *body["evidence"], checks=body["checks"], proposal="pr://7")
    first = post(live, body)
    assert first.status_code == 201, first.text
    assert {name: first.json()[name] for name in graded} == graded
    checks_made = live.as_(None).get("/metrics").text
    # spelled otherwise, and still the same evidence
    respelled = {**RESULT_SET, "generated": {"rows": [[{"$decimal": "4.0"}, 2], [2.5, 1.0]], "columns": ["p", "i"]}}
    again = post(live, {**body, "evidence": [respelled, *body["evidence"][1:]]})
    assert (again.status_code, again.json()) == (200, first.json())
    count = [line for line in checks_made.splitlines() if line.startswith("agreement_log_gradings_total")]
    assert count
    assert all(line in live.as_(None).get("/metrics").text for line in count), "it was graded again"


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"evidence": [{**NUMBER, "actual": 1}]}, "/evidence"),
        ({"evidence": [NUMBER, NUMBER]}, "/evidence"),
        ({"checks": [{"name": "lint", "verdict": "fail"}]}, "/checks"),
        ({"proposal": "pr://8"}, "/proposal"),
        ({"lane": "other"}, "/lane"),
    ],
    ids=["another number", "one more", "other checks", "another proposal", "another lane"],
)
def test_the_same_decision_with_other_content_is_a_conflict_that_names_it(
    live: LiveService, change: dict[str, Any], pointer: str
) -> None:
    body = to_record(NUMBER, checks=[{"name": "lint", "verdict": "pass"}], proposal="pr://7")
    assert post(live, body).status_code == 201
    answer = post(live, {**body, **change})
    assert (answer.status_code, set(errors_of(answer))) == (409, {pointer})


def test_a_decision_whose_verdict_was_given_is_a_conflict_with_evidence_and_the_other_way_round(
    live: LiveService,
) -> None:
    given = a_record()
    assert post(live, given).status_code == 201
    answer = post(live, to_record(NUMBER, decision_id=given["decision_id"]))
    assert (answer.status_code, set(errors_of(answer))) == (409, {"/evidence"})
    graded = to_record(NUMBER)
    assert post(live, graded).status_code == 201
    answer = post(live, a_record(decision_id=graded["decision_id"]))
    assert (answer.status_code, set(errors_of(answer))) == (409, {"/guardrail_checks", "/guardrail_confidence"})


def test_a_batch_takes_both_forms_and_writes_all_or_nothing(live: LiveService) -> None:
    plain = a_record(guardrail_checks={"evidence": {"$date": "not a tag here"}})
    rows = [to_record(NUMBER), plain, to_record({**NUMBER, "actual": 1})]
    answer = post(live, {"rows": rows}, "/v1/agreements/batch")
    assert answer.status_code == 201, answer.text
    stored = [one["row"] for one in answer.json()["rows"]]
    assert [row["guardrail_verdict"] for row in stored] == ["pass", "pass", "fail"]
    assert stored[1]["guardrail_checks"] == plain["guardrail_checks"]
    assert post(live, {"rows": rows}, "/v1/agreements/batch").status_code == 200
    other = [to_record(NUMBER), {**rows[2], "evidence": [NUMBER]}]
    answer = post(live, {"rows": other}, "/v1/agreements/batch")
    assert (answer.status_code, set(errors_of(answer))) == (409, {"/rows/1/evidence"})
    assert post(live, other[0]).status_code == 201, "a row of the refused batch was written"


def test_a_decision_twice_in_a_batch_is_one_row_or_a_conflict(live: LiveService) -> None:
    row = to_record(NUMBER)
    answer = post(live, {"rows": [row, row]}, "/v1/agreements/batch")
    assert [one["created"] for one in answer.json()["rows"]] == [True, False]
    row = to_record(NUMBER)
    answer = post(live, {"rows": [row, {**row, "evidence": [{**NUMBER, "actual": 1}]}]}, "/v1/agreements/batch")
    assert (answer.status_code, set(errors_of(answer))) == (409, {"/rows/1/evidence"})


REFUSED: dict[str, tuple[dict[str, Any], set[str]]] = {
    "a verdict beside evidence": ({"guardrail_verdict": "pass"}, {"/guardrail_verdict"}),
    "a null confidence beside evidence": ({"guardrail_confidence": None}, {"/guardrail_confidence"}),
    "checks of the bot's own making": ({"guardrail_checks": {}}, {"/guardrail_checks"}),
    "no evidence in the list": ({"evidence": []}, {"/evidence"}),
    "evidence that is null": ({"evidence": None}, {"/evidence"}),
    "an unknown kind": ({"evidence": [{"kind": "guess"}]}, {"/evidence/0"}),
    "no kind": ({"evidence": [{}, NUMBER]}, {"/evidence/0"}),
    "an unknown level": ({"evidence": [{**RESULT_SET, "match": "roughly"}]}, {"/evidence/0/match"}),
    "an unknown field": ({"evidence": [{**NUMBER, "hidden": 1}]}, {"/evidence/0"}),
    "a truth value for a number": ({"evidence": [{**NUMBER, "actual": True}]}, {"/evidence/0/actual"}),
    "a number out of all range": ({"evidence": [{**NUMBER, "tolerance": {"$decimal": "1e"}}]}, {"/evidence"}),
    "an unknown tag": ({"evidence": [{**NUMBER, "actual": {"$money": 1}}]}, {"/evidence"}),
    "no candidates": ({"evidence": [{**CONSENSUS, "candidates": []}]}, {"/evidence/0/candidates"}),
    "files that are no text": ({"evidence": [{**STATEMENT, "files": {"run.json": {}}}]}, {"/evidence/0/files"}),
    "a check without a name": ({"checks": [{"verdict": "pass"}]}, {"/checks/0/name"}),
    "faults on all sides": ({"lane": 1, "evidence": [3], "pr": 1}, {"/lane", "/evidence/0", "/pr"}),
}


@pytest.mark.parametrize("title", REFUSED)
def test_a_body_of_another_shape_is_refused_with_a_pointer(live: LiveService, title: str) -> None:
    change, pointers = REFUSED[title]
    body = {**to_record(NUMBER), **change}
    answer = post(live, body)
    assert (answer.status_code, set(errors_of(answer))) == (422, pointers), answer.text
    del body["decision_id"]
    body = {name: member for name, member in body.items() if name in ("evidence", "checks", *(p[1:] for p in pointers))}
    body.pop("lane", None)
    assert set(errors_of(post(live, body, "/v1/grade"))) == pointers - {"/lane"}


def test_checks_and_a_proposal_are_for_graded_rows_alone(live: LiveService) -> None:
    answer = post(live, a_record(checks=[], proposal="pr://7"))
    assert (answer.status_code, set(errors_of(answer))) == (422, {"/checks", "/proposal"})


def test_a_given_verdict_cannot_pass_itself_off_as_computed(live: LiveService) -> None:
    checks = grade(live, NUMBER)["guardrail_checks"]
    answer = post(live, a_record(guardrail_checks=checks))
    assert (answer.status_code, set(errors_of(answer))) == (422, {"/guardrail_checks/evidence_digest"})
    # whoever brings an older log over brings its graded rows as they are
    assert live.as_("importer").post("/v1/agreements", json=a_record(guardrail_checks=checks)).status_code == 201


def test_a_name_spelled_with_escapes_is_the_same_name(live: LiveService) -> None:
    text = b'{"ev\\u0069dence": [{"kind": "number", "expected": 1, "actual": 1}]}'
    headers = {"Content-Type": "application/json"}
    assert live.as_("review-bot").post("/v1/grade", content=text, headers=headers).status_code == 200
    row = b'{"decision_id": "escaped", "lane": "l", "risk_tier": "t", "agent_id": "a", ' + text[1:]
    answer = live.as_("review-bot").post("/v1/agreements", content=row, headers=headers)
    assert (answer.status_code, answer.json()["guardrail_verdict"]) == (201, "pass")


@pytest.mark.parametrize("text", [b"{", b'{"evidence": [1,]}', b'{"evidence": [}', b"\xff", b'{"evidence": 1} x'])
def test_what_is_not_json_is_refused_as_such(live: LiveService, text: bytes) -> None:
    for path in ("/v1/agreements", "/v1/agreements/batch", "/v1/grade"):
        answer = live.as_("review-bot").post(path, content=text, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["type"]) == (400, "urn:agreement-log:problem:malformed-json")


def test_a_graded_lane_shows_its_confidence_in_the_rates_and_a_deterministic_one_null(live: LiveService) -> None:
    off = {**RESULT_SET, "golden": ROWS, "generated": ONE_OFF, "golden_sql": "SELECT id FROM t"}
    for evidence in (NUMBER, off):
        assert post(live, to_record(evidence, lane="sql-metrics")).status_code == 201
    assert post(live, a_record(lane="deterministic")).status_code == 201
    rates = {lane["lane"]: lane for lane in live.as_("dashboard").get("/v1/lanes").json()["lanes"]}
    assert rates["deterministic"]["guardrail_confidence"] is None
    assert rates["sql-metrics"]["guardrail_confidence"]["count"] == 2
    assert rates["sql-metrics"]["guardrail_confidence"]["min"] == 0.999


def test_grading_needs_the_scope_record(live: LiveService) -> None:
    for path, body in (("/v1/grade", {"evidence": [NUMBER]}), ("/v1/consensus/rounds", {"candidates": ["SELECT 1"]})):
        assert live.as_("dashboard").post(path, json=body).status_code == 403
        assert live.as_(None).post(path, json=body).status_code == 401
