"""The examples of docs/grading.md, run as they are written there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support import LiveService

TEXT = (Path(__file__).parents[2] / "docs" / "grading.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##)", TEXT, flags=re.MULTILINE | re.DOTALL))
CONSOLES = re.findall(r"```console\n(.*?)```", TEXT, flags=re.DOTALL)


def test_there_is_an_example_of_each_kind() -> None:
    assert set(SECTIONS) == {"result_set", "number", "statement", "consensus"}
    assert len(CONSOLES) == 2


@pytest.mark.parametrize("kind", SECTIONS)
def test_an_example_is_answered_as_it_is_written(live: LiveService, kind: str) -> None:
    body, answer = re.findall(r"```json\n(.*?)```", SECTIONS[kind], flags=re.DOTALL)
    assert json.loads(body)["evidence"][0]["kind"] == kind
    answered = live.as_("review-bot").post("/v1/grade", content=body, headers={"Content-Type": "application/json"})
    assert (answered.status_code, answered.json()) == (200, json.loads(answer))


@pytest.mark.parametrize("console", CONSOLES, ids=["digest", "grade"])
def test_a_command_line_prints_what_is_written_under_it(live: LiveService, tmp_path: Path, console: str) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "AGREEMENT_LOG_URL": live.url,
        "AGREEMENT_LOG_TOKEN": live.tokens["review-bot"],
    }
    steps = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", console, flags=re.MULTILINE)
    assert steps
    for command, printed in steps:
        ran = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert (ran.stdout, ran.stderr) == (printed, ""), command
