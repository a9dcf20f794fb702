"""The parts about joins."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.core.reconcile.part import Part
    from app.core.reconcile.row_evidence import RowEvidence


def join_parts(row: RowEvidence) -> list[Part]:
    """Of each join the part itself, then its key, its cardinality and the rows it drops, where those were looked at."""
    return [part for join in row.joins for part in (join.part, *join.beside)]
