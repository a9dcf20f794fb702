"""The calls that take evidence: record, with or without it; grade; decide a round of a consensus.

`POST /v1/agreements` is here and not with the other calls on agreements because it takes both forms of a row: one
that says its verdict goes the short way, one that brings evidence goes through a worker.
"""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request

from app.agreements import errors, recording
from app.agreements.designations import Designations, designations_of
from app.agreements.routes import location, to_answer
from app.agreements.schemas import Agreement, BatchAnswer, Record
from app.grading import graded_rows, schemas
from app.grading.errors import EvidenceTooCostly, GradingBusy
from app.grading.read_rows import SentRows, read_grade, read_rows
from app.grading.round_body import RoundBody
from app.grading.session import decide_round
from app.grading.worker_pool import WorkerPool
from app.platform.json_response import JsonResponse
from app.platform.read_body import read_body
from app.platform.routing import BODY, ApiRoute, Caller, StrictRequest, TheService, declare
from app.platform.service import Service
from app.platform.tokens import Principal, Scope

router = APIRouter(prefix="/v1", route_class=ApiRoute)

DesignationList = Annotated[Designations, Depends(designations_of)]


async def _pool(request: Request) -> WorkerPool:
    return cast("WorkerPool", request.app.state.grading)


Pool = Annotated[WorkerPool, Depends(_pool)]

EVIDENCE = (*BODY, GradingBusy, EvidenceTooCostly)
"""What a call with evidence can answer besides."""

RECORDING = (*EVIDENCE, errors.Undesignated, errors.DecisionConflict, errors.IdTaken)


@router.post(
    "/agreements",
    tags=["agreements"],
    summary="Record one guardrail verdict, given or graded",
    status_code=201,
    response_model=Agreement,
    **declare(
        {Scope.RECORD},
        *RECORDING,
        also={200: ("The decision was recorded before, with the same content", Agreement)},
        body=schemas.RecordBody,
    ),
)
async def record_one(
    request: StrictRequest, caller: Caller, service: TheService, designations: DesignationList, pool: Pool
) -> JsonResponse:
    """The same decision sent again with the same content is answered 200 with the first row, however much later."""
    async with read_rows(request, caller, service, pool, batch=False) as sent:
        [recorded] = await _record(sent, caller, service, designations, pointer=None)
    return JsonResponse(to_answer(recorded.row), 201 if recorded.created else 200, location(recorded.row))


@router.post(
    "/agreements/batch",
    tags=["agreements"],
    summary="Record up to 1,000 guardrail verdicts, given or graded, all or nothing",
    status_code=201,
    response_model=BatchAnswer,
    **declare(
        {Scope.RECORD},
        *RECORDING,
        also={200: ("Every decision was recorded before, with the same content", BatchAnswer)},
        body=schemas.BatchBody,
    ),
)
async def record_batch(
    request: StrictRequest, caller: Caller, service: TheService, designations: DesignationList, pool: Pool
) -> JsonResponse:
    """Each bad row is named by its index, and then none is written."""
    async with read_rows(request, caller, service, pool, batch=True) as sent:
        recorded = await _record(sent, caller, service, designations, pointer="/rows")
    answer = {"rows": [{"created": one.created, "row": to_answer(one.row)} for one in recorded]}
    return JsonResponse(answer, 201 if any(one.created for one in recorded) else 200)


async def _record(
    sent: SentRows, caller: Principal, service: Service, designations: Designations, *, pointer: str | None
) -> list[recording.Stored]:
    designated = designations.current()
    if sent.session is None:
        given = [row for row in sent.rows if isinstance(row, Record)]
        return await recording.record(given, caller, service, designated, pointer=pointer)
    return await graded_rows.record(
        sent.rows, sent.evidence, sent.session, caller, service, designated, pointer=pointer
    )


@router.post(
    "/grade",
    tags=["grading"],
    summary="Grade evidence, and record nothing",
    response_model=schemas.Grade,
    **declare({Scope.RECORD}, *EVIDENCE, body=schemas.ToGrade),
)
async def grade(request: StrictRequest, service: TheService, pool: Pool) -> JsonResponse:
    """The same evidence is graded as it would be for a row: the same verdict, confidence and checks."""
    async with read_grade(request, service, pool) as (sent, evidence, session):
        graded = await graded_rows.grade(session, sent, evidence)
    return JsonResponse(graded.to_answer())


@router.post(
    "/consensus/rounds",
    tags=["grading"],
    summary="Decide one round of a consensus",
    response_model=schemas.RoundDecision,
    **declare({Scope.RECORD}, *EVIDENCE, body=RoundBody),
)
async def decide(request: StrictRequest, service: TheService, pool: Pool) -> JsonResponse:
    """The state travels with the caller: what the answer calls next is sent with the next round. Nothing is stored."""
    async with pool.admission():
        body = await read_body(request, service.settings.max_evidence_bytes)
        async with pool.lend(held_bytes=len(body)) as loan:
            decision = await decide_round(loan, body)
    return JsonResponse(decision)
