"""The confidence limits equal those of the library's own binomial test."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from app.lanes.intervals import clopper_pearson


@given(st.integers(1, 5000).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials))))
def test_the_limits_are_clopper_pearson_s(case: tuple[int, int]) -> None:
    successes, trials = case
    limits = clopper_pearson(successes, trials)
    upper = binomtest(successes, trials, alternative="less").proportion_ci(0.95, "exact").high
    two_sided = binomtest(successes, trials).proportion_ci(0.95, "exact")
    assert limits.upper_95 == pytest.approx(upper, abs=1e-9)
    assert limits.interval_95 == pytest.approx((two_sided.low, two_sided.high), abs=1e-9)


@pytest.mark.parametrize(
    ("successes", "trials", "upper"),
    # the rule of three, 3/n, is what a person remembers for no failures; these are its exact values
    [(0, 5, 0.4507), (0, 500, 0.00597), (1, 1, 1.0), (5, 5, 1.0), (1, 100, 0.0466)],
)
def test_five_clean_rows_have_not_earned_what_five_hundred_have(successes: int, trials: int, upper: float) -> None:
    assert clopper_pearson(successes, trials).upper_95 == pytest.approx(upper, abs=1e-4)
