"""Two numbers, within a share of the expected one."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.reconcile import band, diff, parse_value

CASES = {
    "equal": (100, 100, "0.01", "match", "0"),
    "within": (100, "100.5", "0.01", "match", "0.5"),
    "on_the_edge": (100, 101, "1%", "match", "1"),
    "past_the_edge": (100, "101.0000000000000000000000000001", "1%", "mismatch", "1.0000000000000000000000000001"),
    "below": (100, 95, "0.01", "mismatch", "-5"),
    "wider": (100, 104, "5%", "match", "4"),
    "no_tolerance": ("0.3", "0.30", "0", "match", "0"),
    "negative_within": (-200, -201, "0.01", "match", "-1"),
    "negative_outside": (-200, -203, "0.01", "mismatch", "-3"),
    "opposite_sign": (100, -100, "1%", "mismatch", "-200"),
    "zero_is_zero": (0, "0.00", "0.01", "match", "0"),
    "zero_is_nothing_else": (0, "0.0001", "50%", "mismatch", "0.0001"),
    "spelled": ("$4.2M", "4,180,000", "0.01", "match", "-20000"),
    "floats_by_their_print": (0.1, Decimal("0.1"), "0", "match", "0"),
}


@pytest.mark.parametrize(("expected", "actual", "tolerance", "reason", "delta"), CASES.values(), ids=CASES)
def test_two_numbers_agree_within_the_tolerance(expected, actual, tolerance, reason, delta):
    verdict = diff(expected, actual, tolerance=tolerance)
    assert (verdict.reason, verdict.match) == (reason, reason == "match")
    assert verdict.delta == Decimal(delta)


@pytest.mark.parametrize(
    ("expected", "actual", "reason"),
    [(None, 5, "missing_expected"), ("n/a", 5, "missing_expected"), (5, None, "missing_actual"),
     (5, "1,2,3", "missing_actual"), (None, None, "missing_expected"), (float("nan"), 5, "missing_expected")],
)  # fmt: skip
def test_a_missing_number_never_matches(expected, actual, reason):
    verdict = diff(expected, actual)
    assert (verdict.match, verdict.reason, verdict.delta, verdict.delta_pct) == (False, reason, None, None)


def test_the_share_is_of_the_expected_size():
    assert diff(100, 95).delta_pct == Decimal("-0.05")
    assert diff(-100, -95).delta_pct == Decimal("0.05")
    assert diff(0, 5).delta_pct is None
    assert diff(0, 0).delta_pct == 0


@pytest.mark.parametrize("tolerance", ["", "x", "-1%", None, float("nan")])
def test_a_tolerance_nobody_can_read_is_refused(tolerance):
    with pytest.raises(ValueError, match="tolerance"):
        diff(1, 1, tolerance=tolerance)
    with pytest.raises(ValueError, match="tolerance"):
        band(1, tolerance=tolerance)


def test_the_json_names_are_fixed():
    assert list(diff(1, 2).to_json()) == ["match", "delta", "delta_pct", "reason"]
    assert list(band(1).to_json()) == ["min_rows", "max_rows", "min_value", "max_value"]


@pytest.mark.parametrize(
    ("value", "tolerance", "low", "high"),
    [
        ("100", "1%", "99", "101"),
        ("-200", "10%", "-220", "-180"),
        ("0", "5%", "0", "0"),
        ("($4.2M)", "0", "-4.2E6", "-4.2E6"),
    ],
)
def test_a_band_is_right_on_both_sides_of_zero(value, tolerance, low, high):
    bounds = band(value, tolerance=tolerance)
    assert (bounds.min_value, bounds.max_value) == (Decimal(low), Decimal(high))
    assert (bounds.min_rows, bounds.max_rows) == (1, 1)


def test_a_band_around_no_number_is_refused():
    with pytest.raises(ValueError, match="number"):
        band("n/a")


numbers = st.decimals(min_value=-(10**12), max_value=10**12, places=4)


@given(expected=numbers, actual=numbers, tolerance=st.decimals(0, 2, places=3))
def test_the_band_holds_exactly_the_numbers_that_match(expected, actual, tolerance):
    bounds = band(expected, tolerance=tolerance)
    assert diff(expected, actual, tolerance=tolerance).match == (bounds.min_value <= actual <= bounds.max_value)


@given(expected=numbers)
def test_a_number_matches_itself_however_it_is_printed(expected):
    assert diff(expected, f"{expected:,}", tolerance=0).match
    assert parse_value(str(expected)) == expected
