"""Grading without a service: the same readers and graders, in this process and without its limits."""

from __future__ import annotations

from pydantic import TypeAdapter

from app.grading.document import Graded, graded
from app.grading.graders import grade_or_fail
from app.grading.read_evidence import EvidenceRefused, read_evidence
from app.grading.schemas import GradeEnvelope
from app.grading.split_body import NotJson, split_body
from app.platform.problems import FieldError, Invalid, MalformedJson
from app.platform.routing import validated
from app.platform.strict_json import parse_json

_MAX_DEPTH = 64


def grade_text(text: bytes) -> Graded:
    """The grade of the JSON text of a body of `POST /v1/grade`. Raises `MalformedJson` and `Invalid`.

    >>> grade_text(b'{"evidence": [{"kind": "number", "expected": "42%", "actual": 0.42}]}').verdict.verdict
    'pass'
    """
    try:
        envelope, texts = split_body(text, batch=False)
    except NotJson as failure:
        raise MalformedJson(str(failure)) from None
    sent = validated(TypeAdapter(GradeEnvelope), parse_json(envelope.encode(), max_depth=_MAX_DEPTH))
    try:
        evidence = read_evidence(texts[sent.evidence])
    except EvidenceRefused as refused:
        found = [FieldError(detail, pointer=f"/evidence{pointer}") for pointer, detail in refused.errors]
        raise Invalid(errors=found) from None
    checks = [grade_or_fail(item, f"evidence/{index}") for index, item in enumerate(evidence.items)]
    return graded(sent, evidence.digest, checks)
