"""A whole deployment for one run: a durable Postgres of its own, and the service as a process of its own."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import psycopg
import sqlalchemy as sa

from app.platform import embedded, migrations
from app.platform.tokens import Kind, Scope, TokenFile
from app.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGIN, PASSWORD = "agreement_log_bench", "only-for-benchmarks"


@dataclass(frozen=True, slots=True)
class Deployment:
    """Where everything is."""

    owner_url: str
    """A superuser's address."""
    writer_url: str
    """The service's own login."""
    host: str
    port: int
    token: str
    """May record and read."""
    binaries: Path
    """pgbench and its kin."""
    service: psutil.Process
    postgres: psutil.Process


@contextlib.contextmanager
def deployment(**settings: str) -> Iterator[Deployment]:
    """Starts both and stops them again. `settings` are Postgres' own; without any it keeps its durable defaults."""
    with tempfile.TemporaryDirectory(prefix="agreement-log-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # under root, Postgres runs as another user
        server = embedded.start(folder / "postgres")
        try:
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                connection.execute("CREATE DATABASE bench")
                for setting, value in settings.items():
                    connection.execute(f"ALTER SYSTEM SET {setting} = '{value}'")
                connection.execute("SELECT pg_reload_conf()")
            owner_url = sa.make_url(server.get_uri()).set(database="bench")
            writer_url = owner_url.set(username=LOGIN, password=PASSWORD).render_as_string(hide_password=False)
            owner = owner_url.render_as_string(hide_password=False)
            migrations.upgrade(Settings(migration_database_url=owner, service_login=LOGIN, service_password=PASSWORD))
            token = TokenFile(folder / "tokens.json").new("bench", Kind.SERVICE, frozenset({Scope.RECORD, Scope.READ}))
            with _service(folder, writer_url) as (process, host, port):
                yield Deployment(
                    owner_url=owner,
                    writer_url=writer_url,
                    host=host,
                    port=port,
                    token=token,
                    binaries=Path(server.bin_path),
                    service=psutil.Process(process.pid),
                    postgres=psutil.Process(server.get_pid()),
                )
        finally:
            server.cleanup()


@contextlib.contextmanager
def _service(folder: Path, url: str) -> Iterator[tuple[subprocess.Popen[bytes], str, int]]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        host, port = probe.getsockname()
    environment = {
        **os.environ,
        "AGREEMENT_LOG_DATABASE_URL": url,
        "AGREEMENT_LOG_TOKENS_FILE": str(folder / "tokens.json"),
        "AGREEMENT_LOG_DESIGNATIONS_FILE": str(folder / "designations.toml"),
        "AGREEMENT_LOG_POLICY_FILE": str(folder / "policy.toml"),
    }
    command = [str(Path(sys.executable).with_name("agreement-log")), "serve", "--host", host, "--port", str(port)]
    with (folder / "service.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stderr=log, stdout=log)
        try:
            _wait(process, host, port)
            yield process, host, port
        finally:
            process.terminate()
            process.wait(30)


def _wait(process: subprocess.Popen[bytes], host: str, port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection((host, port), 1) as connection:
            connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n")
            if b" 200 " in connection.recv(200):
                return
        time.sleep(0.05)
    raise SystemExit("the service did not get ready")


def cpu_seconds(process: psutil.Process) -> float:
    """The processor time that a process and its living children have used."""
    used = 0.0
    for one in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = one.cpu_times()
            used += times.user + times.system
    return used
