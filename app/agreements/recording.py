"""What each write does, from the checked body to the stored row: rules, then store, in one transaction."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy.exc import DBAPIError

from app.agreements import errors, rules, store
from app.platform.database import constraint_of, sqlstate_of
from app.platform.problems import FieldError, Invalid, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from uuid import UUID

    from sqlalchemy.ext.asyncio import AsyncConnection

    from app.agreements.schemas import Correction, Fill, Proposal, Record
    from app.platform.service import Service
    from app.platform.tokens import Principal

LATER_OUTCOME = "a later post-merge outcome"
"""The reason on a revision that a second, different outcome appended by itself."""
BAD_TIME = "AL002"
"""The SQLSTATE of the guard on created_at."""


class Stored(NamedTuple):
    """One recorded decision."""

    created: bool
    row: rules.Row


async def record(
    bodies: Sequence[Record],
    principal: Principal,
    service: Service,
    designated: AbstractSet[str],
    *,
    pointer: str | None = None,
) -> list[Stored]:
    """Records `bodies` all together or not at all, and answers in their order.

    `pointer`: where the list of rows stands in the body; None where the body is itself the one row.
    Raises `Undesignated`, `MissingScope`, `Invalid`, `DecisionConflict`, `IdTaken`.
    """
    check_proposals(bodies, principal, designated, pointer=pointer)
    where = places(bodies, pointer)
    rows = [body.given() for body in bodies]
    recorded = None
    if pointer is None:
        recorded = await _record_new(rows[0], principal, service)
    if recorded is None:
        database = service.database
        async with database.transaction() if pointer is None else database.bulk_transaction() as connection:
            with _constraints_told():
                recorded = await store.record(connection, rows, principal.name)
            _raise_conflicts(recorded, where)
    created = sum(one.created for one in recorded)
    service.telemetry.rows.labels("recorded").inc(created)
    return [Stored(one.created, one.row) for one in recorded if one.row is not None]


def check_proposals(
    bodies: Sequence[Proposal], principal: Principal, designated: AbstractSet[str], *, pointer: str | None = None
) -> None:
    """Refuses what can be refused before a verdict is known. Raises `Undesignated`, `MissingScope`, `Invalid`."""
    where = places(bodies, pointer)
    _check_designations(bodies, designated, where)
    _check_times(bodies, principal, where)


def places(bodies: Sequence[object], pointer: str | None) -> list[str]:
    """The JSON pointer to each row of a body; `pointer` as in `record`."""
    return [f"{pointer}/{index}" if pointer is not None else "" for index in range(len(bodies))]


async def _record_new(row: dict[str, Any], principal: Principal, service: Service) -> list[store.Recorded] | None:
    """The usual case, a new decision at the time of now, in one round trip; None where it is another case."""
    if "created_at" in row:
        return None
    async with service.database.statement() as connection:
        with _constraints_told():
            stored = await store.record_new(connection, row, principal.name)
    return None if stored is None else [store.Recorded(created=True, row=stored, differing=())]


def _check_designations(bodies: Sequence[Proposal], designated: AbstractSet[str], where: Sequence[str]) -> None:
    refused = [
        FieldError("is not designated", pointer=f"{at}/property")
        for body, at in zip(bodies, where, strict=True)
        if body.property is not None and body.property not in designated
    ]
    if refused:
        raise errors.Undesignated(errors=refused)


def _check_times(bodies: Sequence[Proposal], principal: Principal, where: Sequence[str]) -> None:
    dated = [(body.created_at, at) for body, at in zip(bodies, where, strict=True) if body.created_at is not None]
    if not dated:
        return
    rules.check_import(["created_at"], principal)
    now = datetime.now(UTC)
    future = [FieldError("must not lie in the future", pointer=f"{at}/created_at") for time, at in dated if time > now]
    if future:
        raise Invalid(errors=future)


def _raise_conflicts(recorded: Sequence[store.Recorded], where: Sequence[str]) -> None:
    """Raising rolls the transaction back: a batch with one conflict writes nothing."""
    taken = [
        FieldError("belongs to another decision", pointer=f"{at}/id")
        for one, at in zip(recorded, where, strict=True)
        if one.row is None
    ]
    if taken:
        raise errors.IdTaken(errors=taken)
    differing = [
        FieldError("differs from the row that was recorded first", pointer=f"{at}/{name}")
        for one, at in zip(recorded, where, strict=True)
        for name in one.differing
    ]
    if differing:
        raise errors.DecisionConflict(errors=differing)


async def fill(agreement_id: UUID, body: Fill, principal: Principal, service: Service) -> rules.Row:
    """Fills null fields of a row, and appends a revision where the post-merge outcome has changed."""
    sent = body.sent()
    rules.check_scopes(sent, principal)
    _check_length(sent, service)
    kinds: list[str] = []
    async with service.database.transaction() as connection:
        row = await _lock_current(connection, agreement_id)
        values = rules.fill(row, sent, principal)
        with _constraints_told():
            if values:
                row = await store.fill(connection, agreement_id, values)
                kinds += _groups_of(values)
            if rules.changes_outcome(row, sent):
                changes = rules.correct(row, {"post_merge_outcome": sent["post_merge_outcome"]}, principal)
                if sent.get("outcome_at") is not None:
                    changes["outcome_at"] = sent["outcome_at"]
                row = await store.append_revision(connection, row, changes, reason=LATER_OUTCOME, author=principal.name)
                kinds.append("outcome")
    _count(service, kinds)
    return row


async def correct(agreement_id: UUID, body: Correction, principal: Principal, service: Service) -> rules.Row:
    """Appends a revision of a row."""
    rules.check_author(principal)
    sent = body.sent()
    _check_length(sent, service)
    reason = sent.pop("reason")
    async with service.database.transaction() as connection:
        row = await _lock_current(connection, agreement_id)
        changes = rules.correct(row, sent, principal)
        with _constraints_told():
            row = await store.append_revision(connection, row, changes, reason=reason, author=principal.name)
    _count(service, ["correction"])
    return row


async def _lock_current(connection: AsyncConnection, agreement_id: UUID) -> rules.Row:
    row = await store.lock(connection, agreement_id)
    if row is None:
        raise errors.AgreementNotFound
    current = await store.current_id(connection, row)
    if current != row["id"]:
        raise errors.Superseded(current)
    return row


def _check_length(sent: dict[str, Any], service: Service) -> None:
    limit = service.settings.max_text_chars
    long = [name for name in ("reason", "human_reason") if len(sent.get(name) or "") > limit]
    if long:
        raise Invalid(errors=[FieldError(f"must have at most {limit} characters", pointer=f"/{name}") for name in long])


def _groups_of(values: dict[str, Any]) -> list[str]:
    groups = (("review", rules.REVIEW), ("merge", rules.MERGE), ("outcome", rules.OUTCOME))
    return [kind for kind, group in groups if values.keys() & set(group)]


def _count(service: Service, kinds: Sequence[str]) -> None:
    for kind in kinds:
        service.telemetry.rows.labels(kind).inc()


@contextmanager
def _constraints_told() -> Iterator[None]:
    """Where the database refuses what the service let through, its word is passed on by the constraint's name."""
    try:
        yield
    except DBAPIError as error:
        problem = _problem_of(error)
        if problem is None:
            raise
        raise problem from None


def _problem_of(error: DBAPIError) -> Problem | None:
    constraint = constraint_of(error)
    for name, _, pointer, detail in rules.RULES:
        if name == constraint:
            return Invalid(errors=[FieldError(detail, pointer=pointer)])
    if sqlstate_of(error) == BAD_TIME:
        return Invalid(errors=[FieldError("must not lie in the future", pointer="/created_at")])
    return None
