"""What one cell means: every sentence of the design on cells, through the public door and by keys."""

from __future__ import annotations

import decimal
import locale
import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.comparator import ResultSet, compare_result_sets
from app.core.comparator.cells import MAX_DEPTH, CellTooDeep, cell_key

U = "6F9619FF-8B86-D011-B42D-00CF4FC964FF"
BERLIN = ZoneInfo("Europe/Berlin")


class FloatByAnotherName(float):
    def __repr__(self) -> str:
        return "seven"


class TextByAnotherName(str):
    def __str__(self) -> str:
        return "other"

    __repr__ = __str__


class DecimalByAnotherName(Decimal):
    def is_nan(self) -> bool:
        return True


def zone(**offset: int) -> timezone:
    return timezone(timedelta(**offset))


EQUAL = {
    "null": (None, None),
    "every_nan": (float("nan"), Decimal("NaN")),
    "nan_objects": (float("nan"), -float("nan")),
    "signalling_nan": (Decimal("sNaN"), Decimal("NaN123")),
    "nan_of_a_subclass": (FloatByAnotherName("nan"), math.nan),
    "infinities": (float("inf"), Decimal("Infinity")),
    "minus_zero": (-0.0, 0),
    "minus_zero_decimal": (Decimal("-0.00"), 0.0),
    "one": (1, 1.0),
    "one_decimal": (1, Decimal("1.000")),
    "shortest_repr": (0.1, Decimal("0.1")),
    "trailing_zeros": (Decimal("1.50"), 1.5),
    "tiny": (1e-7, Decimal("0.0000001")),
    "huge": (1e23, Decimal("1E+23")),
    "thirty_digits": (Decimal("123456789012345678901234567890.1"), Decimal("123456789012345678901234567890.10")),
    "beyond_int64": (2**63, Decimal(2**63)),
    "huge_exponent": (Decimal("1E+1000000"), Decimal("10E+999999")),
    "float_subclass": (FloatByAnotherName(1.5), Decimal("1.5")),
    "decimal_subclass": (DecimalByAnotherName("1.5"), 1.5),
    "text_subclass": (TextByAnotherName("x"), "x"),
    "date_text": (date(2026, 1, 2), "2026-01-02"),
    "midnight_is_the_date": (datetime(2026, 1, 2), date(2026, 1, 2)),
    "midnight_text": ("2026-01-02 00:00:00", "2026-01-02"),
    "midnight_in_utc": (datetime(2026, 1, 2, 1, tzinfo=zone(hours=1)), date(2026, 1, 2)),
    "naive_is_utc": (datetime(2026, 1, 2, 3), datetime(2026, 1, 2, 3, tzinfo=UTC)),
    "aware_is_its_instant": (datetime(2026, 1, 2, 5, tzinfo=zone(hours=2)), "2026-01-02T03:00:00Z"),
    "half_hour_offset": ("2026-01-02T08:30:00+05:30", datetime(2026, 1, 2, 3)),
    "short_offsets": ("2026-01-02 03:00:00+00", "2026-01-02T01:00-0200"),
    "microseconds": ("2026-01-02 03:04:05.000007", datetime(2026, 1, 2, 3, 4, 5, 7)),
    "scale_of_a_timestamp": ("2025-12-31 23:59:59.000", "2025-12-31 23:59:59.000000"),
    "nanoseconds": ("2026-01-02 03:04:05.1234567", "2026-01-02 03:04:05.123456700"),
    "start_of_the_calendar": (datetime(1, 1, 1, tzinfo=zone(hours=1)), "0001-01-01 00:00:00+01:00"),
    "end_of_the_calendar": (datetime(9999, 12, 31, 23, tzinfo=zone(hours=-5)), "9999-12-31T23:00:00-05:00"),
    "uuid_of_any_case": (UUID(U), U.lower()),
    "uuid_texts": (U, U.lower()),
    "bytes_of_any_kind": (b"ab", memoryview(bytearray(b"ab"))),
    "arrays_of_any_kind": ([1, None], (1.0, None)),
    "json_of_any_order": ({"a": 1, "b": [True]}, {"b": [True], "a": Decimal("1.0")}),
    "interval": (timedelta(hours=-1), timedelta(seconds=-3600)),
    "time": (time(12, 0), time(12)),
    "numpy_bool": (np.bool_(True), True),
    "numpy_int": (np.uint64(2**63), 2**63),
    "numpy_float": (np.float64(0.1), Decimal("0.1")),
    "numpy_half": (np.float16(0.5), 0.5),
    "numpy_long_double": (np.longdouble("0.5"), 0.5),
    "numpy_text": (np.str_("x"), "x"),
    "numpy_bytes": (np.bytes_(b"x"), b"x"),
    "numpy_nanoseconds": (np.datetime64("2026-01-02T03:04:05.000000000"), datetime(2026, 1, 2, 3, 4, 5)),
    "numpy_day": (np.datetime64("2026-01-02"), date(2026, 1, 2)),
    "numpy_hour": (np.datetime64("2026-01-02T03"), datetime(2026, 1, 2, 3)),
    "numpy_not_a_time": (np.datetime64("NaT"), None),
    "numpy_not_an_interval": (np.timedelta64("NaT"), None),
    "numpy_interval": (np.timedelta64(1_000_000_000, "ns"), timedelta(seconds=1)),
    "numpy_array": (np.array([1, 2]), [1, 2]),
    "numpy_scalar_array": (np.array(5), 5),
}

DIFFERENT = {
    "null_and_zero": (None, 0),
    "null_and_empty": (None, ""),
    "null_and_a_sentinel": (None, "NULL"),
    "bool_is_never_a_number": (True, 1),
    "bool_is_never_a_float": (False, 0.0),
    "nan_and_a_number": (math.nan, 1.0),
    "nan_and_null": (math.nan, None),
    "signs_of_infinity": (math.inf, -math.inf),
    "tail": (0.1 + 0.2, 0.3),
    "decimal_of_a_float": (Decimal(1 / 10), 0.1),
    "sixty_two_digits": (10**61 + 1, 10**61),
    "beyond_2_53": (2**53 + 1, 2**53),
    "beyond_2_63": (2**63 + 1, float(2**63)),
    "thirtieth_digit": (Decimal("123456789012345678901234567890.1"), Decimal("123456789012345678901234567890.2")),
    "huge_exponents": (Decimal("1E+1000000"), Decimal("1E+1000001")),
    "padded_code": ("007", 7),
    "number_in_text": ("7", 7),
    "padding": ("AB  ", "AB"),
    "case": ("se", "SE"),
    "digits_are_never_a_date": ("20260102", date(2026, 1, 2)),
    "no_such_day": ("2026-02-30", "2026-03-02"),
    "trailing_newline": ("2026-01-02\n", date(2026, 1, 2)),
    "foreign_digits": ("２０２６-01-02", date(2026, 1, 2)),
    "no_such_hour": ("2026-01-02 24:00:00", date(2026, 1, 3)),
    "zone_by_name": ("2026-01-02 03:00:00 UTC", datetime(2026, 1, 2, 3)),
    "nanosecond": ("2026-01-02 03:04:05.000000001", datetime(2026, 1, 2, 3, 4, 5)),
    "repeated_hour": (
        datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN),
        datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=BERLIN),
    ),
    "uuid_without_dashes": (U.replace("-", ""), U),
    "time_and_its_text": (time(12), "12:00:00"),
    "time_zones": (time(12, tzinfo=UTC), time(12)),
    "bytes_and_text": (b"ab", "ab"),
    "interval_and_seconds": (timedelta(seconds=1), 1),
    "order_of_an_array": ([1, 2], [2, 1]),
    "nesting": ([[1], 2], [1, [2]]),
    "json_text_stays_text": ({"a": 1}, '{"a": 1}'),
    "unknown_types": (Fraction(1, 2), complex(0.5)),
    "unknown_type_and_its_text": (Fraction(1, 2), "1/2"),
    "numpy_months_have_no_length": (np.timedelta64(1, "M"), timedelta(days=30)),
    "boolean_words_alone": ("yes", True),
}


# As a column, a lone boolean word is a boolean.
DIFFERENT_ALONE = {title: cells for title, cells in DIFFERENT.items() if title != "boolean_words_alone"}


@pytest.mark.parametrize(("one", "other"), EQUAL.values(), ids=EQUAL)
def test_cells_that_say_the_same_have_one_key(one: Any, other: Any) -> None:
    keys = cell_key(one), cell_key(other)
    assert keys[0] == keys[1]
    assert hash(keys[0]) == hash(keys[1])
    assert repr(keys[0]) == repr(keys[1])
    assert not keys[0] < keys[1]
    assert not keys[1] < keys[0]


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_cells_that_differ_have_two_keys(one: Any, other: Any) -> None:
    assert cell_key(one) != cell_key(other)


@pytest.mark.parametrize(("one", "other"), EQUAL.values(), ids=EQUAL)
def test_a_result_of_equal_cells_passes(one: Any, other: Any) -> None:
    assert compare_result_sets(ResultSet(["a"], [[one]]), ResultSet(["b"], [[other]])).passed


@pytest.mark.parametrize(("one", "other"), DIFFERENT_ALONE.values(), ids=DIFFERENT_ALONE)
def test_a_result_of_different_cells_fails(one: Any, other: Any) -> None:
    assert compare_result_sets(ResultSet(["a"], [[one]]), ResultSet(["a"], [[other]])).accuracy == 0.0


BUCKETS = {
    "tail": (0.1 + 0.2, 0.3, True),
    "becomes_whole": (2.0000000000000004, 2, True),
    "seventeen_digits": (Decimal("0.00037360191345214844"), Decimal("0.0003736019134521485"), True),
    "ninth_digit": (1.00000001, 1.00000002, False),
    "tenth_digit": (1.000000001, 1.000000002, True),
    "whole_never": (1577840521123000, 1577840521123001, False),
    "whole_float_never": (1577840521123000.0, 1577840521123001.0, False),
    "whole_decimal_never": (Decimal("1577840521123000.0"), Decimal(1577840521123001), False),
    "edge_of_a_bucket": (0.12345678949999, 0.12345678950001, False),
    "tiny": (1.2345678901e-300, 1.2345678902e-300, True),
    "inside_an_array": ([0.1 + 0.2], [0.3], True),
    "infinite": (math.inf, Decimal("Infinity"), True),
}


@pytest.mark.parametrize(("one", "other", "same"), BUCKETS.values(), ids=BUCKETS)
def test_values_forgives_the_tail_of_a_number_that_is_not_whole(one: Any, other: Any, same: bool) -> None:
    sides = ResultSet(["a"], [[one]]), ResultSet(["b"], [[other]])
    assert compare_result_sets(*sides, match="values").passed is same


@pytest.mark.parametrize(
    ("golden", "generated", "accuracy"),
    [
        (["t", "F", None], [True, False, None], 1.0),
        (["yes", "NO"], ["true", "f"], 1.0),
        (["NO", "SE"], ["NO", "SE"], 1.0),
        (["NO", "SE"], [False, "SE"], 0.5),
        (["NO", "SE"], ["no", "SE"], 0.5),
        (["Y", "N"], [True, False], 0.0),
        ([None, None], [None, None], 1.0),
        ([TextByAnotherName("t"), "f"], [True, False], 1.0),
    ],
    ids=["spellings", "any_case", "countries", "country_is_no_bool", "country_has_case", "y_n", "nulls", "subclass"],
)
def test_boolean_spellings_are_read_by_the_column(golden: list[Any], generated: list[Any], accuracy: float) -> None:
    sides = (ResultSet(["a"], [[cell] for cell in column]) for column in (golden, generated))
    assert compare_result_sets(*sides, golden_sql="SELECT a FROM t").accuracy == accuracy


class NaTType:
    pass


class NAType:
    pass


NaTType.__module__ = NAType.__module__ = "pandas._libs.missing"


class Timestamp(datetime):
    nanosecond = 7


@pytest.mark.parametrize("cell", [NaTType(), NAType()], ids=["NaT", "NA"])
def test_pandas_nulls_are_null_without_importing_pandas(cell: Any) -> None:
    assert cell_key(cell) == cell_key(None)


def test_pandas_nanoseconds_are_not_dropped() -> None:
    assert cell_key(Timestamp(2026, 1, 2)) == cell_key("2026-01-02T00:00:00.000000007")


def nested(depth: int) -> list[Any]:
    cell: list[Any] = []
    for _ in range(depth):
        cell = [cell]
    return cell


def test_a_cell_nests_as_deep_as_the_limit_and_no_deeper() -> None:
    assert cell_key(nested(MAX_DEPTH))
    with pytest.raises(CellTooDeep):
        cell_key(nested(MAX_DEPTH + 1))


def test_a_cell_that_holds_itself_twice_over_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.core.comparator.cells.MAX_PARTS", 10_000)
    cell: list[Any] = [1]
    for _ in range(50):
        cell = [cell, cell]
    with pytest.raises(CellTooDeep):
        cell_key(cell)
    assert len(cell_key([0] * 9_999)[1]) == 9_999
    with pytest.raises(CellTooDeep):
        cell_key([0] * 10_000)


def test_the_ambient_decimal_context_changes_nothing() -> None:
    cells = [Decimal("1234567.891"), 0.1, 10**40 + 1, Decimal("1E-900"), Decimal("-0.0"), [1.5]]
    expected = [cell_key(cell, round_tail=tail) for cell in cells for tail in (False, True)]
    hostile = decimal.Context(prec=1, Emax=1, Emin=-1, traps=list(decimal.getcontext().flags))
    with decimal.localcontext(hostile):
        assert [cell_key(cell, round_tail=tail) for cell in cells for tail in (False, True)] == expected
        assert compare_result_sets(
            ResultSet(["a"], [[c] for c in cells]), ResultSet(["b"], [[c] for c in cells])
        ).passed


def test_the_locale_changes_nothing() -> None:
    before = locale.setlocale(locale.LC_ALL)
    expected = cell_key(1234.5), cell_key("I"), cell_key("2026-01-02")
    try:
        for name in ("tr_TR.UTF-8", "de_DE.UTF-8", "C.UTF-8", "C"):
            try:
                locale.setlocale(locale.LC_ALL, name)
            except locale.Error:
                continue
            assert (cell_key(1234.5), cell_key("I"), cell_key("2026-01-02")) == expected
    finally:
        locale.setlocale(locale.LC_ALL, before)


@settings(deadline=None)
@given(st.datetimes(timezones=st.timezones() | st.none()))
def test_a_timestamp_and_its_iso_text_have_one_key(moment: datetime) -> None:
    offset = moment.utcoffset()
    # Local mean time has offsets of odd seconds, which ISO text carries as well.
    assert offset is None or not offset.microseconds
    assert cell_key(moment) == cell_key(moment.isoformat()) == cell_key(moment.isoformat(sep=" "))


@settings(deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False), st.integers(0, 5))
def test_trailing_zeros_never_count(number: Decimal, zeros: int) -> None:
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    assert cell_key(Decimal((sign, digits + (0,) * zeros, exponent - zeros))) == cell_key(number)


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_the_decimal_of_its_shortest_spelling(number: float) -> None:
    assert cell_key(number) == cell_key(Decimal(repr(number)))


@settings(deadline=None)
@given(st.integers(), st.integers())
def test_integers_keep_every_digit(one: int, other: int) -> None:
    assert (cell_key(one) == cell_key(other)) == (one == other)
