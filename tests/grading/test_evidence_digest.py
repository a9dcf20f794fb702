"""The digest: equal for what cannot be told apart, different for everything else."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.tagged_json import read_tagged_json, write_tagged_json
from app.grading.evidence_digest import canonical_form, evidence_digest

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False) | st.text(max_size=6)
    | st.dates() | st.datetimes() | st.times() | st.timedeltas() | st.uuids() | st.binary(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet="abc", max_size=3), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def digest(text: str) -> str:
    return evidence_digest(read_tagged_json(text))


@given(VALUES)
@settings(max_examples=300, deadline=None)
def test_the_canonical_form_reads_as_the_evidence_and_is_its_own(value: Any) -> None:
    value = read_tagged_json(write_tagged_json(value))
    form = canonical_form(value)
    assert read_tagged_json(form) == value
    assert canonical_form(read_tagged_json(form)) == form
    assert form.isascii()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[1.50]", '[{"$decimal": "1.5"}]'), ("[1]", "[1.0]"), ("[100]", "[1e2]"), ("[0]", "[-0.0]"),
        ('{"a": 1, "b": 2}', '{"b":2,"a":1}'), ('["\\u00e9"]', '["é"]'), ("[1e400]", '[{"$decimal": "1E+400"}]'),
        ('[{"$uuid": "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"}]', '[{"$uuid": "a0eebc999c0b4ef8bb6d6bb9bd380a11"}]'),
        ('[{"$timedelta_s": 1.5}]', '[{"$timedelta_s": 1.500}]'),
    ],
)  # fmt: skip
def test_two_spellings_of_the_same_values_have_one_digest(one: str, other: str) -> None:
    assert digest(one) == digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[1]", '["1"]'), ("[1]", "[true]"), ("[[1],[2]]", "[[2],[1]]"), ("[null]", "[]"), ("[0.1]", "[0.10000000000000001]"),
        ("[12345678901234567890]", "[12345678901234567891]"), ('["a"]', '["a "]'), ('["2026-01-02"]', '[{"$date": "2026-01-02"}]'),
        ("[1E-400]", "[0]"), ('[{"$float": "inf"}]', '[{"$float": "-inf"}]'),
    ],
)  # fmt: skip
def test_other_values_have_another_digest(one: str, other: str) -> None:
    assert digest(one) != digest(other)


def test_numbers_of_any_length_keep_their_digits() -> None:
    long = "9" * 3000
    assert (
        canonical_form(read_tagged_json(f"[{long}, {long}.5, 1e3999]"))
        .decode()
        .startswith(f'[{long},{{"$decimal":"{long}.5"}},1000')
    )
    assert json.loads(canonical_form([Decimal("NaN")])) == [{"$decimal": "NaN"}]
