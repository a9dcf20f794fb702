"""JSON out: every digit of a number as it is stored, every instant in UTC."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import orjson
from starlette.responses import Response

MEDIA_TYPE = "application/json"


def _spell(value: Any) -> orjson.Fragment:
    """What orjson does not know: a Decimal, as a JSON number with all its digits."""
    if isinstance(value, Decimal):
        return orjson.Fragment(str(value))
    raise TypeError(f"{type(value).__name__} has no JSON form")


def to_json(value: Any) -> bytes:
    """`value` as JSON text.

    >>> to_json({"share": Decimal("0.12345678901234567890")})
    b'{"share":0.12345678901234567890}'
    """
    return orjson.dumps(value, default=_spell, option=orjson.OPT_UTC_Z)


class JsonResponse(Response):
    """A response whose body is `value` as JSON."""

    def __init__(
        self, value: Any, status: int = 200, headers: dict[str, str] | None = None, media_type: str = MEDIA_TYPE
    ) -> None:
        super().__init__(to_json(value), status, headers, media_type)
