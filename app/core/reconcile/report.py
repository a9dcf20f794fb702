"""A run told to people: its rows, what is open in them, and what was found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.core.reconcile.findings import Finding, QueryDefect, findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.core.reconcile.part import Verdict
    from app.core.reconcile.row_status import RowStatus
    from app.core.reconcile.run_row import RunRow


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One row. `verdict` is None where there was no statement to grade; `open_parts` are the names and notes of what
    could not be checked."""

    number: int
    name: str
    status: RowStatus
    verdict: Verdict | None
    graded: int
    open_parts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """A run: its rows by number, how many have each status, its findings and its defects."""

    rows: tuple[ReportRow, ...]
    findings: tuple[Finding, ...]
    query_defects: tuple[QueryDefect, ...]

    @property
    def statuses(self) -> tuple[tuple[RowStatus, int], ...]:
        return tuple(sorted(Counter(row.status for row in self.rows).items()))


def report(rows: Sequence[RunRow]) -> Report:
    """The report of a run.

    >>> from app.core.reconcile.run_row import RunRow
    >>> report([RunRow(1, {"label": "Revenue", "expected": 100, "actual": 100}, None)]).statuses
    (('match', 1),)
    """
    found = findings(rows)
    told = (_told(row) for row in sorted(rows, key=lambda row: row.number))
    return Report(tuple(told), found.findings, found.query_defects)


def _told(row: RunRow) -> ReportRow:
    parts = row.ledger.parts if row.ledger else ()
    return ReportRow(
        number=row.number,
        name=row.name,
        status=row.status,
        verdict=row.ledger.verdict if row.ledger else None,
        graded=sum(part.verdict != "noted" for part in parts),
        open_parts=tuple((part.part, part.note) for part in parts if part.verdict == "unresolved"),
    )
