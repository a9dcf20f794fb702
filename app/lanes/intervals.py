"""How sure a rate is: exact (Clopper-Pearson) confidence limits of a binomial proportion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from scipy.special import betaincinv

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a proportion, each in 0..1."""

    upper_95: float
    """One-sided: the true rate lies below it with 95 % confidence."""
    interval_95: tuple[float, float]
    """Two-sided."""


@lru_cache(maxsize=65_536)
def clopper_pearson(successes: int, trials: int) -> Limits:
    """The limits for `successes` out of `trials`; trials is at least 1.

    Source: Clopper and Pearson (1934), as quantiles of the beta distribution, which SciPy inverts.

    >>> limits = clopper_pearson(0, 60)
    >>> round(limits.upper_95, 4), limits.interval_95[0]
    (0.0487, 0.0)
    """
    tail = (1 - CONFIDENCE) / 2
    return Limits(
        upper_95=_upper(successes, trials, 1 - CONFIDENCE),
        interval_95=(_lower(successes, trials, tail), _upper(successes, trials, tail)),
    )


def _lower(successes: int, trials: int, tail: float) -> float:
    return 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, tail))


def _upper(successes: int, trials: int, tail: float) -> float:
    return 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1 - tail))
