"""Opaque cursors: where a list goes on, and which list it was."""

from __future__ import annotations

import base64
import binascii
import hashlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import orjson

from app.platform.problems import FieldError, Invalid

if TYPE_CHECKING:
    from collections.abc import Mapping

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_BYTES = 8 + 16 + 8


class Position(NamedTuple):
    """The last row of a page. Both parts are the same in every revision of a decision, so that a correction between
    two pages moves nothing across the border. Neither says anything about the row."""

    created_at: datetime
    first_id: UUID


def encode(position: Position, filters: Mapping[str, Any]) -> str:
    """The cursor that continues after `position` in the list with these filters."""
    ticks = (position.created_at - _EPOCH) // _TICK
    raw = ticks.to_bytes(8, "big", signed=True) + position.first_id.bytes + _fingerprint(filters)
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decode(cursor: str, filters: Mapping[str, Any]) -> Position:
    """The position of a cursor; raises `Invalid` for one that was not made here, or for another list."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars="-_", validate=True)
        if len(raw) != _BYTES:
            raise ValueError
        created_at = _EPOCH + int.from_bytes(raw[:8], "big", signed=True) * _TICK
    except (binascii.Error, ValueError, OverflowError):
        raise Invalid(errors=[FieldError("is not a cursor of this list", parameter="cursor")]) from None
    if raw[24:] != _fingerprint(filters):
        raise Invalid(errors=[FieldError("belongs to a list with other filters", parameter="cursor")])
    return Position(created_at, UUID(bytes=raw[8:24]))


def _fingerprint(filters: Mapping[str, Any]) -> bytes:
    text = orjson.dumps(
        {key: value for key, value in filters.items() if value is not None}, option=orjson.OPT_SORT_KEYS
    )
    return hashlib.sha256(text).digest()[:8]
