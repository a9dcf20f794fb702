"""JSON that loses nothing, and says nothing of what it refuses."""

from __future__ import annotations

import decimal
import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.comparator.cells import cell_key
from app.core.tagged_json import TaggedJsonRefused, read_tagged_json, write_tagged_json

READ = {
    "whole": ("12", 12),
    "beyond_int64": ("123456789012345678901234567890", 123456789012345678901234567890),
    "fraction_keeps_its_digits": ("0.10", Decimal("0.10")),
    "seventeen_digits": ("0.00037360191345214844", Decimal("0.00037360191345214844")),
    "exponent": ("1e400", Decimal("1e400")),
    "long_integer": ("1" * 5000, Decimal("1" * 5000)),
    "decimal": ('{"$decimal": "0.10"}', Decimal("0.10")),
    "decimal_infinity": ('{"$decimal": "-Infinity"}', Decimal("-Infinity")),
    "date": ('{"$date": "2026-01-02"}', date(2026, 1, 2)),
    "datetime": ('{"$datetime": "2026-01-02T03:04:05.000006+00:00"}', datetime(2026, 1, 2, 3, 4, 5, 6, UTC)),
    "naive_datetime": ('{"$datetime": "2026-01-02T03:04:05"}', datetime(2026, 1, 2, 3, 4, 5)),
    "time": ('{"$time": "03:04:05"}', time(3, 4, 5)),
    "infinity": ('{"$float": "-inf"}', -math.inf),
    "bytes": ('{"$bytes": "aGk="}', b"hi"),
    "uuid": ('{"$uuid": "6F9619FF-8B86-D011-B42D-00CF4FC964FF"}', UUID("6f9619ff-8b86-d011-b42d-00cf4fc964ff")),
    "interval": ('{"$timedelta_s": -60}', timedelta(seconds=-60)),
    "interval_with_microseconds": ('{"$timedelta_s": 1.000001}', timedelta(seconds=1, microseconds=1)),
    "nested_tag": ('[[{"a": {"$decimal": "1"}, "b": 1}]]', [[{"a": Decimal(1), "b": 1}]]),
    "several_keys_are_no_tag": ('{"$ref": "x", "$id": "y"}', {"$ref": "x", "$id": "y"}),
    "byte_order_mark": ('\ufeff"x"'.encode(), "x"),
}


@pytest.mark.parametrize(("text", "value"), READ.values(), ids=READ)
def test_a_value_is_read_with_its_type_and_digits(text: str | bytes, value: Any) -> None:
    read = read_tagged_json(text)
    assert read == value
    assert type(read) is type(value)
    assert str(read) == str(value)


def test_a_fraction_is_the_same_number_as_the_float() -> None:
    assert cell_key(read_tagged_json("1.5")) == cell_key(1.5)
    assert cell_key(read_tagged_json("-0.0")) == cell_key(0)


REFUSED = {
    "nan": "NaN",
    "infinity": "[-Infinity]",
    "not_json": '{"canary": ',
    "nothing": "",
    "two_documents": "1 2",
    "repeated_key": '{"canary": 1, "canary": 2}',
    "repeated_tag": '{"$date": "canary", "$date": "2026-01-02"}',
    "deep": "[" * 100_000,
    "deep_and_closed": "[" * 100_000 + "]" * 100_000,
    "exponent_out_of_range": "1e99999999999999999999",
    "unknown_tag": '{"$canary": 1}',
    "decimal_of_text": '{"$decimal": "canary"}',
    "decimal_of_a_number": '{"$decimal": 1.5}',
    "decimal_with_blanks": '{"$decimal": " 1_0 "}',
    "decimal_of_other_digits": '{"$decimal": "１"}',
    "decimal_out_of_range": '{"$decimal": "1e99999999999999999999"}',
    "date_of_text": '{"$date": "canary"}',
    "date_that_is_not": '{"$date": "2026-02-30"}',
    "date_of_null": '{"$date": null}',
    "datetime_with_nanoseconds": '{"$datetime": "2026-01-02T03:04:05.0000001"}',
    "time_with_nanoseconds": '{"$time": "03:04:05.0000001"}',
    "float_that_json_spells": '{"$float": "1.5"}',
    "float_of_a_list": '{"$float": ["nan"]}',
    "bytes_of_text": '{"$bytes": "canary!"}',
    "uuid_of_text": '{"$uuid": "canary"}',
    "interval_of_text": '{"$timedelta_s": "canary"}',
    "interval_of_bool": '{"$timedelta_s": true}',
    "interval_too_fine": '{"$timedelta_s": 0.0000001}',
    "interval_too_long": '{"$timedelta_s": 1e1000000}',
    "interval_beyond_python": '{"$timedelta_s": 99999999999999}',
    "not_utf8": b'"\xff"',
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_not_repeated(text: str | bytes) -> None:
    with pytest.raises(TaggedJsonRefused) as refused:
        read_tagged_json(text)
    assert "canary" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_malformed_tag_is_named() -> None:
    with pytest.raises(TaggedJsonRefused, match=r"malformed \$date"):
        read_tagged_json('[{"$date": "x"}]')


def test_the_ambient_decimal_context_changes_nothing() -> None:
    text = '[1.23456789, {"$decimal": "1.23456789"}, {"$timedelta_s": 12345.678901}]'
    expected = read_tagged_json(text)
    with decimal.localcontext(decimal.Context(prec=1, Emax=0, Emin=0)):
        assert read_tagged_json(text) == expected
        assert write_tagged_json(expected) == write_tagged_json(expected)
    with decimal.localcontext(decimal.Context(traps=[])), pytest.raises(TaggedJsonRefused):
        read_tagged_json('{"$decimal": "x"}')


UNWRITABLE = {"object": object(), "number_key": {1: 2}, "tag": {"$date": 1}, "set": {1}, "complex": 1j}


@pytest.mark.parametrize("value", UNWRITABLE.values(), ids=UNWRITABLE)
def test_what_would_not_come_back_is_not_written(value: Any) -> None:
    with pytest.raises(TaggedJsonRefused):
        write_tagged_json([value])


def test_what_holds_itself_is_not_written() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(TaggedJsonRefused):
        write_tagged_json(value)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.decimals(allow_nan=False)
    | st.text()
    | st.binary()
    | st.dates()
    | st.datetimes()
    | st.times()
    | st.timedeltas()
    | st.uuids(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, min_size=2, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(VALUES)
def test_every_value_comes_back_as_the_same_cell(value: Any) -> None:
    text = write_tagged_json(value)
    assert "\n" not in text
    assert cell_key(read_tagged_json(text)) == cell_key(value)


@settings(deadline=None)
@given(st.text() | st.binary())
def test_any_text_is_read_or_refused(text: str | bytes) -> None:
    try:
        value = read_tagged_json(text)
    except TaggedJsonRefused:
        return
    assert cell_key(read_tagged_json(write_tagged_json(value))) == cell_key(value)
