"""JSON out of a file nobody vouches for."""

from __future__ import annotations

import json
from decimal import Decimal
from math import isfinite
from typing import Any, Final

MAX_DEPTH: Final = 40
MAX_EXPONENT: Final = 300


class BadJson(ValueError):
    """The text was not taken. The message continues a file's name and holds nothing of the text."""


def load_json(text: str, *, exact: bool = False, max_entries: int | None = None) -> Any:
    """The value in `text`; its fractions are Decimals when `exact`, else floats.

    Raises `BadJson` for what is no JSON, and for JSON that means different things to different readers or costs without
    limit: a key that stands twice in an object, a number that is infinite or endless in print, nesting past
    `MAX_DEPTH`, a list of more than `max_entries`.

    >>> load_json('{"a": [1]}')
    {'a': [1]}
    >>> load_json('{"status": "refused", "status": "ok"}')
    Traceback (most recent call last):
    app.core.reconcile.load_json.BadJson: is not JSON that can be read
    """
    try:
        value = json.loads(
            text, object_pairs_hook=_unambiguous, parse_constant=_refuse, parse_float=_decimal if exact else _float
        )
    except (ValueError, RecursionError):
        raise BadJson("is not JSON that can be read") from None
    layer = [value]
    for _ in range(MAX_DEPTH):
        if max_entries is not None and any(isinstance(v, list) and len(v) > max_entries for v in layer):
            raise BadJson(f"lists more than {max_entries:,} entries")
        layer = [child for v in layer for child in _children(v)]
        if not layer:
            return value
    raise BadJson("is nested too deep")


def _children(value: Any) -> Any:
    match value:
        case dict():
            return value.values()
        case list():
            return value
        case _:
            return ()


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Of two values under one key, readers differ on which they take; a refusal and an `ok` must not share a file.
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _refuse(_constant: str) -> Any:
    raise ValueError


def _float(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError
    return number


def _decimal(text: str) -> Decimal:
    number = Decimal(text)
    # Printed without an exponent, 1e999999999 is a gigabyte.
    if abs(number.adjusted()) > MAX_EXPONENT:
        raise ValueError
    return number
