"""The image's health check, against a real service."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from tests.support import LiveService

SCRIPT = Path(__file__).resolve().parents[2] / "deploy" / "healthcheck.py"


def ask(url: str, path: str) -> subprocess.CompletedProcess[str]:
    # A proxy that is set for the container must not answer for the service.
    environment = {**os.environ, "AGREEMENT_LOG_PORT": str(httpx.URL(url).port), "http_proxy": "http://127.0.0.1:9"}
    return subprocess.run(
        [sys.executable, str(SCRIPT), path], env=environment, capture_output=True, text=True, check=False
    )


def test_a_service_that_can_serve_is_healthy(service: LiveService) -> None:
    assert ask(service.url, "/readyz").returncode == 0
    assert ask(service.url, "/healthz").returncode == 0


def test_a_service_that_cannot_serve_is_not_and_says_why(service: LiveService) -> None:
    service.settings.tokens_file.unlink()
    ready = ask(service.url, "/readyz")
    assert (ready.returncode, "tokens.json cannot be read" in ready.stdout) == (1, True)
    assert ask(service.url, "/healthz").returncode == 0


def test_no_service_is_not_healthy() -> None:
    silent = ask("http://127.0.0.1:9", "/healthz")
    assert (silent.returncode, silent.stdout[:10]) == (1, "no answer:")
