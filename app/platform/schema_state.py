"""Whether the service may take traffic: the schema is the one it was written for, and it does not run as owner."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.exc import ProgrammingError

from app.platform import migrations
from app.platform.problems import SchemaMismatch

if TYPE_CHECKING:
    from app.platform.database import Database

FRESH_S = 5.0
"""How long an answer is believed: a migration that runs beside the service is noticed within this time."""

_OWNER = """
    SELECT rolsuper OR pg_has_role(current_user, c.relowner, 'MEMBER')
    FROM pg_roles, pg_class c
    WHERE rolname = current_user AND c.oid = to_regclass('public.agreements')
"""


class SchemaState:
    """Asked before each call; the database is asked at most once in `FRESH_S`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._head = migrations.head()
        self._fault: str | None = None
        self._asked_at = float("-inf")

    async def require(self) -> None:
        """Raises `SchemaMismatch` while the service must not serve."""
        if time.monotonic() - self._asked_at > FRESH_S:
            await self.ask()
        if self._fault is not None:
            raise SchemaMismatch(self._fault)

    async def ask(self) -> str | None:
        """What stands in the way, with what to do about it; None when nothing does. Raises `DatabaseUnavailable`."""
        self._fault = await self._ask()
        # A refusal is not remembered: the first call after the repair is served.
        self._asked_at = time.monotonic() if self._fault is None else float("-inf")
        return self._fault

    async def _ask(self) -> str | None:
        async with self._database.transaction() as connection:
            try:
                found = await connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
            except ProgrammingError:
                return "the database was never migrated, or this login may not read it: run `agreement-log migrate`"
            if found != self._head:
                return (
                    f"the schema is at revision {found}, this version of the service needs {self._head}: run"
                    " `agreement-log migrate` if the schema is older, upgrade the service if it is newer"
                )
            if await connection.scalar(sa.text(_OWNER)):
                return (
                    "the service is connected as the owner of the table, who could rewrite it: connect as a login"
                    f" that is a member of {migrations.WRITER_ROLE}"
                )
        return None
