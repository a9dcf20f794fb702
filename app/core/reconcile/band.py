"""The bounds that an observed number gives a later comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.core.reconcile.diff import Number, read_tolerance
from app.core.reconcile.parse_value import EXACT, parse_value

if TYPE_CHECKING:
    from decimal import Decimal

    from app.core.reconcile.json_text import Json


@dataclass(frozen=True, slots=True)
class Band:
    """One row whose single number lies between `min_value` and `max_value`, edges inclusive."""

    min_value: Decimal
    max_value: Decimal
    min_rows: int = 1
    max_rows: int = 1

    def to_json(self) -> dict[str, Json]:
        return {
            "min_rows": self.min_rows,
            "max_rows": self.max_rows,
            "min_value": self.min_value,
            "max_value": self.max_value,
        }


def band(value: Number, *, tolerance: Number = "0.01") -> Band:
    """The band of `tolerance` around `value`, ready as the comparator's bounds.

    >>> band("-200", tolerance="10%").min_value == -220
    True

    Arguments: `value`, a number or a text as `parse_value` reads it; `tolerance`, a share: `0.01` or `1%`.
    Raises `ValueError` when either cannot be read.
    """
    share = read_tolerance(tolerance)
    centre = parse_value(value)
    if centre is None:
        raise ValueError("the value is not a number")
    # The size of the value sets the width: for a negative one the floor is the farther from zero.
    width = EXACT.multiply(share, EXACT.abs(centre))
    return Band(min_value=EXACT.subtract(centre, width), max_value=EXACT.add(centre, width))
