"""JSON keeps every digit, and is JSON."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.reconcile import json_text

NUMBERS = {"47238221.00": "47238221", "4.2E+6": "4200000", "0.420": "0.42", "-0": "0", "-0.00": "0",
           "1E-7": "0.0000001",
           "123456789012345678901234567890.5": "123456789012345678901234567890.5"}  # fmt: skip


@pytest.mark.parametrize(("number", "printed"), NUMBERS.items())
def test_a_number_has_one_spelling(number, printed):
    assert json_text([Decimal(number)]) == f"[\n  {printed}\n]"


leaves = st.none() | st.booleans() | st.integers() | st.text()
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(values)
def test_a_value_with_a_decimal_in_it_prints_as_any_other(value):
    assert json.loads(json_text({"value": value, "exact": Decimal("1.5")})) == {"value": value, "exact": 1.5}
    assert json_text([value, Decimal(5)]) == json.dumps([value, 5], indent=2)


def test_a_lone_surrogate_can_be_written():
    json_text(["\ud800"]).encode("utf-8")


def test_what_is_no_json_number_is_refused():
    with pytest.raises(ValueError, match="JSON"):
        json_text([float("nan")])
