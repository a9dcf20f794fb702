"""Running the migrations, and knowing at which one a database stands and at which one the code does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from app.platform.database import migration_engine

if TYPE_CHECKING:
    from app.settings import Settings

REFERENCE = "0001"
"""The revision that an older deployment's table stands at."""
WRITER_ROLE = "agreement_log_writer"
_HERE = Path(__file__).resolve().parent
# In a checkout the migrations lie beside the package, in an installed wheel inside it.
_SCRIPTS = next(path for path in (_HERE.parent / "_migrations", _HERE.parents[1] / "migrations") if path.is_dir())


class MigrationRefused(Exception):
    """The migration cannot start; the message says what to do."""


def config(connection: sa.Connection | None = None) -> Config:
    """Alembic's configuration, without a file."""
    made = Config()
    made.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    made.set_main_option("path_separator", "os")
    made.attributes["connection"] = connection
    return made


def head() -> str:
    """The revision that this version of the code is written for."""
    revision = ScriptDirectory.from_config(config()).get_current_head()
    if revision is None:
        raise RuntimeError("there are no migrations")
    return revision


def upgrade(settings: Settings, *, from_reference: bool = False, to: str = "head") -> str:
    """Migrates up and returns the revision reached.

    `from_reference`: the database holds the reference table already; it is stamped as such first.
    Raises `MigrationRefused` where that word is missing or out of place.
    """
    engine = migration_engine(settings.migration_url())
    try:
        with engine.connect() as connection:
            _take_turns(connection)
            stamped, has_table = _state(connection)
            if from_reference and (stamped is not None or not has_table):
                raise MigrationRefused(
                    "--from-reference is for a database that has the agreements table and was never migrated here"
                )
            if has_table and stamped is None and not from_reference:
                raise MigrationRefused(
                    "there is an agreements table already; if it is the reference table of an older deployment,"
                    " run `agreement-log migrate --from-reference`: its rows are kept"
                )
            connection.rollback()
            if from_reference:
                command.stamp(config(connection), REFERENCE)
            command.upgrade(config(connection), to)
            _give_login(connection, settings)
            return _state(connection)[0] or ""
    finally:
        engine.dispose()


def downgrade(settings: Settings, to: str) -> None:
    """Migrates down to revision `to`, or by a relative step such as `-1`. What the older schema cannot hold is kept
    in the database beside it and comes back with the next upgrade."""
    engine = migration_engine(settings.migration_url())
    try:
        with engine.connect() as connection:
            _take_turns(connection)
            command.downgrade(config(connection), to)
    finally:
        engine.dispose()


def _take_turns(connection: sa.Connection) -> None:
    """Waits for whoever else migrates this database: two at once would trip over each other's half-made schema."""
    connection.execute(sa.text("SELECT pg_advisory_lock(hashtext('agreement_log.migrate'))"))
    connection.rollback()  # the lock is the session's, and ends with the connection


def _state(connection: sa.Connection) -> tuple[str | None, bool]:
    inspector = sa.inspect(connection)
    stamped = None
    if inspector.has_table("alembic_version"):
        stamped = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return stamped, inspector.has_table("agreements")


def _give_login(connection: sa.Connection, settings: Settings) -> None:
    """Makes the service's login, or sets its password anew, where the settings have one."""
    if settings.service_password is None:
        return
    login = settings.service_login
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", login):
        raise MigrationRefused("service_login must be a lower-case name of letters, digits and underscores")
    # DDL takes no parameters; format() quotes both, and the setting keeps the password out of the statement's text.
    # Logins belong to the cluster: another database of it may be giving the same one its password at this moment,
    # which Postgres reports as an internal error ("tuple concurrently updated").
    connection.execute(
        sa.text("SELECT set_config('agreement_log.password', :password, true)"),
        {"password": settings.service_password.get_secret_value()},
    )
    connection.execute(
        sa.text(
            f"""
            DO $$
            BEGIN
                FOR attempt IN 1..20 LOOP
                    BEGIN
                        IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{login}') THEN
                            CREATE ROLE {login} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE;
                        END IF;
                        EXECUTE format('ALTER ROLE {login} PASSWORD %L', current_setting('agreement_log.password'));
                        EXECUTE 'GRANT {WRITER_ROLE} TO {login}';
                        EXIT;
                    EXCEPTION WHEN duplicate_object OR unique_violation OR internal_error THEN
                        IF attempt = 20 THEN
                            RAISE;
                        END IF;
                        PERFORM pg_sleep(0.05);
                    END;
                END LOOP;
            END
            $$
            """  # noqa: S608 - the name was checked above
        )
    )
    connection.commit()
