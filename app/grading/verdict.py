"""The verdict on all checks together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from app.grading.check import Check


@dataclass(frozen=True, slots=True)
class Verdict:
    """`confidence` is None where no check has a score: there is nothing graded about the verdict."""

    verdict: Literal["pass", "fail"]
    confidence: Decimal | None


def verdict_of(checks: Sequence[Check]) -> Verdict:
    """Pass when every check passes, and there is one; the confidence is the weakest check's score.

    >>> from app.grading.check import failed
    >>> verdict_of([failed("evidence/0", "number", "timed_out", "it took too long")])
    Verdict(verdict='fail', confidence=None)
    >>> verdict_of([]).verdict
    'fail'
    """
    scores = [check.score for check in checks if check.score is not None]
    passed = bool(checks) and all(check.verdict == "pass" for check in checks)
    return Verdict("pass" if passed else "fail", min(scores, default=None))
