"""The entries of a plain text: a question a line, unless the text is SQL from end to end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from app.core.reconcile.columns import role_of
from app.core.reconcile.evidence_row import Entry, Skipped
from app.core.reconcile.lines import lines
from app.core.reconcile.sql_file import sql_file
from app.core.reconcile.statement import DIALECT, statement
from app.core.reconcile.table import text_entry
from app.core.sql import SqlRefused, split_sql

if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCE = re.compile(r"(`{3,}|~{3,})")
_MARKER = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")


def prose(file: str, text: str, dialect: str | None = DIALECT) -> Iterator[Entry]:
    """The lines of `text`, each a question or a statement. Lines above the first that start with `#` are guidance.

    >>> [entry.question for entry in prose("q.txt", "# ask these\\nHow many orders?\\n")]
    ['How many orders?']
    """
    if _is_sql(text, dialect):
        yield from sql_file(file, text, dialect)
        return
    above = True
    for line, content in _lines(text):
        if above and content.startswith("#"):
            continue
        # A list saved out of a spreadsheet carries its column's name, which asks nothing.
        if not (above and len(content.split()) == 1 and role_of(content)):
            yield from text_entry(file, line, content, dialect)
        above = False


def markdown(file: str, text: str, dialect: str | None = DIALECT) -> Iterator[Entry]:
    """As `prose`, without the marks of a list; a fenced block is SQL, and a heading asks nothing.

    >>> [entry.question for entry in markdown("q.md", "# Weekly\\n- How many orders?\\n")]
    ['How many orders?']
    """
    fence: str | None = None
    above = True
    block: list[str] = []
    opened = 0
    for line, raw in enumerate(lines(text), 1):
        content = raw.strip()
        mark = _FENCE.match(content)
        if fence is not None:
            if content.startswith(fence):
                yield from sql_file(file, "".join(block), dialect, first_line=opened + 1)
                fence, block = None, []
            else:
                block.append(raw)
        elif mark:
            fence, opened = mark.group(1), line
        elif content.startswith("#"):
            if not above:
                yield Skipped(file, line, "a heading, not a question")
            continue
        elif content:
            yield from text_entry(file, line, _MARKER.sub("", content, count=1), dialect)
        above = above and not content
    if fence is not None:
        yield Skipped(file, opened, "a fenced block opens on this line and never closes")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines(text), 1):
        if content := line.strip():
            yield number, content


def _is_sql(text: str, dialect: str | None) -> bool:
    """Whether every statement of the text reads as one, so that its lines are not sentences but parts of them."""
    try:
        slices = split_sql(text, dialect)
    except SqlRefused:
        return False
    return bool(slices) and all(statement(text[s.start : s.end], dialect).kind == "select" for s in slices)
