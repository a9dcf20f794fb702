"""Read a table of labels and numbers, and nothing else in it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from app.core.reconcile.columns import Columns
from app.core.reconcile.decode import NotText, decode
from app.core.reconcile.evidence_row import Skipped
from app.core.reconcile.intake import MAX_FILE_BYTES, MAX_ROWS, CannotRead
from app.core.reconcile.parse_value import parse_value
from app.core.reconcile.records import delimiter_of, records
from app.core.reconcile.statement import DIALECT, statement
from app.core.reconcile.table import by_header, headed, misaligned

if TYPE_CHECKING:
    from decimal import Decimal

    from app.core.reconcile.json_text import Json


@dataclass(frozen=True, slots=True)
class LabelledNumber:
    """A label and the number beside it; `expected_value` is None where `raw_value` spells none."""

    label: str
    expected_value: Decimal | None
    raw_value: str

    def to_json(self) -> dict[str, Json]:
        return {"label": self.label, "expected_value": self.expected_value, "raw_value": self.raw_value}


@dataclass(frozen=True, slots=True)
class LabelledNumbers:
    """The rows of a table, and the lines that are none."""

    rows: tuple[LabelledNumber, ...]
    skipped: tuple[Skipped, ...]

    def to_json(self) -> list[Json]:
        return [dict(row.to_json()) for row in self.rows]


def parse(name: str, content: bytes, *, dialect: str | None = DIALECT) -> LabelledNumbers:
    """The labels and numbers of the delimited file `content`.

    Header, delimiter and encoding are found by content. A further column that is not SQL is glued onto the label in
    parentheses.

    >>> [row] = parse("t.csv", b"Metric,Value,Quarter\\nRevenue,$4.2M,Q3\\n").rows
    >>> row.label, row.expected_value == 4_200_000
    ('Revenue (Q3)', True)

    Raises `CannotRead` for a file that is too large, not text, or has more than `MAX_ROWS` rows.
    """
    if len(content) > MAX_FILE_BYTES:
        raise CannotRead(f"{name}: larger than {MAX_FILE_BYTES // 1_000_000} MB; divide it")
    try:
        text = decode(content)
    except NotText as error:
        raise CannotRead(f"{name}: {error}") from None
    header, below = headed(records(text, delimiter_of(text) or ","))
    found = list(islice(below, MAX_ROWS + 1))
    if len(found) > MAX_ROWS:
        raise CannotRead(f"{name}: more than {MAX_ROWS:,} rows in one run; divide it")
    where = header or Columns(label=0, number=1)
    rows: list[LabelledNumber] = []
    skipped: list[Skipped] = []
    for record in found:
        fields = by_header(where, record.cells)
        label, value = fields.label or fields.question, fields.value
        problem = record.problem or misaligned(header, record.cells, dialect)
        if problem or not label or value is None:
            skipped.append(Skipped(name, record.line, problem or "no label with a value beside it"))
            continue
        context = [cell for cell in fields.context if statement(cell, dialect).kind == "not_sql"]
        glued = f"{label} ({', '.join(context)})" if context else label
        rows.append(LabelledNumber(glued, parse_value(value), value))
    return LabelledNumbers(tuple(rows), tuple(skipped))
