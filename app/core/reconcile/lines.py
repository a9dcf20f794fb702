"""The lines of a text, as an editor counts them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def lines(text: str, start: int = 0) -> Iterator[str]:
    """The lines of `text` from the character `start` on, each with its end, one at a time.

    A line ends at a carriage return, a line feed or both. Other characters that `str.splitlines` breaks at (U+2028, a
    vertical tab) stand inside a line for an editor, and inside a cell for whoever wrote it.

    >>> list(lines("a\\r\\nb\\u2028c\\rd"))
    ['a\\r\\n', 'b\\u2028c\\r', 'd']
    """
    return (found.group() for found in _LINE.finditer(text, start))
