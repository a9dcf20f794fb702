"""Logs and metrics. Neither holds anything of a row: no value, no raw path, no message of a driver."""

from __future__ import annotations

import logging
import re
import sys
import time
import traceback
import uuid
from typing import TYPE_CHECKING, Any

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.process_collector import ProcessCollector
from sqlalchemy.exc import DBAPIError
from starlette.datastructures import MutableHeaders

from app.platform.database import constraint_of, sqlstate_of
from app.platform.problems import InternalError

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from app.platform.database import Database

REQUEST_ID = "X-Request-Id"
PROBES = ("/healthz", "/readyz", "/metrics")
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

log = structlog.get_logger("agreement_log")


def configure_logging(level: str, log_format: str) -> None:
    """Structured lines on standard error, one event a line; other libraries' records come in the same form."""
    render = (
        structlog.processors.JSONRenderer()
        if log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _without_exception, render],
            foreign_pre_chain=shared,
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).handlers = []
        logging.getLogger(name).propagate = True
    # The access log would print raw paths and queries; the middleware below writes one line a request instead.
    logging.getLogger("uvicorn.access").disabled = True


def _without_exception(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """An exception's message and its locals may hold a row, so that only its type and its place are logged."""
    info = event.pop("exc_info", None)
    if isinstance(info, tuple) and isinstance(info[1], BaseException):
        event.update(describe(info[1]))
    return event


def describe(error: BaseException) -> dict[str, Any]:
    """An exception as a log may show it: its type, where it came from, and what Postgres calls it."""
    frames = traceback.extract_tb(error.__traceback__)
    described: dict[str, Any] = {
        "error": type(error).__qualname__,
        "at": [f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames[-12:]],
    }
    if isinstance(error, DBAPIError):
        described |= {"sqlstate": sqlstate_of(error), "constraint": constraint_of(error)}
    return described


class Telemetry:
    """The metrics of one app; the registry is its own, so that two apps in one process do not mix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = Counter(
            "agreement_log_requests", "Requests answered", ("method", "route", "status"), registry=self.registry
        )
        self.latency = Histogram(
            "agreement_log_request_seconds",
            "Time from request to answer",
            ("method", "route"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.rows = Counter("agreement_log_rows", "Rows and groups written", ("kind",), registry=self.registry)
        self.refused = Counter("agreement_log_refused", "Requests refused", ("reason",), registry=self.registry)
        self.pool = Gauge("agreement_log_pool_connections", "Database connections", ("state",), registry=self.registry)

    def observe_pool(self, database: Database) -> None:
        """Lets the pool's gauges be read when they are asked for."""
        pool: Any = database.engine.pool
        self.pool.labels("in_use").set_function(pool.checkedout)
        self.pool.labels("idle").set_function(pool.checkedin)

    def exposition(self) -> bytes:
        """The metrics in Prometheus' text form."""
        return generate_latest(self.registry)


class TelemetryMiddleware:
    """One log line and one observation a request; gives each a request id; answers what nothing else caught."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self.app = app
        self.telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = _request_id(scope)
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        started = time.perf_counter()
        status = 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID] = request_id
            await send(message)

        try:
            await self.app(scope, receive, answer)
        except Exception as error:
            # not log.exception: the message may hold a row
            log.error("request failed", **describe(error))  # noqa: TRY400
            if status:
                raise
            await InternalError().response()(scope, receive, answer)
        finally:
            self._record(scope, status, time.perf_counter() - started)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        # The template, never the path: a path may hold what a caller typed.
        route = getattr(scope.get("route"), "path", "unmatched")
        method = scope["method"] if route != "unmatched" else "any"
        self.telemetry.requests.labels(method, route, str(status)).inc()
        self.telemetry.latency.labels(method, route).observe(seconds)
        principal = scope.get("state", {}).get("principal")
        # Probes come every few seconds for as long as the service lives, and say nothing that the metrics do not.
        write = log.debug if route in PROBES else log.info
        write(
            "request",
            method=method,
            route=route,
            status=status,
            ms=round(seconds * 1000, 2),
            principal=principal.name if principal is not None else None,
        )


def _request_id(scope: Scope) -> str:
    """The caller's own where it is fit to be logged, else a new one."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return str(value.decode())
    return uuid.uuid4().hex
