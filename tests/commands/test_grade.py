"""`agreement-log grade`: here, and into the log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from app.cli import app
from tests.grading.samples import NUMBER, RESULT_SET, to_record

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import LiveService


def run(*arguments: str, text: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["grade", *arguments], input=text)
    return result.exit_code, result.stdout, result.stderr


def test_a_pass_exits_with_0_and_a_fail_with_1(tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    path.write_text(json.dumps([NUMBER, RESULT_SET]))
    code, out, _ = run("--evidence", str(path))
    assert (code, json.loads(out)["guardrail_confidence"]) == (0, 1)
    body = {"evidence": [NUMBER], "checks": [{"name": "lint", "verdict": "fail"}]}
    code, out, _ = run("--evidence", "-", text=json.dumps(body))
    assert (code, json.loads(out)["guardrail_verdict"]) == (1, "fail")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[",
        '{"evidence": []}',
        '[{"kind": "secret"}]',
        '{"secret": 1}',
        "[NaN]",
        '{"evidence": [], "evidence": []}',
    ],
)
def test_what_is_no_evidence_exits_with_2_and_is_not_repeated(text: str) -> None:
    code, out, err = run("--evidence", "-", text=text)
    assert (code, out) == (2, "")
    assert err
    assert "Traceback" not in err
    assert '"secret"' not in err


def test_a_file_that_is_not_there_exits_with_2() -> None:
    assert run("--evidence", "/nowhere/e.json")[0] == 2


def test_a_row_is_recorded_with_every_digit(
    service: LiveService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGREEMENT_LOG_URL", service.url)
    monkeypatch.setenv("AGREEMENT_LOG_TOKEN", service.tokens["review-bot"])
    row = to_record()
    del row["evidence"]
    (tmp_path / "row.json").write_text(json.dumps(row))
    evidence = '[{"kind": "number", "expected": 0.12345678901234567890123, "actual": {"$decimal": "0.12345678901234567890123"}}]'
    (tmp_path / "e.json").write_text(evidence)
    recorded = ("--evidence", str(tmp_path / "e.json"), "--record", str(tmp_path / "row.json"))
    code, out, err = run(*recorded)
    assert code == 0, err
    assert json.loads(out)["guardrail_checks"]["evidence_digest"] == run(*recorded[:2], "--digest")[1].strip()
    assert json.loads(run(*recorded)[1]) == json.loads(out)
    (tmp_path / "e.json").write_text(evidence.replace('0123"}', '0124"}'))
    code, _, err = run(*recorded)
    assert code == 1
    assert "/evidence" in err


def test_a_service_that_is_not_there_exits_with_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGREEMENT_LOG_TOKEN", "t")
    (tmp_path / "e.json").write_text(json.dumps([NUMBER]))
    (tmp_path / "row.json").write_text("{}")
    arguments = (
        "--evidence",
        str(tmp_path / "e.json"),
        "--record",
        str(tmp_path / "row.json"),
        "--url",
        "http://127.0.0.1:9",
    )
    assert run(*arguments)[0] == 3
    assert run(*arguments, "--digest")[0] == 2
