"""The types of fields that requests are made of. Text is kept as it was sent: nothing is trimmed or folded."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, StringConstraints, WithJsonSchema

from app.platform.strict_json import UNFIT

WORD_CHARS, IDENTIFIER_CHARS, REFERENCE_CHARS = 100, 500, 2000
"""Characters. A word and an identifier are indexed, and an index entry has to fit a page."""

_RFC_3339 = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,6})\d*)?(?:[Zz]|([+-](?:[01]\d|2[0-3]):[0-5]\d))"
)
_LINE_BREAKS = re.compile("[\t\n\r\u2028\u2029]")


def _visible(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def _fit(text: str) -> str:
    # In a body this was seen before; a query parameter comes here first.
    if UNFIT.search(text):
        raise ValueError("holds a control character, NUL or a lone surrogate")
    return text


def _one_line(text: str) -> str:
    if _LINE_BREAKS.search(text):
        raise ValueError("must be one line, without tabs")
    return text


def _text(max_chars: int) -> Any:
    return StringConstraints(strict=True, min_length=1, max_length=max_chars)


Word = Annotated[str, _text(WORD_CHARS), AfterValidator(_fit), AfterValidator(_one_line), AfterValidator(_visible)]
"""A lane, a tier, an outcome, a property: something that is counted by."""

Identifier = Annotated[
    str, _text(IDENTIFIER_CHARS), AfterValidator(_fit), AfterValidator(_one_line), AfterValidator(_visible)
]
"""What another system calls something or somebody."""

Reference = Annotated[
    str, _text(REFERENCE_CHARS), AfterValidator(_fit), AfterValidator(_one_line), AfterValidator(_visible)
]
"""An address or a path."""

Reason = Annotated[str, _text(100_000), AfterValidator(_fit), AfterValidator(_visible)]
"""Prose, of several lines if need be. How long it may be is a setting."""


def _instant(value: Any) -> datetime:
    if isinstance(value, datetime):
        moment = value
    else:
        match = _RFC_3339.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            raise ValueError("must be an RFC 3339 time with an offset, such as 2026-01-31T09:30:00Z")
        date, time, fraction, offset = match.groups()
        try:
            moment = datetime.fromisoformat(f"{date}T{time}.{(fraction or '0'):0<6}{offset or '+00:00'}")
        except ValueError:
            raise ValueError("is no time of the calendar") from None
    if moment.tzinfo is None:
        raise ValueError("must have an offset")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("leaves the calendar when it is read in UTC") from None


Instant = Annotated[
    datetime,
    BeforeValidator(_instant),
    WithJsonSchema({"type": "string", "format": "date-time", "description": "RFC 3339, with an offset"}),
]
"""A moment, in UTC. Digits beyond the microsecond are cut: Postgres keeps no more."""


def _number(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueError("must be a JSON number")
    return Decimal(value)


def _share(value: Decimal) -> Decimal:
    if not 0 <= value <= 1:
        raise ValueError("must lie between 0 and 1")
    return _few_digits(value)


def _seconds(value: Decimal) -> Decimal:
    if value < 0:
        raise ValueError("must not be negative")
    return _few_digits(value)


def _few_digits(value: Decimal) -> Decimal:
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -30 or value.adjusted() > 30:
        raise ValueError("must have at most 30 digits on either side of the point")
    return value


Share = Annotated[
    Decimal,
    BeforeValidator(_number),
    AfterValidator(_share),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1}),
]
"""A score in 0..1, with every digit that was sent."""

Seconds = Annotated[
    Decimal, BeforeValidator(_number), AfterValidator(_seconds), WithJsonSchema({"type": "number", "minimum": 0})
]
"""A duration."""


def _document(value: Any) -> Any:
    if not isinstance(value, dict | list):
        raise ValueError("must be a JSON object or array")
    return value


JsonDocument = Annotated[
    Any, AfterValidator(_document), WithJsonSchema({"anyOf": [{"type": "object"}, {"type": "array", "items": {}}]})
]
"""Any JSON object or array, with every digit of its numbers."""
