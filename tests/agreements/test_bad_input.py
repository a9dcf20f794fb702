"""Bad input: 4xx, a pointer to the field, nothing written, nothing of it repeated."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import a_record, errors_of

if TYPE_CHECKING:
    import httpx

    from tests.support import LiveService

BASE = json.dumps(a_record())[:-1]


def post(service: LiveService, content: bytes | str, content_type: str | None = "application/json") -> httpx.Response:
    headers = {"Content-Type": content_type} if content_type is not None else {}
    return service.as_("importer").post("/v1/agreements", content=content, headers=headers)


def assert_nothing_written(service: LiveService) -> None:
    assert service.as_("dashboard").get("/v1/agreements").json()["items"] == []


FIELDS: dict[str, tuple[str, str]] = {
    "nul": (r'"lane": "a\u0000b"', "/lane"),
    "bell": (r'"lane": "a\u0007b"', "/lane"),
    "c1": (r'"lane": "a\u0085b"', "/lane"),
    "delete": (r'"lane": "a\u007fb"', "/lane"),
    "newline": (r'"lane": "a\nb"', "/lane"),
    "line_separator": (r'"lane": "a\u2028b"', "/lane"),
    "lone_high_surrogate": (r'"lane": "\ud83d"', "/lane"),
    "lone_low_surrogate": (r'"lane": "\udc00x"', "/lane"),
    "reversed_surrogates": (r'"lane": "\udc00\ud83d"', "/lane"),
    "nul_in_json": (r'"guardrail_checks": {"a": [1, {"b": "x\u0000"}]}', "/guardrail_checks/a/1/b"),
    "nul_in_key": (r'"guardrail_checks": {"a\u0000": 1}', "/guardrail_checks"),
    "surrogate_in_key": (r'"guardrail_checks": {"\ud800": 1}', "/guardrail_checks"),
    "slash_in_key": (r'"guardrail_checks": {"a/b~c": "\u0000"}', "/guardrail_checks/a~1b~0c"),
    "long_string": (f'"lane": "{"x" * 3_000_000}"', "/lane"),
    "long_word": (f'"lane": "{"x" * 101}"', "/lane"),
    "long_identifier": (f'"decision_id": "{"x" * 501}"', "/decision_id"),
    "empty": ('"lane": ""', "/lane"),
    "blank": ('"lane": " \\u3000 "', "/lane"),
    "nan": ('"guardrail_confidence": NaN', "/guardrail_confidence"),
    "infinity": ('"guardrail_confidence": -Infinity', "/guardrail_confidence"),
    "huge": ('"guardrail_confidence": 1e400', "/guardrail_confidence"),
    "tiny": ('"guardrail_confidence": 1e-400', "/guardrail_confidence"),
    "absurd_exponent": ('"guardrail_confidence": 1e999999999999999999', "/guardrail_confidence"),
    "digits": (f'"guardrail_confidence": 0.{"3" * 31}', "/guardrail_confidence"),
    "many_digits": (f'"guardrail_confidence": {"9" * 5000}', "/guardrail_confidence"),
    "nan_in_json": ('"guardrail_checks": [[NaN]]', "/guardrail_checks/0/0"),
    "huge_in_json": ('"guardrail_checks": {"a": 1e400}', "/guardrail_checks/a"),
    "above_one": ('"guardrail_confidence": 1.0000000001', "/guardrail_confidence"),
    "below_zero": ('"guardrail_confidence": -0.1', "/guardrail_confidence"),
    "number_as_text": ('"guardrail_confidence": "0.5"', "/guardrail_confidence"),
    "bool_as_number": ('"guardrail_confidence": true', "/guardrail_confidence"),
    "number_as_lane": ('"lane": 7', "/lane"),
    "null_lane": ('"lane": null', "/lane"),
    "list_lane": ('"lane": ["a"]', "/lane"),
    "enum": ('"guardrail_verdict": "PASS"', "/guardrail_verdict"),
    "scalar_document": ('"guardrail_checks": "text"', "/guardrail_checks"),
    "uuid": ('"project_id": "1234"', "/project_id"),
    "naive_time": ('"created_at": "2026-01-01T00:00:00"', "/created_at"),
    "date_only": ('"created_at": "2026-01-01"', "/created_at"),
    "unix_time": ('"created_at": 1700000000', "/created_at"),
    "no_such_day": ('"created_at": "2026-02-30T00:00:00Z"', "/created_at"),
    "hour_24": ('"created_at": "2026-02-01T24:00:00Z"', "/created_at"),
    "leap_second": ('"created_at": "2016-12-31T23:59:60Z"', "/created_at"),
    "before_the_calendar": ('"created_at": "0001-01-01T00:00:00+14:00"', "/created_at"),
    "offset": ('"created_at": "2026-01-01T00:00:00+25:00"', "/created_at"),
    "unknown": ('"lanes": "x"', "/lanes"),
    "duplicate_key": ('"lane": "x"', ""),
    "nested_duplicate": ('"guardrail_checks": {"a": {"b": 1, "b": 2}}', "/guardrail_checks/a"),
    "deep": (f'"guardrail_checks": {"[" * 70}{"]" * 70}', "/guardrail_checks" + "/0" * 63),
}  # fmt: skip


@pytest.mark.parametrize("case", FIELDS)
def test_a_bad_field_is_pointed_at(service: LiveService, case: str) -> None:
    text, pointer = FIELDS[case]
    name = text.partition(":")[0].strip('" ')
    body = {key: value for key, value in json.loads(BASE + "}").items() if key != name or case == "duplicate_key"}
    answer = post(service, json.dumps(body)[:-1] + ", " + text + "}")
    assert answer.status_code == 422, answer.text[:300]
    assert pointer in errors_of(answer)
    assert len(answer.content) < 2000
    assert_nothing_written(service)


BODIES: dict[str, tuple[bytes, int]] = {
    "empty": (b"", 422),
    "cut": (BASE.encode(), 400),
    "trailing": (BASE.encode() + b"} x", 400),
    "not_json": (b"lane=x", 400),
    "single_quotes": (b"{'lane': 'x'}", 400),
    "comment": (b"{} // x", 400),
    "latin_1": (b'{"lane": "\xe9"}', 400),
    "utf_16": ('{"lane": "x"}'.encode("utf-16"), 400),
    "overlong": (b'{"lane": "\xc0\x80"}', 400),
    "raw_control": (b'{"lane": "a\x01b"}', 400),
    "list": (b"[]", 422),
    "text": (b'"text"', 422),
    "null": (b"null", 422),
    "number": (b"1", 422),
    "nan": (b"NaN", 422),
    "deep": (b"[" * 100_000, 400),
    "deep_objects": (b'{"a":' * 100_000, 400),
    "deep_closed": (b"[" * 500 + b"]" * 500, 422),
}


@pytest.mark.parametrize("case", BODIES)
def test_a_body_that_is_no_row_is_refused(service: LiveService, case: str) -> None:
    body, status = BODIES[case]
    answer = post(service, body)
    assert answer.status_code == status, answer.text[:300]
    assert answer.headers["content-type"] == "application/problem+json"
    assert_nothing_written(service)


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "json",
        "",
    ],
)
def test_a_body_of_another_type_is_refused(service: LiveService, content_type: str | None) -> None:
    answer = post(service, BASE + "}", content_type)
    assert answer.status_code == 415, answer.text
    assert_nothing_written(service)


@pytest.mark.parametrize(
    "content_type", ["application/json", "Application/JSON; charset=utf-8", "application/vnd.bot+json"]
)
def test_a_body_of_json_in_any_spelling_is_taken(service: LiveService, content_type: str) -> None:
    assert post(service, BASE + "}", content_type).status_code == 201


@pytest.mark.parametrize("call", ["POST ", "POST /batch", "PATCH /{id}", "POST /{id}/corrections"])
def test_an_oversize_body_is_refused(service: LiveService, call: str) -> None:
    row = service.recorded()
    method, _, path = call.partition(" ")
    address = "/v1/agreements" + path.replace("{id}", row["id"])
    body = f'{{"artifact_ref": "{"x" * service.settings.max_body_bytes}"}}'

    def chunks() -> Any:  # without a content-length
        for start in range(0, len(body), 65_536):
            yield body[start : start + 65_536].encode()

    for content in (body, chunks()):
        answer = service.as_("root").request(
            method, address, content=content, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 413
        assert answer.headers["content-type"] == "application/problem+json"
        assert "x-request-id" in answer.headers
    assert service.as_("dashboard").get("/v1/agreements").json()["items"] == [row]


def test_what_was_sent_is_not_repeated(service: LiveService) -> None:
    canary = "canary-5d41402a"
    for field in ("lane", "guardrail_verdict", "guardrail_confidence", "created_at", "project_id", "guardrail_checks"):
        answer = post(service, json.dumps(a_record(**{field: f"{canary}\x01"})))
        assert answer.status_code == 422
        assert canary not in answer.text
    assert canary not in post(service, f'{{"lane": "{canary}').text


def test_a_long_reason_has_a_limit(service: LiveService) -> None:
    row = service.recorded()
    limit = service.settings.max_text_chars
    for length, status in ((limit + 1, 422), (limit, 200)):
        body = {"human_verdict": "revise", "human_reason": "x" * length}
        assert service.as_("ada").patch(f"/v1/agreements/{row['id']}", json=body).status_code == status


def test_an_unknown_path_and_a_wrong_method_are_problems(service: LiveService) -> None:
    client = service.as_("root")
    for answer, status in (
        (client.get("/v1/nothing"), 404),
        (client.delete("/v1/agreements"), 405),
        (client.put("/v1/lanes"), 405),
    ):
        assert answer.status_code == status
        assert answer.headers["content-type"] == "application/problem+json"
    assert "allow" in client.delete("/v1/agreements").headers
