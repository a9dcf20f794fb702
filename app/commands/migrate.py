"""`agreement-log migrate`: a step of its own, before the service starts."""

from __future__ import annotations

from typing import Annotated

import typer

from app.commands.settings import fail, load_settings


def migrate(
    from_reference: Annotated[
        bool,
        typer.Option(
            "--from-reference",
            help="The database holds the reference table of an older deployment; keep its rows and upgrade in place.",
        ),
    ] = False,
    down: Annotated[
        str | None,
        typer.Option(
            metavar="REVISION",
            help="Go down to REVISION instead; what it cannot hold is kept beside it until the next upgrade.",
        ),
    ] = None,
) -> None:
    """Bring the schema to what this version needs. Connects with MIGRATION_DATABASE_URL, else with DATABASE_URL."""
    from sqlalchemy.exc import SQLAlchemyError

    from app.platform import migrations
    from app.platform.telemetry import configure_logging, describe

    settings = load_settings()
    configure_logging(settings.log_level, "console")
    try:
        if down is not None:
            migrations.downgrade(settings, down)
            typer.echo(f"migrated down to {down}")
        else:
            typer.echo(f"at revision {migrations.upgrade(settings, from_reference=from_reference)}")
    except (migrations.MigrationRefused, ValueError) as error:
        fail(str(error))
    except SQLAlchemyError as error:
        # A driver's message may hold a row; what Postgres calls the error is enough to look it up.
        described = describe(error)
        if described.get("sqlstate") == "42501":
            fail(
                "this login may not migrate: it needs to own the database and have CREATEROLE (docs/deploy.md)", code=1
            )
        fail(f"the database refused: {described['error']} (SQLSTATE {described.get('sqlstate')})", code=1)
