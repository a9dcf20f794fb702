"""The `bounded` level: a generated result held to a band, where there is no answer key."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from app.core.comparator.cells import NAN, Key, cell_key

if TYPE_CHECKING:
    from app.core.comparator.bounds import Bounds
    from app.core.comparator.result_set import ResultSet


@dataclass(frozen=True, slots=True)
class BandVerdict:
    """`within` is None where the band could not be held to this result; `reason` holds counts and no value."""

    within: bool | None
    reason: str


def within_bounds(result: ResultSet, bounds: Bounds) -> BandVerdict:
    """Whether a well-formed `result` is within `bounds`, edges inclusive.

    A value band judges a single numeric cell; where there is not one, the row band judges, if there is one. An empty
    result is never within a value band: a statement that found nothing has given no value.

    >>> from app.core.comparator import Bounds, ResultSet
    >>> within_bounds(ResultSet(["n"], [(7,)]), Bounds(min_value=7, max_value=9))
    BandVerdict(within=True, reason='the value is within its band')
    """
    height = len(result.rows)
    if bounds.has_value_band:
        if not height:
            return BandVerdict(within=False, reason="the result is empty, and a value was asked for")
        key = _single_number(result)
        if key is not None:
            within = key != NAN and _inside(key[1], _edge(bounds.min_value), _edge(bounds.max_value))
            return BandVerdict(within, f"the value is {'within' if within else 'outside'} its band")
        if not bounds.has_row_band:
            return BandVerdict(None, "a value band needs a single numeric cell, and no row band was given")
    within = _inside(Decimal(height), _edge(bounds.min_rows), _edge(bounds.max_rows))
    return BandVerdict(within, f"{height} generated rows are {'within' if within else 'outside'} the row band")


def _single_number(result: ResultSet) -> Key | None:
    if len(result.rows) != 1 or len(result.columns) != 1:
        return None
    key = cell_key(result.rows[0][0])
    return key if key[0] in ("number", "nan") else None


def _edge(value: Any) -> Decimal | None:
    return None if value is None else cell_key(value)[1]


def _inside(value: Decimal, low: Decimal | None, high: Decimal | None) -> bool:
    return (low is None or low <= value) and (high is None or value <= high)
