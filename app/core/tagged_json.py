"""JSON that loses nothing: text to driver values and back.

Cells that JSON cannot spell travel as an object of one `$` key: `{"$decimal": "0.10"}`, `{"$date": "2026-01-02"}`,
`{"$datetime": …}`, `{"$time": …}`, `{"$float": "nan" | "inf" | "-inf"}`, `{"$bytes": "base64"}`, `{"$uuid": …}`,
`{"$timedelta_s": seconds}`. Numbers keep every digit: a whole one is an `int`, any other a `Decimal` (`1.5` and the
float 1.5 are one number to the comparator, which goes by a float's shortest spelling).
"""

from __future__ import annotations

import base64
import json
import math
import re
from datetime import date, datetime, time, timedelta
from decimal import Context, Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Callable

# An explicit context: the ambient one decides whether a malformed number raises or quietly becomes NaN.
_STRICT = Context(traps=[InvalidOperation])
_WIDE = Context(prec=60)
_MICROSECOND = timedelta(microseconds=1)
_LONG_INTEGER = 4000
"""Digits; beyond, Python refuses to read an `int` (quadratic time), and a Decimal holds it as exactly."""


class TaggedJsonRefused(ValueError):
    """Text that was not read, or a value that cannot be written. The message never repeats any of it."""


def read_tagged_json(text: str | bytes) -> Any:
    """The value that `text`, one JSON document in UTF-8, spells.

    Raises `TaggedJsonRefused`, and nothing else, for text that is not JSON (a bare NaN or Infinity is not), nests too
    deep, repeats a key in one object, has a number out of range, or holds a malformed or unknown tag. An object of
    several keys is never a tag.

    >>> read_tagged_json('[1, 0.10, {"$date": "2026-01-02"}, {"$ref": 1, "b": null}]')
    [1, Decimal('0.10'), datetime.date(2026, 1, 2), {'$ref': 1, 'b': None}]
    """
    try:
        return json.loads(
            text, parse_int=_integer, parse_float=_decimal, parse_constant=_refuse_word, object_pairs_hook=_object
        )
    except TaggedJsonRefused:
        raise
    except RecursionError:
        raise TaggedJsonRefused("the JSON nests too deep") from None
    except json.JSONDecodeError as failure:
        raise TaggedJsonRefused(f"not JSON, at line {failure.lineno} column {failure.colno}") from None
    except UnicodeDecodeError:
        raise TaggedJsonRefused("the text is not UTF-8") from None


def write_tagged_json(value: Any) -> str:
    """The one-line text that `read_tagged_json` reads as `value` again; a finite float returns as its Decimal.

    Arguments: `value`, driver values, and lists, tuples (which return as lists) and string-keyed dicts of them.
    Raises `TaggedJsonRefused` for anything else, for a dict that would read as a tag, and for what nests too deep.

    >>> write_tagged_json({"n": [Decimal("0.10"), 2**70, float("-inf"), b"hi"]})
    '{"n": [{"$decimal": "0.10"}, 1180591620717411303424, {"$float": "-inf"}, {"$bytes": "aGk="}]}'
    """
    try:
        return json.dumps(_plain(value), ensure_ascii=False)
    except RecursionError:
        raise TaggedJsonRefused("the value nests too deep") from None


def _integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) < _LONG_INTEGER else _decimal(digits)


def _decimal(digits: str) -> Decimal:
    try:
        return Decimal(digits, _STRICT)
    except InvalidOperation:
        raise TaggedJsonRefused("a number is out of range") from None


def _refuse_word(_word: str) -> Any:
    raise TaggedJsonRefused("NaN and Infinity are not JSON: use a $float tag")


def _object(pairs: list[tuple[str, Any]]) -> Any:
    if len(pairs) == 1 and pairs[0][0].startswith("$"):
        return _untagged(*pairs[0])
    result = dict(pairs)
    if len(result) < len(pairs):
        raise TaggedJsonRefused("an object repeats a key")
    return result


def _untagged(tag: str, value: Any) -> Any:
    reader = _READERS.get(tag)
    if reader is None:
        raise TaggedJsonRefused(f"an unknown tag: the tags are {', '.join(_READERS)}")
    try:
        return reader(value)
    except (ValueError, TypeError, ArithmeticError, KeyError):
        raise TaggedJsonRefused(f"a malformed {tag}") from None


def _spelled(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _read_decimal(value: Any) -> Decimal:
    # `Decimal` alone would also take blanks, underscores and the digits of every script.
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|s?NaN|[+-]?Infinity", _spelled(value)):
        raise ValueError
    return Decimal(value, _STRICT)


def _read_datetime(value: Any) -> datetime:
    # `fromisoformat` drops the digits after the sixth without a word.
    if re.search(r"[.,][0-9]{7}", _spelled(value)):
        raise ValueError
    return datetime.fromisoformat(value)


def _read_time(value: Any) -> time:
    if re.search(r"[.,][0-9]{7}", _spelled(value)):
        raise ValueError
    return time.fromisoformat(value)


def _read_timedelta(value: Any) -> timedelta:
    if type(value) not in (int, Decimal):
        raise TypeError
    exact = Decimal(value)
    # The size first: shifting the point of 1E+1000000 would write a million zeros.
    if exact and not -7 < exact.adjusted() < 15:
        raise ValueError
    whole, rest = divmod(int(exact.scaleb(12, _WIDE)), 10**6)
    if rest:
        raise ValueError
    return whole * _MICROSECOND


_READERS: dict[str, Callable[[Any], Any]] = {
    "$decimal": _read_decimal,
    "$date": lambda value: date.fromisoformat(_spelled(value)),
    "$datetime": _read_datetime,
    "$time": _read_time,
    "$float": lambda value: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[_spelled(value)],
    "$bytes": lambda value: base64.b64decode(_spelled(value), validate=True),
    "$uuid": lambda value: UUID(_spelled(value)),
    "$timedelta_s": _read_timedelta,
}


def _plain(value: Any) -> Any:
    """`value` as the standard writer takes it."""
    if value is None:
        return None
    for kind, writer in _WRITERS:
        if isinstance(value, kind):
            return writer(value)
    raise TaggedJsonRefused(f"a {type(value).__name__} has no JSON form")


def _plain_object(value: dict[Any, Any]) -> dict[str, Any]:
    if not all(isinstance(name, str) for name in value):
        raise TaggedJsonRefused("an object's keys must be text")
    if len(value) == 1 and next(iter(value)).startswith("$"):
        raise TaggedJsonRefused("an object of one $ key would be read as a tag")
    return {name: _plain(part) for name, part in value.items()}


def _plain_integer(value: int) -> Any:
    return value if abs(value) < 10**_LONG_INTEGER else {"$decimal": str(Decimal(value))}


def _plain_timedelta(value: timedelta) -> Any:
    seconds, rest = divmod(value, timedelta(seconds=1))
    if not rest:
        return {"$timedelta_s": seconds}
    return {"$timedelta_s": {"$decimal": str(Decimal(value // _MICROSECOND).scaleb(-6, _WIDE))}}


# A subclass before its base: a bool is an int, a datetime is a date.
_WRITERS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    ((bool, str), lambda value: value),
    (int, _plain_integer),
    (float, lambda value: float(value) if math.isfinite(value) else {"$float": float.__repr__(value)}),
    (Decimal, lambda value: {"$decimal": str(value)}),
    (datetime, lambda value: {"$datetime": value.isoformat()}),
    (date, lambda value: {"$date": value.isoformat()}),
    (time, lambda value: {"$time": value.isoformat()}),
    (timedelta, _plain_timedelta),
    (UUID, lambda value: {"$uuid": str(value)}),
    ((bytes, bytearray, memoryview), lambda value: {"$bytes": base64.b64encode(value).decode("ascii")}),
    ((list, tuple), lambda value: [_plain(part) for part in value]),
    (dict, _plain_object),
)
