"""The SQL of lists: pages of current rows, newest first, that stay stable while rows arrive and are corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from app.agreements.table import agreements, current_agreements
from app.platform.cursors import Position

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection

    from app.agreements.rules import Row

# The id of the first revision: with created_at it places a decision in a list, the same after every correction.
_a = current_agreements
_first = agreements.alias("first")
_first_id = sa.case(
    (_a.c.revision == 1, _a.c.id),
    else_=sa.select(_first.c.id)
    .where(
        _first.c.decision_id == _a.c.decision_id,
        _first.c.project_id.is_not_distinct_from(_a.c.project_id),
        _first.c.revision == 1,
    )
    .scalar_subquery(),
)


async def page(
    connection: AsyncConnection,
    columns: Sequence[str],
    conditions: Sequence[sa.ColumnElement[bool]],
    after: Position | None,
    limit: int,
) -> tuple[list[Row], Position | None]:
    """Up to `limit` current rows after a position, newest first, and the position to go on from (None at the end)."""
    query = sa.select(*(_a.c[name] for name in columns), _first_id.label("first_id"), _a.c.created_at.label("at"))
    query = query.where(*conditions).order_by(_a.c.created_at.desc(), sa.desc("first_id")).limit(limit + 1)
    if after is not None:
        query = query.where(
            _a.c.created_at <= after.created_at,
            sa.or_(_a.c.created_at < after.created_at, _first_id < after.first_id),
        )
    rows: list[Row] = [row._asdict() for row in await connection.execute(query)]
    if len(rows) <= limit:
        return rows, None
    last = rows[limit - 1]
    return rows[:limit], Position(last["at"], last["first_id"])


def conditions(filters: Mapping[str, Any]) -> list[sa.ColumnElement[bool]]:
    """The conditions of a list: equality by column name, `since`, `until`, `awaiting`."""
    made: list[sa.ColumnElement[bool]] = []
    for name, value in filters.items():
        match name:
            case "since":
                made.append(_a.c.created_at >= value)
            case "until":
                made.append(_a.c.created_at < value)
            case "awaiting" if value == "review":
                made.append(_a.c.agreement.is_(None))
            case "awaiting":
                made += [_a.c.human_verdict.in_(("merge", "waive")), _a.c.post_merge_outcome.is_(None)]
            case _:
                made.append(_a.c[name] == value)
    return made


def designated(properties: Collection[str]) -> sa.ColumnElement[bool]:
    """The condition that a row's property is one of these; none are where the list is empty."""
    return _a.c.property.in_(sorted(properties))
