"""The calls on agreements: fill, correct, read. The two that record are in `app.grading.routes`."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query

from app.agreements import errors, listing, recording, rules, schemas, store
from app.agreements.table import COLUMNS
from app.platform import cursors
from app.platform.json_response import JsonResponse
from app.platform.routing import BODY, ApiRoute, Caller, TheService, declare
from app.platform.tokens import Scope

router = APIRouter(prefix="/v1/agreements", tags=["agreements"], route_class=ApiRoute)


def to_answer(row: rules.Row) -> dict[str, Any]:
    """A row as the API shows it."""
    return {**{name: row[name] for name in COLUMNS}, "warnings": rules.warnings(row)}


def location(row: rules.Row) -> dict[str, str]:
    """The header that says where a row stands."""
    return {"Location": f"/v1/agreements/{row['id']}"}


@router.get(
    "",
    summary="List current rows, newest first",
    response_model=schemas.Page,
    **declare({Scope.READ}),
)
async def list_agreements(query: Annotated[schemas.ListQuery, Query()], service: TheService) -> JsonResponse:
    """Stable while rows arrive and are corrected: no decision comes twice, none is skipped."""
    limit = min(query.limit, service.settings.max_page_rows)
    filters = query.model_dump(exclude={"limit", "cursor"}, exclude_none=True)
    after = cursors.decode(query.cursor, filters) if query.cursor else None
    async with service.database.bulk_transaction() as connection:
        conditions = listing.conditions(filters)
        rows, position = await listing.page(connection, COLUMNS, conditions, after, limit)
    next_cursor = cursors.encode(position, filters) if position else None
    return JsonResponse({"items": [to_answer(row) for row in rows], "next_cursor": next_cursor})


@router.get(
    "/{agreement_id}",
    summary="Read one row",
    response_model=schemas.Agreement,
    **declare({Scope.READ}, errors.AgreementNotFound),
)
async def read_one(agreement_id: UUID, service: TheService) -> JsonResponse:
    """The row with this id, whether or not it has been superseded."""
    async with service.database.transaction() as connection:
        row = await store.get(connection, agreement_id)
    if row is None:
        raise errors.AgreementNotFound
    return JsonResponse(to_answer(row))


@router.get(
    "/{agreement_id}/history",
    summary="Read every revision of a row's decision",
    response_model=schemas.History,
    **declare({Scope.READ}, errors.AgreementNotFound),
)
async def read_history(agreement_id: UUID, service: TheService) -> JsonResponse:
    """The first revision first; any id of the decision will do."""
    async with service.database.transaction() as connection:
        row = await store.get(connection, agreement_id)
        if row is None:
            raise errors.AgreementNotFound
        revisions = await store.history(connection, row)
    return JsonResponse({"items": [to_answer(revision) for revision in revisions]})


@router.patch(
    "/{agreement_id}",
    summary="Fill what is still null",
    response_model=schemas.Agreement,
    **declare(
        {Scope.REVIEW, Scope.RECORD, Scope.OUTCOME},
        *BODY,
        errors.AgreementNotFound,
        errors.AgentsDoNotReview,
        errors.AlreadySet,
        errors.Superseded,
    ),
)
async def fill(agreement_id: UUID, body: schemas.Fill, caller: Caller, service: TheService) -> JsonResponse:
    """The review group needs the scope `review`, the merge group `record`, the outcome group `outcome`.

    The same value again changes nothing. Another value in the review or merge group is refused: POST a correction.
    Another post-merge outcome appends a revision, and the answer is the new row.
    """
    row = await recording.fill(agreement_id, body, caller, service)
    return JsonResponse(to_answer(row), headers={"Content-Location": location(row)["Location"]})


@router.post(
    "/{agreement_id}/corrections",
    summary="Correct a row by appending a revision",
    status_code=201,
    response_model=schemas.Agreement,
    **declare(
        {Scope.REVIEW},
        *BODY,
        errors.AgreementNotFound,
        errors.AgentsDoNotReview,
        errors.Superseded,
    ),
)
async def correct(agreement_id: UUID, body: schemas.Correction, caller: Caller, service: TheService) -> JsonResponse:
    """What was written stays. The review, merge and outcome groups can be corrected; the proposal and its guardrail
    verdict never."""
    row = await recording.correct(agreement_id, body, caller, service)
    return JsonResponse(to_answer(row), 201, location(row))
