"""One row of a run: what was recorded of it, and its graded statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, get_args

from app.core.reconcile.diff import diff
from app.core.reconcile.row_status import RowStatus, row_status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.core.reconcile.ledger import Ledger

_STATUSES: Final[dict[str, RowStatus]] = {status: status for status in get_args(RowStatus)}


@dataclass(frozen=True, slots=True)
class RunRow:
    """`record` is the row's object in rows.jsonl, left as it is; `ledger` is None where nothing of it was graded."""

    number: int
    record: Mapping[str, Any]
    ledger: Ledger | None

    def text(self, key: str) -> str | None:
        """The text under `key` of the record, None where there is none.

        >>> RunRow(1, {"question": "How many?"}, None).text("question")
        'How many?'
        """
        value = self.record.get(key)
        return value if isinstance(value, str) and value.strip() else None

    @property
    def name(self) -> str:
        """What a person calls the row."""
        return self.text("label") or self.text("question") or self.text("statement") or f"row {self.number}"

    @property
    def status(self) -> RowStatus:
        """From the recorded `match` and the ledger; else the recorded status; else from `expected` and `actual`.

        >>> RunRow(1, {"expected": 100, "actual": 104}, None).status
        'mismatch'

        A statement that nobody graded is not one that held: it makes agreeing numbers `match_unverified`.
        """
        verdict = self.ledger.verdict if self.ledger else "unresolved" if self.text("statement") else None
        stated = _STATUSES.get(self.text("status") or "")
        match = self.record.get("match")
        if stated == "error":
            return "error"
        if isinstance(match, bool):
            return row_status(match, verdict)
        if stated is not None:
            return stated
        difference = diff(self.record.get("expected"), self.record.get("actual"))
        return row_status(difference.match if difference.delta is not None else None, verdict)
