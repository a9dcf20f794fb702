"""The calls of operators: is it alive, can it serve, what has it done."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from app.platform.json_response import JsonResponse
from app.platform.problems import DatabaseUnavailable, SchemaMismatch, responses
from app.platform.routing import TheService

router = APIRouter(tags=["operations"])

EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"


class Health(BaseModel):
    """The answer of a service that is well."""

    status: str


@router.get("/healthz", summary="Is the process alive?", response_model=Health, responses=responses())
async def healthz() -> JsonResponse:
    """Says nothing about the database: restarting the service would not bring that back."""
    return JsonResponse({"status": "alive"})


@router.get(
    "/readyz",
    summary="Can it serve?",
    response_model=Health,
    responses=responses(DatabaseUnavailable, SchemaMismatch),
)
async def readyz(service: TheService) -> JsonResponse:
    """Asks the database, and whether its schema is the one that this version needs; 503 says what to do."""
    fault = await service.schema.ask() or service.tokens.fault
    if fault is not None:
        raise SchemaMismatch(fault)
    return JsonResponse({"status": "ready"})


@router.get(
    "/metrics",
    summary="Prometheus metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **responses()},
)
async def metrics(service: TheService) -> Response:
    """Counts and times only: no lane, no property, no principal."""
    return Response(service.telemetry.exposition(), media_type=EXPOSITION)
