"""The text of a file whose encoding nobody names."""

from __future__ import annotations

import codecs
import re

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


_NOT_TEXT = (
    (b"\xd0\xcf\x11\xe0", "the file is a workbook of the old kind; save it as .xlsx or CSV"),
    (b"%PDF", "the file is a PDF, whose tables cannot be read as cells; save them as CSV"),
)
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f]")


class NotText(ValueError):
    """The bytes are no text in any encoding that is read here. The message holds none of them."""


def decode(content: bytes) -> str:
    """`content` as text: by its byte order mark, else UTF-16 where zero bytes say so, else UTF-8, else Windows-1252.

    >>> decode("Café".encode("cp1252"))
    'Café'

    Raises `NotText` for bytes that fit none, and for text with NUL characters, which is a binary file.
    """
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return _checked(content[len(mark) :], encoding)
    for mark, reason in _NOT_TEXT:
        if content.startswith(mark):
            raise NotText(reason)
    head = content[:4096]
    if b"\0" in head:
        # Latin letters in UTF-16 have a zero for every other byte, and which one tells the byte order. Zeros anywhere
        # else are a binary file, which would decode to a page of signs nobody wrote.
        even, odd = (head[start::2].count(0) / len(head) for start in (0, 1))
        if min(even, odd) > 0.02 or max(even, odd) < 0.1:
            raise NotText("the file is binary, not text")
        return _checked(content, "utf-16-le" if odd > even else "utf-16-be")
    try:
        return _checked(content, "utf-8")
    except NotText:
        text = _checked(content, "cp1252")
        if _CONTROLS.search(text):
            raise NotText("the file is binary, not text") from None
        return text


def _checked(content: bytes, encoding: str) -> str:
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        raise NotText("the file is not text in UTF-8, UTF-16 or Windows-1252") from None
    if "\0" in text:
        raise NotText("the file is binary, not text")
    return text
