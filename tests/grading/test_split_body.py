"""Cutting evidence out of a body: what is left and what is cut make up the whole, and nothing else is evidence."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.grading.split_body import NotJson, split_body

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["evidence", "rows", "a", '"}', "\\"]), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(JSON, st.booleans(), st.booleans(), st.sampled_from([None, 1]))
@settings(max_examples=300, deadline=None)
def test_a_body_is_its_envelope_with_the_evidence_put_back(
    value: object, batch: bool, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    split = split_body(text.encode(), batch=batch)
    envelope = json.loads(split.envelope)
    rows = envelope.get("rows") if batch and isinstance(envelope, dict) else [envelope]
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and "evidence" in row:
            row["evidence"] = json.loads(split.evidence[row["evidence"]])
    assert envelope == value


@given(st.text(alphabet='{}[],:"\\ 01aervidnc', max_size=40), st.booleans())
@settings(max_examples=500, deadline=None)
def test_text_that_is_not_json_is_refused_and_other_text_is_not(text: str, batch: bool) -> None:
    try:
        json.loads(text)
    except ValueError:
        with pytest.raises(NotJson):
            split_body(text.encode(), batch=batch)
    else:
        split_body(text.encode(), batch=batch)


def test_a_key_given_twice_is_left_for_the_reader_of_the_envelope() -> None:
    assert split_body(b'{"evidence": [1], "evidence": [2]}', batch=False) == (
        '{"evidence": 0, "evidence": 1}',
        ("[1]", "[2]"),
    )


def test_depth_is_refused_and_costs_nothing() -> None:
    for text in (b'{"evidence": ' + b"[" * 10_000, b'{"rows": [' + b'{"a":' * 10_000):
        with pytest.raises(NotJson):
            split_body(text, batch=True)
