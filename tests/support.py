"""What tests share: addresses, a live service, and the smallest row that can be recorded."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any, Self

import httpx
import sqlalchemy as sa
import uvicorn

from app.main import create_app
from app.platform.tokens import Kind, Scope, TokenFile

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from app.settings import Settings

# Who calls in a test: the principal's name is the role's.
ROLES: dict[str, tuple[Kind, frozenset[Scope]]] = {
    "review-bot": (Kind.SERVICE, frozenset({Scope.RECORD})),
    "ada": (Kind.HUMAN, frozenset({Scope.REVIEW})),
    "grace": (Kind.HUMAN, frozenset({Scope.REVIEW})),
    "verifier": (Kind.SERVICE, frozenset({Scope.OUTCOME})),
    "dashboard": (Kind.SERVICE, frozenset({Scope.READ})),
    "importer": (Kind.SERVICE, frozenset({Scope.RECORD, Scope.REVIEW, Scope.OUTCOME, Scope.IMPORT})),
    "agent-7": (Kind.AGENT, frozenset(Scope)),
    "root": (Kind.HUMAN, frozenset(Scope)),
}


def with_database(url: str, name: str) -> str:
    """The address of another database of the same server."""
    return sa.make_url(url).set(database=name).render_as_string(hide_password=False)


def with_login(url: str, user: str, password: str) -> str:
    """The same address for another login."""
    return sa.make_url(url).set(username=user, password=password).render_as_string(hide_password=False)


def a_record(**changes: Any) -> dict[str, Any]:
    """A body for POST /v1/agreements, of a decision of its own."""
    return {
        "decision_id": f"decision-{uuid.uuid4()}",
        "lane": "dependency-bumps",
        "risk_tier": "low",
        "agent_id": "agent-7",
        "guardrail_verdict": "pass",
        **changes,
    }


class LiveService:
    """The app behind a real HTTP server on a free port of loopback, in a thread."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.app = create_app(settings)
        tokens = TokenFile(settings.tokens_file)
        self.tokens = {name: tokens.new(name, kind, scopes) for name, (kind, scopes) in ROLES.items()}
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(self.app, log_config=None, access_log=False, lifespan="on", timeout_graceful_shutdown=5)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._clients: dict[str | None, httpx.Client] = {}

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started:
            if not self._thread.is_alive():
                raise RuntimeError("the service did not start")
            time.sleep(0.005)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for client in self._clients.values():
            client.close()
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()

    def as_(self, role: str | None) -> httpx.Client:
        """A client with the token of a role; None: without a token."""
        if role not in self._clients:
            headers = {"Authorization": f"Bearer {self.tokens[role]}"} if role else {}
            self._clients[role] = httpx.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False)
        return self._clients[role]

    def designate(self, *properties: str) -> None:
        """Writes the designation list."""
        quoted = ", ".join(f'"{name}"' for name in properties)
        self.settings.designations_file.write_text(f"properties = [{quoted}]\n")

    def recorded(self, **changes: Any) -> dict[str, Any]:
        """A recorded row."""
        answer = self.as_("review-bot").post("/v1/agreements", json=a_record(**changes))
        assert answer.status_code == 201, answer.text
        return answer.json()

    def reviewed(self, role: str = "ada", **changes: Any) -> dict[str, Any]:
        """A recorded row with a review."""
        body = {"human_verdict": "merge", "agreement": "true_pass", **changes}
        answer = self.as_(role).patch(f"/v1/agreements/{self.recorded()['id']}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()


def errors_of(answer: httpx.Response) -> dict[str, str]:
    """The pointers (or parameters) of a problem's errors, with what is said of each."""
    with contextlib.suppress(KeyError):
        return {item.get("pointer", item.get("parameter", "")): item["detail"] for item in answer.json()["errors"]}
    return {}


class ServiceProcess:
    """`agreement-log serve` as a process of its own, always on the same port."""

    def __init__(self, database_url: str, folder: Path, **settings: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.token = TokenFile(folder / "tokens.json").new("writer", Kind.HUMAN, frozenset(Scope))
        self._environment = {
            **os.environ,
            "DATABASE_URL": database_url,
            "AGREEMENT_LOG_PORT": str(self.port),
            "AGREEMENT_LOG_TOKENS_FILE": str(folder / "tokens.json"),
            "AGREEMENT_LOG_LOG_LEVEL": "error",
            **settings,
        }
        self._log = (folder / "service.log").open("wb")
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-c", "from app.cli import main; main()", "serve"]
        self.process = subprocess.Popen(command, env=self._environment, stdout=self._log, stderr=self._log)

    def wait_until_ready(self, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{self.url}/readyz", timeout=5, trust_env=False).status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            time.sleep(0.02)
        raise AssertionError("the service did not come back")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def end(self) -> int:
        """Tells the service to end, and returns its exit code."""
        self.process.terminate()
        code = self.process.wait(30)
        self._log.close()
        return code
