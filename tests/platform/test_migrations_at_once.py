"""Several `agreement-log migrate` at once: replicas that each start with one, databases that share a cluster."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys

import psycopg
from psycopg import sql

from app.platform import migrations
from tests.support import with_login

MIGRATE = (sys.executable, "-c", "from app.cli import main; main()", "migrate")


def migrate_at_once(urls: list[str], **environment: str) -> list[str]:
    """What one process for each address printed; each must have ended well."""
    running = [
        subprocess.Popen(
            MIGRATE,
            env={**os.environ, **environment, "MIGRATION_DATABASE_URL": url},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for url in urls
    ]
    printed = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0] * len(urls), printed
    return printed


def test_migrations_of_one_database_take_turns(empty_url: str) -> None:
    printed = migrate_at_once([empty_url] * 3)
    assert sum("Running upgrade" in text for text in printed) == 1
    assert all(f"at revision {migrations.head()}" in text for text in printed)


def test_databases_of_one_cluster_give_one_login_its_password(empty_url: str, owner_url: str) -> None:
    login = f"agreement_log_test_{secrets.token_hex(4)}"
    try:
        migrate_at_once(
            [empty_url, owner_url] * 2,
            AGREEMENT_LOG_SERVICE_LOGIN=login,
            AGREEMENT_LOG_SERVICE_PASSWORD="only-for-tests",
        )
        for url in (empty_url, owner_url):
            with psycopg.connect(with_login(url, login, "only-for-tests")) as connection:
                assert connection.execute("SELECT count(*) FROM agreements").fetchone() == (0,)
    finally:
        with psycopg.connect(owner_url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(login)))
