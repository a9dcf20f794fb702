"""Runs the migrations on the connection that `app.platform.migrations` hands over, or on MIGRATION_DATABASE_URL."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import context

from app.agreements.table import metadata
from app.platform.database import migration_engine
from app.settings import Settings

# A migration that waits for a lock makes everything behind it wait too; it is better to fail and be run again.
LOCK_TIMEOUT = "5s"
STATEMENT_TIMEOUT = "15min"


def _is_ours(_obj: Any, name: str | None, kind: str, _reflected: bool, _compare_to: Any) -> bool:
    """Whether `alembic check` looks at it: a deployment may keep other tables beside ours."""
    return kind != "table" or name in metadata.tables


def _migrate(connection: sa.Connection) -> None:
    connection.execute(sa.text(f"SET lock_timeout = '{LOCK_TIMEOUT}'"))
    connection.execute(sa.text(f"SET statement_timeout = '{STATEMENT_TIMEOUT}'"))
    connection.commit()
    context.configure(
        connection=connection,
        target_metadata=metadata,
        compare_type=True,
        compare_server_default=True,
        include_object=_is_ours,
        # A value added to an enum can be used only after its transaction has ended.
        transaction_per_migration=True,
    )
    with context.begin_transaction():
        context.run_migrations()


def main() -> None:
    """Migrates on the connection handed over, or on one of its own."""
    given: sa.Connection | None = context.config.attributes.get("connection")
    if given is not None:
        _migrate(given)
        return
    engine = migration_engine(Settings().migration_url())
    with engine.connect() as connection:
        _migrate(connection)
    engine.dispose()


main()
