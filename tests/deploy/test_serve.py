"""`agreement-log serve` as an image runs it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SERVE = (sys.executable, "-c", "from app.cli import main; main()", "serve")


@pytest.mark.parametrize(
    ("url", "says"),
    [(None, "set DATABASE_URL"), ("mysql://db/x", "must begin with postgresql://")],
    ids=["no database address", "an address of another database"],
)
def test_a_wrong_address_ends_the_service_with_a_sentence(url: str | None, says: str) -> None:
    environment = {name: value for name, value in os.environ.items() if "DATABASE_URL" not in name}
    if url is not None:
        environment["DATABASE_URL"] = url
    ended = subprocess.run(SERVE, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr.count("\n"), says in ended.stderr) == (2, 1, True), ended.stderr
