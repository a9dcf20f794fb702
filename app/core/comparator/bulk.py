"""Columns of one plain type, read into families without making a key for every cell.

Each reader answers None where its type's cells do not all have a bulk form (a whole float beyond 2**53, a Decimal of
seventeen digits); the column then goes by keys, like any column of mixed or unlisted types.
"""

from __future__ import annotations

from datetime import date, datetime, timezone, tzinfo
from decimal import Decimal
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.core.comparator.cells import BOOLEAN_WORDS, NULL, boolean_key, text_key
from app.core.comparator.drafts import FLOAT_EXACT, Draft, Part, draft_of_keys, fraction_bits
from app.core.comparator.numbers import normal_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from app.core.comparator.rows import Ids

# Text that a key may read as something else; the key has the last word.
_MAYBE_NOT_TEXT = r"^([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-)"
_PLAIN_DECIMAL_LENGTH = 16
"""A point and fifteen digits: every such decimal has a float of its own, whose shortest spelling it is."""

_SMALLEST = 1e-290
"""Below, floats lose digits on their way to zero."""


def bulk_draft(column: Sequence[Any], *, round_tail: bool) -> Draft | None:
    """The draft of `column`, or None where it has to go by keys."""
    kinds = set(map(type, column))
    kinds.discard(type(None))
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    try:
        if kind in _TAILED_READERS:
            return _TAILED_READERS[kind](column, round_tail=round_tail)
        return _READERS[kind](column) if kind in _READERS else None
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):  # a value too wide for the bulk form
        return None


def _whole(column: Sequence[Any]) -> Draft:
    values, slots = _valid(pa.array(column, pa.int64()))
    return Draft(len(column), None, (Part("whole", values, slots),))


def _float(column: Sequence[Any], *, round_tail: bool) -> Draft | None:
    values, slots = _valid(pa.array(column, pa.float64()))
    return _of_floats(values, slots, len(column), round_tail=round_tail)


def _decimal(column: Sequence[Any], *, round_tail: bool) -> Draft | None:
    spelled = pa.array([None if cell is None else str(cell) for cell in column], pa.string())
    unfit = pc.or_(
        pc.greater(pc.utf8_length(spelled), _PLAIN_DECIMAL_LENGTH), pc.match_substring_regex(spelled, "[^0-9.-]")
    )
    if pc.any(unfit).as_py():
        return None
    values, slots = _valid(spelled.cast(pa.float64()))
    return _of_floats(values, slots, len(column), round_tail=round_tail)


def _of_floats(values: NDArray[np.float64], slots: Ids | None, size: int, *, round_tail: bool) -> Draft | None:
    tiny = np.abs(values) < _SMALLEST
    if round_tail:
        if (tiny & (values != 0)).any():
            return None
        values = _rounded_tails(values)
    is_whole = np.isfinite(values) & (values == np.floor(values))
    whole = values[is_whole]
    if (np.abs(whole) >= FLOAT_EXACT).any():
        return None
    if len(whole) == len(values):
        return Draft(size, None, (Part("whole", values.astype(np.int64), slots),))
    if not len(whole):
        return Draft(size, None, (Part("fraction", fraction_bits(values), slots),))
    slots = np.arange(size) if slots is None else slots
    return Draft(
        size,
        None,
        (
            Part("whole", whole.astype(np.int64), slots[is_whole]),
            Part("fraction", fraction_bits(values[~is_whole]), slots[~is_whole]),
        ),
    )


def _rounded_tails(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """`values`, the ones that are not whole rounded to nine digits exactly as `normal_number` rounds them.

    Scaled to nine digits before the point, rounded, and scaled back: a whole number below 10**9 over an exact power
    of ten is the float nearest to the nine-digit decimal. Where the scaling's own error could decide (close to a
    half, or to a power of ten, or where the power is not exact), the decimal is asked.
    """
    tail = np.flatnonzero(np.isfinite(values) & (values != np.floor(values)))
    number = values[tail]
    shift = 8 - np.floor(np.log10(np.abs(number))).astype(np.int64)
    up, down = 10.0 ** np.clip(shift, 0, 22), 10.0 ** np.clip(-shift, 0, 22)
    scaled = number * up / down
    nearest = np.rint(scaled)
    unsure = (np.abs(np.abs(scaled - nearest) - 0.5) < 1e-4) | (shift > 22)
    unsure |= (np.abs(scaled) < 1e8 + 1) | (np.abs(scaled) > 1e9 - 1)
    result = nearest / up * down
    for i in np.flatnonzero(unsure):
        result[i] = float(normal_number(Decimal(repr(float(number[i]))), round_tail=True))
    rounded = values.copy()
    rounded[tail] = result
    return rounded


def _bool(column: Sequence[Any]) -> Draft:
    rows = pc.fill_null(pa.array(column, pa.bool_()).cast(pa.int8()), 2).to_numpy().astype(np.int64)
    return draft_of_keys([("bool", False), ("bool", True), NULL], rows)


def _date(column: Sequence[Any]) -> Draft:
    return _of_instants(pa.array(column, pa.date32()).cast(pa.timestamp("us")), len(column))


def _datetime(column: Sequence[Any]) -> Draft | None:
    zones = list(map(attrgetter("tzinfo"), filter(None, column)))
    if zones.count(None) < len(zones) and not all(map(_is_plain_zone, {id(zone): zone for zone in zones}.values())):
        return None
    return _of_instants(pa.array(column, pa.timestamp("us", tz="UTC")), len(column))


def _is_plain_zone(zone: tzinfo | None) -> bool:
    """Whether Arrow reads the zone's offset as `cell_key` does: it drops the microseconds of one."""
    if type(zone) is timezone:
        return not zone.utcoffset(None).microseconds
    return zone is None or type(zone) is ZoneInfo


def _of_instants(instants: Any, size: int) -> Draft:
    values, slots = _valid(instants.cast(pa.int64()))
    return Draft(size, None, (Part("instant", values, slots),))


def _text(column: Sequence[Any]) -> Draft:
    texts = pa.array(column, pa.large_string())
    first = next(filter(None, column), "")
    if words_are_boolean([first]) or pc.any(pc.match_substring_regex(texts, _MAYBE_NOT_TEXT)).as_py():
        return _of_words(texts.dictionary_encode())
    valid = texts.is_valid().to_numpy(zero_copy_only=False)
    return Draft(len(column), None, (Part("text", texts.drop_null(), np.flatnonzero(valid)),))


def _of_words(encoded: Any) -> Draft:
    """A text column by its distinct words, of which some may not be text."""
    words = encoded.dictionary.to_pylist()
    # One slot more than there are words: the NULLs'.
    rows = pc.fill_null(encoded.indices, len(words)).to_numpy().astype(np.int64)
    key = boolean_key if words_are_boolean(words) else text_key
    return draft_of_keys([*map(key, words), NULL], rows)


def words_are_boolean(words: Sequence[str]) -> bool:
    """Whether a text column of these distinct words is a boolean one: every word is a spelling of true or false.

    >>> words_are_boolean(["T", "f"]), words_are_boolean(["NO", "SE"]), words_are_boolean([])
    (True, False, False)
    """
    return bool(words) and all(word.lower() in BOOLEAN_WORDS for word in words)


def _valid(array: Any) -> tuple[NDArray[Any], Ids | None]:
    """The values that are not NULL, and their slots where some are."""
    if not array.null_count:
        return array.to_numpy(), None
    slots = np.flatnonzero(array.is_valid().to_numpy(zero_copy_only=False))
    return array.drop_null().to_numpy(), slots


_TAILED_READERS: dict[type, Callable[..., Draft | None]] = {float: _float, Decimal: _decimal}
_READERS: dict[type, Callable[[Sequence[Any]], Draft | None]] = {
    int: _whole,
    bool: _bool,
    date: _date,
    datetime: _datetime,
    str: _text,
}
