"""How far an observed number lies from the expected one."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, Literal

from app.core.reconcile.parse_value import EXACT, parse_value

if TYPE_CHECKING:
    from app.core.reconcile.json_text import Json

Number = str | int | float | Decimal
Reason = Literal["match", "mismatch", "missing_expected", "missing_actual"]

_RATIO = Context(prec=28)


@dataclass(frozen=True, slots=True)
class Difference:
    """The verdict on two numbers. `delta` is actual less expected, `delta_pct` its share of the expected size;
    both are None when a number is missing, and the share also when something was expected to be zero and is not."""

    match: bool
    delta: Decimal | None
    delta_pct: Decimal | None
    reason: Reason

    def to_json(self) -> dict[str, Json]:
        return {"match": self.match, "delta": self.delta, "delta_pct": self.delta_pct, "reason": self.reason}


def diff(expected: Number | None, actual: Number | None, *, tolerance: Number = "0.01") -> Difference:
    """Whether `actual` is `expected` within a relative tolerance, edges inclusive. Zero matches only zero.

    >>> diff("$4.2M", 4_180_000).match
    True
    >>> diff(None, 5).reason
    'missing_expected'

    Arguments: two numbers, or texts as `parse_value` reads them (an unreadable one is missing, and nothing missing
    ever matches); `tolerance`, a share: `0.01` or `1%`.
    Raises `ValueError` when the tolerance is no number or negative: a band nobody asked for is not a default.
    """
    share = read_tolerance(tolerance)
    wanted, seen = parse_value(expected), parse_value(actual)
    if wanted is None:
        return Difference(match=False, delta=None, delta_pct=None, reason="missing_expected")
    if seen is None:
        return Difference(match=False, delta=None, delta_pct=None, reason="missing_actual")
    delta = EXACT.subtract(seen, wanted)
    # Multiplied, never divided: a quotient is rounded, and a number on the edge would fall on either side.
    match = EXACT.abs(delta) <= EXACT.multiply(share, EXACT.abs(wanted))
    ratio = _RATIO.divide(delta, EXACT.abs(wanted)) if wanted else None if delta else Decimal(0)
    return Difference(match=match, delta=delta, delta_pct=ratio, reason="match" if match else "mismatch")


def read_tolerance(tolerance: Any) -> Decimal:
    """The share that `tolerance` spells. Raises `ValueError` when it is no number, or negative.

    >>> read_tolerance("1%")
    Decimal('0.01')
    """
    share = parse_value(tolerance)
    if share is None or share < 0:
        raise ValueError("the tolerance is not a share: write a fraction such as 0.01, or a percentage such as 1%")
    return share
