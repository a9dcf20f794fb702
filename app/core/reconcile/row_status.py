"""What a row comes to: its numbers and its statement together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from app.core.reconcile.part import Verdict

RowStatus = Literal["match", "match_unverified", "mismatch", "expected_doubtful", "error"]


def row_status(match: bool | None, verdict: Verdict | None) -> RowStatus:
    """The status of a row.

    Two wrong statements agree easily, so numbers that agree are a `match` only when nothing of the statement is left
    unproven; and where the data proves the person's statement wrong, a difference is no fault of the answer.

    >>> row_status(True, "confirmed"), row_status(True, "unresolved"), row_status(False, "query_defect")
    ('match', 'match_unverified', 'expected_doubtful')

    Arguments: `match`, whether the numbers agree, None when they could not be compared; `verdict` of the ledger, None
    when the row has no statement to grade.
    """
    if match is None:
        return "error"
    if match:
        return "match" if verdict in (None, "confirmed") else "match_unverified"
    return "expected_doubtful" if verdict == "query_defect" else "mismatch"
