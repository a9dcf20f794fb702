"""The commands of an operator: a first run, migrations, tokens."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import psycopg
import pytest
from typer.testing import CliRunner

from app.cli import app
from app.platform import migrations
from app.platform.tokens import TokenFile
from tests.migrations.test_migrations import migrate_in_place

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from app.cli import main; main()"]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def first_run(tmp_path: Path) -> Iterator[tuple[str, str, Path]]:
    """`agreement-log dev` in a folder of its own: its address, its screen, and where its state is."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    # not in pytest's own folder: under root Postgres runs as another user, who could not reach it
    state = Path(tempfile.mkdtemp(prefix="agreement-log-dev-"))
    environment = {name: value for name, value in os.environ.items() if not name.endswith("DATABASE_URL")}
    with (tmp_path / "screen").open("w+") as screen:
        command = [*COMMAND, "dev", "--state", str(state), "--port", str(port)]
        process = subprocess.Popen(command, stdout=screen, stderr=subprocess.STDOUT, env=environment, cwd=ROOT)
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 90
        while True:
            try:
                if httpx.get(f"{url}/readyz", trust_env=False, timeout=5).status_code == 200:
                    break
            except httpx.HTTPError:
                pass
            assert process.poll() is None, (tmp_path / "screen").read_text()
            assert time.monotonic() < deadline, (tmp_path / "screen").read_text()
            time.sleep(0.05)
        yield url, (tmp_path / "screen").read_text(), state
        process.send_signal(signal.SIGINT)
        process.wait(30)
        shutil.rmtree(state)


@pytest.mark.skipif(shutil.which("curl") is None, reason="the screen's commands use curl")
def test_what_the_first_screen_says_works_when_pasted(first_run: tuple[str, str, Path]) -> None:
    url, screen, state = first_run
    lines = screen[screen.index("Try, in another terminal") :].splitlines()[1:]
    script = "\n".join(line for line in lines if line.startswith("  ") and "make demo" not in line)
    script = script.replace(".venv/bin/agreement-log", f"{sys.executable} -c 'from app.cli import main; main()'")
    done = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert '"decision_id":"pr-101"' in done.stdout
    assert re.search(r"agreement\s+true_pass", done.stdout)
    assert "1/1" not in done.stdout  # nothing false
    assert "0/1 = 0.0% (<95.0%)" in done.stdout
    [public] = httpx.get(f"{url}/v1/public/agreements", trust_env=False).json()["items"]
    assert public["property"] == "storefront"
    loaded = subprocess.run([*COMMAND, "demo", "--rows", "40", "--state", str(state)], capture_output=True, text=True, cwd=ROOT,
                            timeout=120, check=False, env={k: v for k, v in os.environ.items() if not k.startswith("AGREEMENT_LOG_")})  # fmt: skip
    assert "40 decisions loaded" in loaded.stdout, loaded.stderr
    for secret in ("tokens.json", "dev-tokens.json", "service-password"):
        assert (state / secret).stat().st_mode & 0o077 == 0


def test_tokens_are_made_listed_and_revoked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGREEMENT_LOG_TOKENS_FILE", str(tmp_path / "tokens.json"))
    token = run("token", "new", "--name", "bot", "--scope", "record", "--scope", "read").strip()
    file = TokenFile(tmp_path / "tokens.json")
    assert file.principal(token) is not None
    [listed] = json.loads(run("token", "list", "--json"))
    assert (listed["name"], sorted(listed["scopes"]), listed["revoked_at"]) == ("bot", ["read", "record"], None)
    assert token not in run("token", "list")
    assert "bot" in run("token", "list")
    assert "revoked 1" in run("token", "revoke", listed["id"])
    assert file.principal(token) is None
    again = CliRunner().invoke(app, ["token", "revoke", "bot"])
    assert (again.exit_code, "no live token" in again.stderr) == (1, True)
    bad = CliRunner().invoke(app, ["token", "new", "--name", "two words", "--scope", "read"])
    assert (bad.exit_code, "name" in bad.stderr) == (2, True)
    (tmp_path / "tokens.json").write_text("{")
    broken = CliRunner().invoke(app, ["token", "new", "--name", "x", "--scope", "read"])
    assert (broken.exit_code, "tokens.json" in broken.stderr) == (2, True)


def test_migrations_are_a_step_of_their_own(empty_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    migrate_in_place(empty_url)
    monkeypatch.setenv("MIGRATION_DATABASE_URL", empty_url)
    refused = CliRunner().invoke(app, ["migrate"])
    assert (refused.exit_code, "--from-reference" in refused.stderr) == (2, True)
    assert migrations.head() in run("migrate", "--from-reference")
    assert migrations.head() in run("migrate")
    assert "0002" in run("migrate", "--down", "0002")
    assert migrations.head() in run("migrate")
    with psycopg.connect(empty_url) as connection:
        assert connection.execute("SELECT count(*) FROM agreements").fetchone() == (4,)


@pytest.mark.parametrize("command", [["migrate"], ["dev"]])
def test_a_database_that_does_not_answer_is_said_in_a_sentence(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://somebody:canary@127.0.0.1:1/none")
    if command == ["dev"]:
        command = [*command, "--state", str(tmp_path)]
    result = CliRunner().invoke(app, command)
    assert (result.exit_code, "does not answer" in result.stderr) == (1, True)
    assert "canary" not in result.output


def test_a_wrong_setting_is_said_in_a_sentence_and_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("AGREEMENT_LOG_PORT", "canary"),
        ("AGREEMENT_LOG_POOL_SIZE", "-1"),
        ("AGREEMENT_LOG_LOG_LEVEL", "canary"),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            result = CliRunner().invoke(app, ["serve"])
            assert result.exit_code == 2
            assert name in result.stderr
            assert "canary" not in result.output
    for url in ("mysql://u:canary@h/d", "nonsense canary"):
        monkeypatch.setenv("DATABASE_URL", url)
        result = CliRunner().invoke(app, ["migrate"])
        assert result.exit_code == 2, result.output
        assert "canary" not in result.output
    monkeypatch.delenv("DATABASE_URL")
    assert "DATABASE_URL" in CliRunner().invoke(app, ["migrate"]).stderr
    assert "DATABASE_URL" in CliRunner().invoke(app, ["serve"]).stderr


def test_settings_come_from_a_file_and_the_environment_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.settings import Settings

    (tmp_path / "settings.toml").write_text('port = 9000\npool_size = 3\ndatabase_url = "postgresql://file/db"\n')
    monkeypatch.setenv("AGREEMENT_LOG_CONFIG", str(tmp_path / "settings.toml"))
    monkeypatch.setenv("AGREEMENT_LOG_PORT", "9001")
    settings = Settings()
    assert (settings.port, settings.pool_size, settings.service_url()) == (9001, 3, "postgresql://file/db")
