"""The engine, and the one place where a transaction begins, commits and may fail."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import psycopg
import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from app.platform.problems import DatabaseUnavailable
from app.platform.strict_json import read_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from app.settings import Settings

APPLICATION_NAME = "agreement-log"


def _driver_url(url: str) -> sa.URL:
    """The address with psycopg 3 as its driver, whichever of the usual spellings it came in."""
    try:
        parsed = sa.make_url(url)
    except ArgumentError:
        raise ValueError(
            "the database address cannot be read; it looks like postgresql://user:password@host/db"
        ) from None
    if parsed.get_backend_name() not in ("postgresql", "postgres"):
        raise ValueError("the database address must begin with postgresql://")
    return parsed.set(drivername="postgresql+psycopg")


def migration_engine(url: str) -> sa.Engine:
    """An engine for one connection, without the service's time-outs: migrations set their own."""
    return sa.create_engine(
        _driver_url(url), poolclass=NullPool, hide_parameters=True, connect_args={"application_name": APPLICATION_NAME}
    )


class Database:
    """The service's pool. Every failure to reach or to hear from Postgres leaves as `DatabaseUnavailable`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        # The server gives up a little before the client does, so that the connection lives on.
        patience_ms = max(100, int(settings.row_timeout_s * 1000) - 200)
        # One plan for all values, which a prepared statement soon gets, guesses that a window of time holds few rows,
        # and would read ten years with one worker. Both settings end with the transaction.
        self._for_many_rows = (
            f"SELECT set_config('statement_timeout', '{int(settings.bulk_timeout_s * 1000)}', true),"
            " set_config('plan_cache_mode', 'force_custom_plan', true)"
        )
        self.engine: AsyncEngine = create_async_engine(
            _driver_url(settings.service_url()),
            pool_size=settings.pool_size,
            max_overflow=0,
            pool_timeout=settings.pool_timeout_s,
            pool_use_lifo=True,
            # The driver begins nothing by itself: a lone statement is a transaction of its own in one round trip
            # instead of three, and every longer transaction begins below, in sight.
            isolation_level="AUTOCOMMIT",
            json_deserializer=read_json,
            hide_parameters=True,  # an exception must not carry a row into a log
            connect_args={
                "application_name": APPLICATION_NAME,
                "connect_timeout": max(2, round(settings.connect_timeout_s)),
                "options": (
                    f"-c timezone=UTC -c statement_timeout={patience_ms}"
                    f" -c idle_in_transaction_session_timeout={int(settings.bulk_timeout_s * 1000)}"
                ),
                "prepare_threshold": 2,
            },
        )

    async def close(self) -> None:
        """Closes every connection."""
        await self.engine.dispose()

    @asynccontextmanager
    async def statement(self) -> AsyncIterator[AsyncConnection]:
        """A connection for one statement on single rows, which Postgres commits before it answers."""
        async with self._connection(self._settings.row_timeout_s) as connection:
            yield connection

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """One transaction on single rows: committed when the block ends, rolled back when it raises."""
        async with self._connection(self._settings.row_timeout_s, "BEGIN") as connection:
            yield connection

    @asynccontextmanager
    async def bulk_transaction(self) -> AsyncIterator[AsyncConnection]:
        """The same for calls that touch many rows, with their longer time-out."""
        async with self._connection(self._settings.bulk_timeout_s, "BEGIN", self._for_many_rows) as connection:
            yield connection

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[AsyncConnection]:
        """A read-only transaction in which several statements see one state of the table."""
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        async with self._connection(self._settings.bulk_timeout_s, begin, self._for_many_rows) as connection:
            yield connection

    @asynccontextmanager
    async def _connection(self, seconds: float, *begin: str) -> AsyncIterator[AsyncConnection]:
        """A connection on which `begin` was executed and which ends with COMMIT, all within `seconds`."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        try:
            async with asyncio.timeout_at(deadline):
                connection = await self.engine.connect()
            cut = loop.call_at(deadline, _hang_up, connection)
            try:
                for command in begin:
                    await connection.exec_driver_sql(command)
                yield connection
                if begin:
                    await connection.exec_driver_sql("COMMIT")
            finally:
                cut.cancel()
                # Given back within a transaction, it is rolled back by the pool.
                await connection.close()
        except (TimeoutError, PoolTimeout) as error:
            raise DatabaseUnavailable from error
        except DBAPIError as error:
            if _is_unavailable(error):
                raise DatabaseUnavailable from error
            raise


def _hang_up(connection: AsyncConnection) -> None:
    """Ends whatever the connection waits for, at once: the wait fails as when the server goes away.

    Cancelling the task instead would ask the server to cancel the statement and wait for its answer, and a server
    that is frozen gives none. One that is merely slow has given up before, by its own statement_timeout.
    """
    driver = connection.sync_connection.connection.driver_connection if connection.sync_connection else None
    if isinstance(driver, psycopg.AsyncConnection) and not driver.closed:
        with socket.socket(fileno=os.dup(driver.fileno())) as end:
            end.shutdown(socket.SHUT_RDWR)


def _is_unavailable(error: DBAPIError) -> bool:
    """Whether the database could not be reached, is going down, or gave up: trying again later may help."""
    sqlstate = sqlstate_of(error)
    if sqlstate is None:
        return isinstance(error, (OperationalError, InterfaceError)) or error.connection_invalidated
    # 08 connection, 53 resources, 57 intervention (shutdown, cancelled by a time-out), 40 serialization and deadlock,
    # 55P03 a lock not to be had, 25006 read-only (a failover in progress), 58 system
    return sqlstate[:2] in ("08", "53", "57", "40", "58") or sqlstate in ("55P03", "25006")


def sqlstate_of(error: DBAPIError) -> str | None:
    """The five-character code of a driver error, None where the server sent none."""
    return error.orig.sqlstate if isinstance(error.orig, psycopg.Error) else None


def constraint_of(error: DBAPIError) -> str | None:
    """The name of the constraint that a driver error reports, None where it reports none."""
    return error.orig.diag.constraint_name if isinstance(error.orig, psycopg.Error) else None
