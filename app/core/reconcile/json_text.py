"""JSON as the verbs print and write it: numbers keep every digit."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TypeAlias

Json: TypeAlias = bool | int | float | Decimal | str | list["Json"] | dict[str, "Json"] | None

_INDENT = "  "


def json_text(value: Json) -> str:
    """`value` as indented JSON in plain ASCII. A Decimal is a JSON number with all its digits, no exponent and no
    trailing zeros, so that one number has one spelling.

    >>> json_text({"expected": Decimal("47238221.00")})
    '{\\n  "expected": 47238221\\n}'

    Plain ASCII, because a lone surrogate out of a hostile file cannot be encoded, and a half-written file is worse
    than an escaped letter.
    """
    try:
        return json.dumps(value, indent=2, allow_nan=False)
    except TypeError:  # a Decimal somewhere; the standard writer has no exact spelling for it
        return _write(value, "")


def _write(value: Json, margin: str) -> str:
    match value:
        case dict() if value:
            inner = margin + _INDENT
            items = (f"{inner}{json.dumps(key)}: {_write(item, inner)}" for key, item in value.items())
            return "{\n" + ",\n".join(items) + f"\n{margin}}}"
        case list() if value:
            inner = margin + _INDENT
            return "[\n" + ",\n".join(inner + _write(item, inner) for item in value) + f"\n{margin}]"
        case Decimal():
            return number_text(value)
        case _:
            return json.dumps(value, allow_nan=False)


def number_text(number: Decimal) -> str:
    """A Decimal in plain notation: no exponent, no trailing zeros, no negative zero.

    >>> number_text(Decimal("4.20E+6"))
    '4200000'
    """
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
