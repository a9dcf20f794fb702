"""From the body of a call to its rows: the short way where there is no evidence, through a worker where there is."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import BaseModel, TypeAdapter

from app.agreements.schemas import Record
from app.grading.schemas import BatchEnvelope, GradeEnvelope, RecordEnvelope
from app.grading.session import SentEvidence, Session, SplitText
from app.platform.problems import BodyTooLarge, FieldError, Invalid
from app.platform.read_body import read_body
from app.platform.routing import validated
from app.platform.strict_json import parse_json
from app.platform.tokens import Scope

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from app.grading.worker_pool import WorkerPool
    from app.platform.routing import StrictRequest
    from app.platform.service import Service
    from app.platform.tokens import Principal

E = TypeVar("E", bound=BaseModel)

_RECORD = TypeAdapter(Record)
_RECORD_ENVELOPE = TypeAdapter(RecordEnvelope)
_GRADE_ENVELOPE = TypeAdapter(GradeEnvelope)
_BATCH = TypeAdapter(BatchEnvelope)

_MEMBER = b'"evidence"'
DECIDED = ("guardrail_verdict", "guardrail_confidence", "guardrail_checks")


class SentRows(NamedTuple):
    """The rows of a body. `session` is None where none of them comes with evidence."""

    rows: list[Record | RecordEnvelope]
    evidence: Sequence[SentEvidence]
    session: Session | None


@asynccontextmanager
async def read_rows(
    request: StrictRequest, principal: Principal, service: Service, pool: WorkerPool, *, batch: bool
) -> AsyncIterator[SentRows]:
    """The rows that were sent, and the session in which they can be graded.

    Raises `MalformedJson`, `BodyTooLarge`, `EvidenceTooCostly`, `GradingBusy`, and `Invalid` for everything that is
    wrong in any of the rows.
    """
    async with _body(request, service, pool) as (body, stack):
        if _MEMBER not in body:
            value = _read_plain(body, service)
            # A name may be spelled with escapes, so that only now it is known that there is none.
            if not any("evidence" in row for row in _objects(value, batch=batch)):
                yield SentRows(_rows(value, (), principal, service, batch=batch), (), None)
                return
        session, split = await _split(body, stack, request, service, pool, batch=batch)
        value = _read_plain(split.envelope.encode(), service)
        rows = _rows(value, split.evidence, principal, service, batch=batch)
        yield SentRows(rows, split.evidence, session)


@asynccontextmanager
async def read_grade(
    request: StrictRequest, service: Service, pool: WorkerPool
) -> AsyncIterator[tuple[GradeEnvelope, SentEvidence, Session]]:
    """What is to be graded and not recorded. Raises as `read_rows`."""
    async with _body(request, service, pool) as (body, stack):
        session, split = await _split(body, stack, request, service, pool, batch=False)
        value = _read_plain(split.envelope.encode(), service)
        sent = _enveloped(_GRADE_ENVELOPE, value, split.evidence, "")
        yield sent, split.evidence[sent.evidence], session


@asynccontextmanager
async def _body(
    request: StrictRequest, service: Service, pool: WorkerPool
) -> AsyncIterator[tuple[bytes, AsyncExitStack]]:
    async with AsyncExitStack() as stack:
        if _may_be_large(request, service):
            # Before it is read: the places are what bounds the memory that waiting evidence takes.
            await stack.enter_async_context(pool.admission())
        yield await read_body(request, service.settings.max_evidence_bytes), stack


def _may_be_large(request: StrictRequest, service: Service) -> bool:
    length = request.headers.get("content-length", "")
    return not length.isdecimal() or int(length) > service.settings.max_body_bytes


async def _split(  # noqa: PLR0913 - what a request has
    body: bytes, stack: AsyncExitStack, request: StrictRequest, service: Service, pool: WorkerPool, *, batch: bool
) -> tuple[Session, SplitText]:
    if not _may_be_large(request, service):
        await stack.enter_async_context(pool.admission())
    loan = await stack.enter_async_context(pool.lend(held_bytes=len(body)))
    session = Session(pool, loan, body, batch=batch)
    return session, await session.read()


def _read_plain(body: bytes, service: Service) -> Any:
    if len(body) > service.settings.max_body_bytes:
        raise BodyTooLarge("see `max_body_bytes` in the settings; evidence has a limit of its own")
    return parse_json(body, max_depth=service.settings.max_json_depth)


def _objects(value: Any, *, batch: bool) -> list[dict[str, Any]]:
    rows = value.get("rows") if batch and isinstance(value, dict) else [value]
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _rows(
    value: Any, evidence: Sequence[SentEvidence], principal: Principal, service: Service, *, batch: bool
) -> list[Record | RecordEnvelope]:
    if not batch:
        return [_row(value, evidence, principal, "")]
    sent = validated(_BATCH, value).rows
    limit = service.settings.max_batch_rows
    if len(sent) > limit:
        raise Invalid(errors=[FieldError(f"must hold at most {limit} rows", pointer="/rows")])
    rows: list[Record | RecordEnvelope] = []
    errors: list[FieldError] = []
    for index, row in enumerate(sent):
        try:
            rows.append(_row(row, evidence, principal, f"/rows/{index}"))
        except Invalid as invalid:
            errors += invalid.errors
    if errors:
        raise Invalid(errors=errors)
    return rows


def _row(value: Any, evidence: Sequence[SentEvidence], principal: Principal, at: str) -> Record | RecordEnvelope:
    if isinstance(value, dict) and "evidence" in value:
        return _enveloped(_RECORD_ENVELOPE, value, evidence, at)
    record = validated(_RECORD, value, pointer=at)
    checks = record.guardrail_checks
    if isinstance(checks, dict) and "evidence_digest" in checks and not principal.may(Scope.IMPORT):
        # Otherwise a sender could pass a verdict of its own off as one that was computed here.
        wrong = "is the service's to write: send `evidence`, and the service grades it"
        raise Invalid(errors=[FieldError(wrong, pointer=f"{at}/guardrail_checks/evidence_digest")])
    return record


def _enveloped(adapter: TypeAdapter[E], value: Any, evidence: Sequence[SentEvidence], at: str) -> E:
    """What was sent with evidence. Raises `Invalid` with all that is wrong, within the evidence and around it."""
    errors: list[FieldError] = []
    if isinstance(value, dict):
        errors += [
            FieldError("cannot be sent with evidence, from which the service computes it", pointer=f"{at}/{name}")
            for name in DECIDED
            if name in value
        ]
        if "evidence" in value:
            found = evidence[value["evidence"]].errors
            errors += [FieldError(detail, pointer=f"{at}/evidence{pointer}") for pointer, detail in found]
        value = {name: member for name, member in value.items() if name not in DECIDED}
    try:
        sent = validated(adapter, value, pointer=at)
    except Invalid as invalid:
        raise Invalid(errors=[*errors, *invalid.errors]) from None
    if errors:
        raise Invalid(errors=errors)
    return sent
