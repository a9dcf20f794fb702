"""The calls on lanes: rates."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query

from app.lanes import schemas
from app.lanes.policy import PolicyFile, policy_of
from app.lanes.rates import Window, lane_rates
from app.platform.fields import Word
from app.platform.json_response import JsonResponse
from app.platform.problems import NotFound
from app.platform.routing import ApiRoute, TheService, declare
from app.platform.tokens import Scope

router = APIRouter(prefix="/v1/lanes", tags=["lanes"], route_class=ApiRoute)

ThePolicy = Annotated[PolicyFile, Depends(policy_of)]
WindowParameters = Annotated[schemas.WindowQuery, Query()]


async def _rates(query: schemas.WindowQuery, service: TheService, policy: PolicyFile, lane: str | None) -> Any:
    window = Window.of(query.since, query.until)
    return await lane_rates(service.database, window, policy.regressed_outcomes(), lane=lane)


@router.get(
    "",
    summary="Rates per lane and risk tier",
    response_model=schemas.LaneRates,
    **declare({Scope.READ}),
)
async def read_lanes(query: WindowParameters, service: TheService, policy: ThePolicy) -> JsonResponse:
    """From the current revision of each decision; waived rows are counted on their own line, in no rate."""
    return JsonResponse(await _rates(query, service, policy, lane=None))


@router.get(
    "/{lane:path}",
    summary="Rates of one lane, per risk tier",
    response_model=schemas.LaneRates,
    **declare({Scope.READ}, NotFound),  # for what cannot be a lane, such as a line break
)
async def read_lane(
    lane: Annotated[Word, Path()], query: WindowParameters, service: TheService, policy: ThePolicy
) -> JsonResponse:
    """A lane with no rows in the window is answered with an empty list."""
    return JsonResponse(await _rates(query, service, policy, lane=lane))
