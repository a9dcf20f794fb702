"""The verdict on one generated result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["scored", "unscored", "error"]


@dataclass(frozen=True, slots=True)
class ItemScore:
    """How far a generated result meets its answer key. It holds verdicts, counts and column names; no cell, no SQL.

    - `status`: `scored`; `unscored` where there was nothing to judge; `error` where judging was not possible.
    - `accuracy`: 0..1, the raw share of golden rows that were matched; None unless scored. A pass is exactly 1.0.
    - `reason`: one sentence.
    - `column_pairs`: (golden name, generated name), in the golden order; `column_agreement`: for each pair, the share
      of rows on which it agrees. A golden name without a partner is in `unmatched_golden_columns`, a generated one in
      `unmatched_generated_columns`.
    - `golden_row_count`, `generated_row_count`: None where the side could not be read or was not asked for.
    - `order_sensitive`: whether the golden statement orders its rows, or had to be assumed to.
    - `notes`: what a reader of the score should know.

    >>> ItemScore("scored", 4002 / 4004, "4002 of 4004 golden rows matched").passed
    False
    """

    status: Status
    accuracy: float | None
    reason: str
    unmatched_golden_columns: tuple[str, ...] = ()
    column_pairs: tuple[tuple[str, str], ...] = ()
    unmatched_generated_columns: tuple[str, ...] = ()
    column_agreement: tuple[float, ...] = ()
    golden_row_count: int | None = None
    generated_row_count: int | None = None
    order_sensitive: bool = True
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Scored at exactly 1.0; there is no second threshold."""
        return self.status == "scored" and self.accuracy == 1.0
