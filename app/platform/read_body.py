"""The bytes of a body, up to a limit.

FastAPI has a limit of its own, and answers what is too long by its Content-Length in plain text, without a request
id and out of sight of the log. Here the answer is a problem document like any other, and for a call that takes
evidence the limit depends on what the body holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.platform.problems import BodyTooLarge, FieldError, Invalid

if TYPE_CHECKING:
    from starlette.requests import Request


async def read_body(request: Request, limit: int) -> bytes:
    """The body of `request`. Raises `BodyTooLarge` as soon as it is known to have more than `limit` bytes, and
    `Invalid` where there is none."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise BodyTooLarge
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > limit:
            raise BodyTooLarge
        pieces.append(piece)
    if not size:
        raise Invalid(errors=[FieldError("is required", pointer="")])
    return b"".join(pieces)
