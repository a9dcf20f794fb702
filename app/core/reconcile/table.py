"""The entries of a table: one for each row that holds a number, a statement or a question."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

from app.core.reconcile.columns import LOOK_AHEAD, Columns, columns, is_null
from app.core.reconcile.evidence_row import Entry, EvidenceRow, Skipped
from app.core.reconcile.parse_value import parse_value
from app.core.reconcile.records import below_guidance
from app.core.reconcile.statement import DIALECT, REASONS, Kind, statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from app.core.reconcile.records import Record

NO_VALUE = "the value is neither a number nor a statement"
FURTHER = "the row has another statement, and only its first was taken"
NO_LABEL = "the number has no label"
DIVIDED = "the number seems divided by its own commas: it has to stand in quotes"
UNQUOTED = "a statement beside other cells has to stand in quotes, or its own commas divide it"


_HEAD = re.compile(r"[^0-9]{0,4}[0-9]{1,3}")
_TAIL = re.compile(r"[0-9]{2,3}(?:\.[0-9]+)?[^0-9]*")


@dataclass(frozen=True, slots=True)
class Fields:
    """What one row of an input holds, before anything in it is read. Empty text and None both mean: not given."""

    label: str | None = None
    question: str | None = None
    value: str | None = None
    statement: str | None = None
    context: tuple[str, ...] = ()


def table(file: str, found: Iterable[Record], dialect: str | None = DIALECT) -> Iterator[Entry]:
    """The entries of the records `found` in `file`, in order; a row that holds nothing usable is a `Skipped`.

    >>> from app.core.reconcile.records import records
    >>> [row] = table("t.csv", records("Metric,Value,Quarter\\nRevenue,$4.2M,Q3\\n", ","))
    >>> row.label, row.expected == 4_200_000, row.line
    ('Revenue (Q3)', True, 2)

    Arguments: `file`, the name rows are to carry; `dialect`, for `statement`.
    """
    header, rows = headed(found)
    for record in rows:
        if record.problem is not None:
            yield Skipped(file, record.line, record.problem)
        elif reason := misaligned(header, record.cells, dialect):
            yield Skipped(file, record.line, reason)
        elif header is not None:
            yield from entries(file, record.line, by_header(header, record.cells), dialect)
        else:
            yield from _by_position(file, record, dialect)


def headed(found: Iterable[Record]) -> tuple[Columns | None, Iterator[Record]]:
    """The header of the records `found`, None where they have none, and the records below it. No more of them are
    looked at than it takes to tell a header.

    >>> header, rows = headed(iter([]))
    >>> header is None, list(rows)
    (True, [])
    """
    rows = below_guidance(found)
    head = list(islice(rows, LOOK_AHEAD + 1))
    header = columns(head[0], head[1:]) if head else None
    return header, chain(head if header is None else head[1:], rows)


def by_header(header: Columns, cells: tuple[str, ...]) -> Fields:
    """The fields of one row under a header; a cell the row does not reach is not given."""

    def cell(column: int | None) -> str | None:
        return cells[column] if column is not None and column < len(cells) else None

    taken = header.taken()
    return Fields(
        label=cell(header.label),
        question=cell(header.question),
        value=cell(header.number),
        statement=cell(header.statement),
        context=tuple(c for i, c in enumerate(cells) if i not in taken and c),
    )


def _by_position(file: str, record: Record, dialect: str | None) -> Iterator[Entry]:
    """Without a header: one cell is a question or a statement, two are a label or question and its value, and of more
    the rest is the statement behind the number or context."""
    first, *rest = record.cells
    if not rest:
        yield from text_entry(file, record.line, first, dialect)
    elif statement(first, dialect).kind != "not_sql":
        yield Skipped(file, record.line, UNQUOTED)
    elif parse_value(rest[0]) is None and any(statement(cell, dialect).kind == "select" for cell in rest):
        yield from entries(file, record.line, Fields(question=first, context=tuple(c for c in rest if c)), dialect)
    else:
        context = tuple(cell for cell in rest[1:] if cell)
        yield from entries(file, record.line, Fields(label=first, value=rest[0], context=context), dialect)


def misaligned(header: Columns | None, cells: tuple[str, ...], dialect: str | None = DIALECT) -> str | None:
    """Why a row that is wider than its header cannot be read cell by cell, None where it can.

    `47,238,221` without quotes would be the number 47, and `SELECT a, b FROM t` the statement `SELECT a`.

    >>> misaligned(Columns(label=0, number=1), ("Revenue", "47", "238", "221")) == DIVIDED
    True
    """
    columns = header or Columns(number=1)
    if not any(cells[columns.width :]):
        return None
    if columns.number is not None:
        head, tail = cells[columns.number], cells[columns.number + 1]
        if _HEAD.fullmatch(head) and _TAIL.fullmatch(tail):
            return DIVIDED
    last = max(i for i, cell in enumerate(cells) if cell)
    cut = any(statement(cell, dialect).kind == "select" for cell in cells[1:last])
    return UNQUOTED if cut else None


def text_entry(file: str, line: int, text: str, dialect: str | None = DIALECT) -> Iterator[Entry]:
    """One text that stands alone: a statement if it is one, else a question; SQL that is neither is skipped."""
    kind = statement(text, dialect).kind
    match kind:
        case "select":
            yield EvidenceRow(file, line, statement=text)
        case "not_sql":
            yield EvidenceRow(file, line, question=text)
        case "writes" | "several" | "other" | "unreadable":
            yield Skipped(file, line, REASONS[kind])


def entries(file: str, line: int, fields: Fields, dialect: str | None = DIALECT) -> Iterator[Entry]:
    """The row that `fields` make, or why they make none. A row that stands on its number and came with SQL that is no
    statement is kept, and its SQL is reported beside it."""
    number = parse_value(fields.value)
    candidates = [cell for cell in (fields.statement, fields.value if number is None else None) if cell]
    kinds: list[tuple[str, Kind]] = [(cell, statement(cell, dialect).kind) for cell in (*candidates, *fields.context)]
    statements = [cell for cell, kind in kinds if kind == "select"]
    trusted = statements[0] if statements else None
    refused = [kind for _, kind in kinds if kind not in ("select", "not_sql")]
    if fields.statement and not is_null(fields.statement) and kinds[0][1] == "not_sql":
        refused.append("other")
    if trusted is None and number is None:
        if fields.question and not fields.value and not refused:
            yield EvidenceRow(file, line, label=fields.label or None, question=fields.question)
        else:
            yield Skipped(file, line, REASONS[refused[0]] if refused else NO_VALUE)
        return
    context = [cell for cell, kind in kinds[len(candidates) :] if kind == "not_sql"]
    label = f"{fields.label} ({', '.join(context)})" if fields.label and context else fields.label
    if number is not None and not (label or fields.question):
        yield Skipped(file, line, NO_LABEL)
        return
    yield EvidenceRow(
        file,
        line,
        label=label or None,
        question=fields.question or None,
        statement=trusted,
        expected=number,
        raw_value=fields.value if fields.value and fields.value != trusted else None,
    )
    for reason in (*(REASONS[kind] for kind in refused), *(FURTHER for _ in statements[1:])):
        yield Skipped(file, line, reason)
