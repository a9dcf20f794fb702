"""The SQL of the log. Each function runs in the transaction that its caller opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa
from uuid_utils.compat import uuid7

from app.agreements.table import COLUMNS, agreements
from app.platform.json_response import to_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from sqlalchemy.ext.asyncio import AsyncConnection

    from app.agreements.rules import Row

# What a client records. `created_at` is apart: it is the database's clock unless a row is imported.
RECORDED = (
    ("id", "uuid"),
    ("project_id", "uuid"),
    ("decision_id", "text"),
    ("pr_id", "text"),
    ("lane", "text"),
    ("risk_tier", "text"),
    ("agent_id", "text"),
    ("guardrail_verdict", "text"),
    ("guardrail_confidence", "numeric"),
    ("guardrail_checks", "jsonb"),
    ("property", "text"),
    ("workflow_slug", "text"),
    ("phase", "text"),
    ("artifact_ref", "text"),
)
_NAMES = ", ".join(name for name, _ in RECORDED)
_COLUMNS = ", ".join(COLUMNS)
# One parameter holds all rows: one statement and one plan, whether a client sends one row or a thousand.
_SENT = f"jsonb_to_recordset(%s::jsonb) AS r({', '.join(f'{n} {t}' for n, t in RECORDED)}, created_at timestamptz)"

_INSERT = f"""
    INSERT INTO agreements ({_NAMES}, created_at, recorded_by)
    SELECT {", ".join(f"r.{name}" for name, _ in RECORDED)}, coalesce(r.created_at, now()), %s FROM {_SENT}
    ON CONFLICT DO NOTHING
    RETURNING {_COLUMNS}
"""  # noqa: S608 - the names are this module's own

# The same for one row, its values as parameters: what Postgres spends on the detour through JSON is saved.
_INSERT_ONE = f"""
    INSERT INTO agreements ({_NAMES}, recorded_by)
    VALUES ({", ".join(f"%s::{kind}" for _, kind in RECORDED)}, %s)
    ON CONFLICT DO NOTHING
    RETURNING {_COLUMNS}
"""  # noqa: S608 - the names are this module's own

# The first row of each decision that was sent, and the fields in which what was sent differs from it. A field that
# was not sent differs only where it can never be filled later; `pr_id` can. Postgres compares: numbers by value,
# JSON as jsonb.
_FIRST = f"""
    SELECT r.id AS sent_id, {", ".join(f"a.{name}" for name in COLUMNS)},
        array_remove(ARRAY[
            {
    ", ".join(
        f"CASE WHEN a.{name} IS DISTINCT FROM r.{name} THEN '{name}' END"
        for name, _ in RECORDED
        if name not in ("id", "project_id", "decision_id", "pr_id")
    )
},
            CASE WHEN a.pr_id <> r.pr_id OR (a.pr_id IS NULL AND r.pr_id IS NOT NULL) THEN 'pr_id' END,
            CASE WHEN a.created_at <> r.created_at THEN 'created_at' END
        ], NULL) AS differing
    FROM {_SENT}
    LEFT JOIN agreements a
        ON a.decision_id = r.decision_id AND a.project_id IS NOT DISTINCT FROM r.project_id AND a.revision = 1
"""  # noqa: S608 - the names are this module's own


_FIRST_CHECKS = """
    SELECT a.decision_id, a.project_id, a.guardrail_checks
    FROM jsonb_to_recordset(%s::jsonb) AS r(decision_id text, project_id uuid)
    JOIN agreements a
        ON a.decision_id = r.decision_id AND a.project_id IS NOT DISTINCT FROM r.project_id AND a.revision = 1
"""


def _rows(result: sa.CursorResult[Any] | sa.Result[Any]) -> list[Row]:
    return [row._asdict() for row in result]


class Recorded(NamedTuple):
    """What became of one row that was sent."""

    created: bool
    row: Row | None
    """The first row of the decision; None where the id that was sent belongs to another decision."""
    differing: tuple[str, ...]
    """The fields in which the row that is there differs from what was sent."""


async def record_new(connection: AsyncConnection, row: dict[str, Any], recorded_by: str) -> Row | None:
    """Inserts one row (keys of `RECORDED`) in one statement; None where its decision or its id is there already."""
    sent = row if row.get("id") else {**row, "id": uuid7()}
    checks = row.get("guardrail_checks")
    if checks is not None:
        sent = {**sent, "guardrail_checks": to_json(checks).decode()}
    values = (*(sent.get(name) for name, _ in RECORDED), recorded_by)
    return next(iter(_rows(await connection.exec_driver_sql(_INSERT_ONE, values))), None)


async def record(connection: AsyncConnection, rows: Sequence[dict[str, Any]], recorded_by: str) -> list[Recorded]:
    """Inserts `rows` (keys of `RECORDED`, and created_at), in one statement; answers in their order.

    A decision that is there already is left as it is: whether that is a repetition or a conflict is for the caller.
    """
    sent = [row if row.get("id") else {**row, "id": uuid7()} for row in rows]
    chosen = {position for position, row in enumerate(rows) if row.get("id")}
    if any(row.get("created_at") for row in sent):
        await connection.exec_driver_sql("SET LOCAL agreement_log.import = 'on'")
    # In one order whoever sends them, so that two batches with the same decisions do not wait for each other.
    ordered = sorted(sent, key=lambda row: (row["decision_id"], str(row.get("project_id"))))
    inserted = await connection.exec_driver_sql(_INSERT, (recorded_by, to_json(ordered).decode()))
    new = {row["id"]: row for row in _rows(inserted)}
    rest = [row for row in sent if row["id"] not in new]
    first: dict[UUID, Row] = {}
    if rest:
        found = await connection.exec_driver_sql(_FIRST, (to_json(rest).decode(),))
        first = {row["sent_id"]: row for row in _rows(found)}
    return [_outcome(row["id"], new, first, id_was_chosen=position in chosen) for position, row in enumerate(sent)]


def _outcome(sent_id: UUID, new: Mapping[UUID, Row], first: Mapping[UUID, Row], *, id_was_chosen: bool) -> Recorded:
    if sent_id in new:
        return Recorded(created=True, row=new[sent_id], differing=())
    found = first[sent_id]
    if found["id"] is None:
        return Recorded(created=False, row=None, differing=("id",))
    differing = tuple(found["differing"])
    if id_was_chosen and found["id"] != sent_id:
        differing = ("id", *differing)
    return Recorded(created=False, row=found, differing=differing)


async def first_checks(connection: AsyncConnection, decisions: Sequence[dict[str, Any]]) -> list[Row]:
    """decision_id, project_id and guardrail_checks of the first rows of those of `decisions` that are there."""
    return _rows(await connection.exec_driver_sql(_FIRST_CHECKS, (to_json(decisions).decode(),)))


async def get(connection: AsyncConnection, agreement_id: UUID) -> Row | None:
    """The row with this id."""
    result = await connection.execute(sa.select(agreements).where(agreements.c.id == agreement_id))
    return next(iter(_rows(result)), None)


async def lock(connection: AsyncConnection, agreement_id: UUID) -> Row | None:
    """The same, held until the transaction ends: whoever wants to fill or correct it takes turns."""
    query = sa.select(agreements).where(agreements.c.id == agreement_id).with_for_update(key_share=True)
    return next(iter(_rows(await connection.execute(query))), None)


async def current_id(connection: AsyncConnection, row: Row) -> UUID:
    """The id of the newest revision of the decision that `row` belongs to."""
    query = sa.select(agreements.c.id).where(*_same_decision(row)).order_by(agreements.c.revision.desc()).limit(1)
    newest: UUID = (await connection.execute(query)).scalar_one()
    return newest


async def history(connection: AsyncConnection, row: Row) -> list[Row]:
    """Every revision of the decision that `row` belongs to, the first one first."""
    query = sa.select(agreements).where(*_same_decision(row)).order_by(agreements.c.revision)
    return _rows(await connection.execute(query))


def _same_decision(row: Row) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        agreements.c.decision_id == row["decision_id"],
        agreements.c.project_id.is_not_distinct_from(row["project_id"]),
    )


async def fill(connection: AsyncConnection, agreement_id: UUID, values: dict[str, Any]) -> Row:
    """Writes `values` into columns that are null, and the time at which it was done."""
    stamped = _with_clock(values)
    query = sa.update(agreements).where(agreements.c.id == agreement_id).values(stamped).returning(agreements)
    [row] = _rows(await connection.execute(query))
    return row


async def append_revision(
    connection: AsyncConnection, row: Row, changes: dict[str, Any], *, reason: str, author: str
) -> Row:
    """Appends a copy of `row` with `changes`. Raises IntegrityError where another revision came first."""
    new = {
        **{name: sa.literal_column(name) for name in COLUMNS},
        **{name: sa.bindparam(None, value, agreements.c[name].type) for name, value in changes.items()},
        **_clock_of(changes),
        "id": sa.literal(uuid7(), agreements.c.id.type),
        "recorded_by": sa.literal(author),
        "revision": agreements.c.revision + 1,
        "supersedes": agreements.c.id,
        "revised_at": sa.func.now(),
        "revision_reason": sa.literal(reason),
    }
    source = sa.select(*(new[name] for name in COLUMNS)).where(agreements.c.id == row["id"])
    query = sa.insert(agreements).from_select(list(COLUMNS), source).returning(agreements)
    [row] = _rows(await connection.execute(query))
    return row


def _with_clock(values: dict[str, Any]) -> dict[str, Any]:
    return {**_clock_of(values), **values}


def _clock_of(values: dict[str, Any]) -> dict[str, Any]:
    """When a review or an outcome was written, by the database's clock; null where it was taken away."""
    times = (("reviewed_by", "reviewed_at"), ("outcome_by", "outcome_at"))
    return {
        when: sa.null() if values[who] is None else sa.func.now()
        for who, when in times
        if who in values and values.get(when) is None
    }
