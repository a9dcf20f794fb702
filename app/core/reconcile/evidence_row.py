"""One thing to check, out of whatever a person brought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from decimal import Decimal

    from app.core.reconcile.json_text import Json

Shape = Literal["a", "b", "c", "d"]
"""a: a question; b: a statement, with or without its question; c: a label and a number; d: those and a statement."""


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """A question, a statement, an expected number, or several of them, and where they stood.

    `expected` is None when no number was given, never when one could not be read: such a row is skipped. `file` is the
    file's own name and `line` the line (of a workbook, the row; of a JSON list, where the entry begins) that a
    person sees there, from 1. `merged_from` is the file and line of a statement that joined this row by its label.
    """

    file: str
    line: int
    label: str | None = None
    question: str | None = None
    statement: str | None = None
    expected: Decimal | None = None
    raw_value: str | None = None
    merged_from: tuple[str, int] | None = None

    @property
    def shape(self) -> Shape:
        """
        >>> EvidenceRow("q.txt", 1, question="How many?").shape
        'a'
        """
        if self.statement is None:
            return "a" if self.expected is None else "c"
        return "b" if self.expected is None else "d"

    def to_json(self, number: int, source: str | None) -> dict[str, Json]:
        """The row as it is printed: its `number` in the run, from 1, and the person's own words for the `source`."""
        provenance: dict[str, Json] = {
            "shape": self.shape,
            "source": source,
            "file": self.file,
            "line": self.line,
            "graded": None,
        }
        if self.merged_from:
            provenance["merged_from"] = {"file": self.merged_from[0], "line": self.merged_from[1]}
        return {
            "row": number,
            "label": self.label,
            "question": self.question,
            "statement": self.statement,
            "expected": self.expected,
            "raw_value": self.raw_value,
            "provenance": provenance,
        }


@dataclass(frozen=True, slots=True)
class Skipped:
    """A part of a file that became no row, and why. `line` is counted as in `EvidenceRow`."""

    file: str
    line: int
    reason: str

    def to_json(self) -> dict[str, Json]:
        return {"file": self.file, "line": self.line, "reason": self.reason}


Entry = EvidenceRow | Skipped
