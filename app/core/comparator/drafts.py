"""A column on its way to codes: its values sorted into families, each holding one kind of value in one way.

    whole     whole numbers below 2**63                       int64
    fraction  other numbers that some float spells, NaN, ±∞   the bits of that float, as int64
    instant   dates and timestamps, to the microsecond        int64
    text      text that UTF-8 can carry                       Arrow strings
    other     everything else                                 keys

The family follows from the key alone, never from the type that carried it: so two cells with one key meet in one
family, and a family may be numbered by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from app.core.comparator.cells import NULL, Key
from app.core.comparator.numbers import is_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.core.comparator.rows import Ids

Family = Literal["whole", "fraction", "instant", "text", "other"]

FLOAT_EXACT = 2**53
"""From here on floats skip whole numbers, and the shortest spelling of one need not be its value."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Values of one family, and the slots they fill (None: all of them)."""

    family: Family
    values: Any
    slots: Ids | None


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """`size` slots filled by `parts`, a slot in none of them being NULL; `rows` says which slot each row shows
    (None: its own)."""

    size: int
    rows: Ids | None
    parts: tuple[Part, ...]


def draft_of_keys(keys: Sequence[Key], rows: Ids | None) -> Draft:
    """The draft of a column whose slots have these keys."""
    sorted_out: dict[Family, tuple[list[int], list[Any]]] = {}
    for slot, key in enumerate(keys):
        if key != NULL:
            family, value = _family(key)
            slots, values = sorted_out.setdefault(family, ([], []))
            slots.append(slot)
            values.append(value)
    parts = tuple(
        Part(family, _held(family, values), np.array(slots, dtype=np.int64))
        for family, (slots, values) in sorted_out.items()
    )
    return Draft(len(keys), rows, parts)


def fraction_bits(values: np.ndarray[Any, np.dtype[np.float64]]) -> Ids:
    """Floats as integers that are equal exactly when the floats are one key: every NaN is one."""
    return np.where(np.isnan(values), np.nan, values).view(np.int64)


def _family(key: Key) -> tuple[Family, Any]:
    match key:
        case ("nan", _):
            return "fraction", float("nan")
        case ("number", Decimal() as number):
            return _number_family(key, number)
        case ("instant", int() as instant):
            return "instant", instant
        case ("text", str() as text) if _is_utf8(text):
            return "text", text
    return "other", key


def _number_family(key: Key, number: Decimal) -> tuple[Family, Any]:
    if number.is_infinite():
        return "fraction", float(number)
    if is_whole(number):
        # The digits are counted before the integer is made: 1E+1000000 is short only as a Decimal.
        small = number.adjusted() < 19 and -(2**63) <= (whole := int(number)) < 2**63
        return ("whole", whole) if small else ("other", key)
    nearest = float(number)
    return ("fraction", nearest) if Decimal(repr(nearest)) == number else ("other", key)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair: a str may hold it, an Arrow string may not
        return False
    return True


def _held(family: Family, values: list[Any]) -> Any:
    match family:
        case "whole" | "instant":
            return np.array(values, dtype=np.int64)
        case "fraction":
            return fraction_bits(np.array(values, dtype=np.float64))
        case "text":
            return pa.array(values, pa.large_string())
        case "other":
            return values
