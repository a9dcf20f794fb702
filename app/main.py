"""The ASGI app: routers, error handlers, lifespan; nothing else."""

from __future__ import annotations

from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from app.agreements import routes as agreements
from app.agreements.designations import Designations
from app.grading import routes as grading
from app.grading.worker_pool import WorkerPool
from app.lanes import routes as lanes
from app.lanes.policy import PolicyFile
from app.platform import operations, problems
from app.platform.database import Database
from app.platform.openapi import install as install_openapi
from app.platform.schema_state import SchemaState
from app.platform.service import Service
from app.platform.telemetry import Telemetry, TelemetryMiddleware
from app.platform.tokens import TokenFile
from app.public import routes as public
from app.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def create_app(settings: Settings | None = None) -> FastAPI:
    """The app with these settings, or with those of the environment. Connects to nothing before its first request."""
    settings = settings or Settings()
    database = Database(settings)
    telemetry = Telemetry()
    pool = WorkerPool(settings, telemetry.registry)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await pool.close()
        await database.close()

    app = FastAPI(
        title="Agreement Log",
        version=version("agreement-log"),
        summary="An append-only log of guardrail verdicts, human agreement and post-merge outcomes.",
        lifespan=lifespan,
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = Service(settings, database, SchemaState(database), TokenFile(settings.tokens_file), telemetry)
    app.state.designations = Designations(settings.designations_file)
    app.state.policy = PolicyFile(settings.policy_file)
    app.state.grading = pool
    telemetry.observe_pool(database)
    app.add_middleware(TelemetryMiddleware, telemetry=telemetry)
    problems.install(app, on_problem=lambda slug: telemetry.refused.labels(slug).inc())
    for router in (grading.router, agreements.router, lanes.router, public.router, operations.router):
        app.include_router(router)
    install_openapi(app)
    return app


def __getattr__(name: str) -> Any:
    """`uvicorn app.main:app` works, and importing this module makes no app."""
    if name == "app":
        return create_app()
    raise AttributeError(name)
