"""The public calls: rows whose property is designated now, in their public columns."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from app.agreements import listing
from app.agreements.designations import Designations, designations_of
from app.lanes.policy import PolicyFile, policy_of
from app.lanes.rates import Window, lane_rates
from app.lanes.schemas import LaneRates, WindowQuery
from app.platform import cursors
from app.platform.json_response import JsonResponse
from app.platform.routing import PUBLIC, ApiRoute, TheService, declare
from app.public import schemas

router = APIRouter(prefix="/v1/public", tags=["public"], route_class=ApiRoute)

DesignationList = Annotated[Designations, Depends(designations_of)]


@router.get(
    "/agreements",
    summary="List what may be published, newest first",
    response_model=schemas.PublicPage,
    **declare(PUBLIC),
)
async def list_public(
    query: Annotated[schemas.PublicQuery, Query()], service: TheService, designations: DesignationList
) -> JsonResponse:
    """Rows whose property is designated at this moment, and only their public columns."""
    limit = min(query.limit, service.settings.max_page_rows)
    filters = query.model_dump(exclude={"limit", "cursor"}, exclude_none=True)
    after = cursors.decode(query.cursor, filters) if query.cursor else None
    conditions = [*listing.conditions(filters), listing.designated(designations.current())]
    async with service.database.bulk_transaction() as connection:
        rows, position = await listing.page(connection, schemas.PUBLIC_COLUMNS, conditions, after, limit)
    items = [{name: row[name] for name in schemas.PUBLIC_COLUMNS} for row in rows]
    return JsonResponse({"items": items, "next_cursor": cursors.encode(position, filters) if position else None})


@router.get(
    "/lanes",
    summary="Rates over what may be published",
    response_model=LaneRates,
    **declare(PUBLIC),
)
async def public_lanes(
    query: Annotated[WindowQuery, Query()],
    service: TheService,
    designations: DesignationList,
    policy: Annotated[PolicyFile, Depends(policy_of)],
) -> JsonResponse:
    """Computed from publishable rows alone."""
    rates = await lane_rates(
        service.database,
        Window.of(query.since, query.until),
        policy.regressed_outcomes(),
        properties=designations.current(),
    )
    return JsonResponse(rates)
