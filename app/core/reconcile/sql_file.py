"""The statements of a SQL file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.reconcile.evidence_row import Entry, EvidenceRow, Skipped
from app.core.reconcile.statement import DIALECT, REASONS, statement
from app.core.sql import MAX_LENGTH, SqlRefused, split_sql

if TYPE_CHECKING:
    from collections.abc import Iterator


def sql_file(file: str, text: str, dialect: str | None = DIALECT, *, first_line: int = 1) -> Iterator[Entry]:
    """One row a statement of `text`; everything that is no statement is skipped, with its reason.

    >>> [type(entry).__name__ for entry in sql_file("q.sql", "DROP TABLE t; SELECT ';' -- done;")]
    ['Skipped', 'EvidenceRow']

    A row's text runs from the statement's first token to its last, and its line is the one that token stands on.
    Arguments: `dialect`, for `statement`; `first_line`, the line of the file that `text` begins on.
    """
    try:
        slices = split_sql(text, dialect)
    except SqlRefused as refused:
        reason = {
            "too_long": f"the SQL is longer than {MAX_LENGTH:,} characters",
            "unknown_dialect": "the SQL dialect is not known",
        }.get(refused.reason, "the SQL cannot be cut into statements: a quote or a comment does not close")
        yield Skipped(file, first_line, reason)
        return
    if not slices:
        yield Skipped(file, first_line, "no statement stands here")
    line, counted = first_line, 0
    for piece in slices:
        line += text.count("\n", counted, piece.start)
        counted = piece.start
        body = text[piece.start : piece.end]
        kind = statement(body, dialect).kind
        if kind == "select":
            yield EvidenceRow(file, line, statement=body)
        else:
            yield Skipped(file, line, REASONS["other"] if kind == "not_sql" else REASONS[kind])
