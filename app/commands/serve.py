"""`agreement-log serve`: the service, in the foreground, until it is told to stop."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from app.commands.settings import fail, load_settings

if TYPE_CHECKING:
    from app.settings import Settings


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on; default AGREEMENT_LOG_HOST.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; default AGREEMENT_LOG_PORT.")] = None,
) -> None:
    """Serve the API. Settings come from AGREEMENT_LOG_… in the environment or from the file AGREEMENT_LOG_CONFIG."""
    run_server(load_settings(host=host, port=port))


def _end(_signal: int, _frame: object) -> NoReturn:
    """Reached before the server listens, and again, from the server, when it has shut down."""
    raise SystemExit(0)


def run_server(settings: Settings) -> None:
    """Serves until SIGINT or SIGTERM; running requests are finished first."""
    # Process 1 of a container has no default for it, and would not hear it before the server listens.
    signal.signal(signal.SIGTERM, _end)
    import gc

    import uvicorn
    from uvicorn.importer import import_from_string

    from app.platform.telemetry import configure_logging

    configure_logging(settings.log_level, settings.log_format)
    try:
        # by its address, as servers load an app: nothing in the package imports it
        app = import_from_string("app.main:create_app")(settings)
    except ValueError as error:
        fail(str(error))
    # What was made by now lives until the end. Left where it is, the garbage collector would walk through all of it
    # again and again while a batch is read, which takes a third longer.
    gc.collect()
    gc.freeze()
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=settings.shutdown_timeout_s,
    )
