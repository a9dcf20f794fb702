"""`agreement-log consensus compare` and `pairs`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from app.cli import app

if TYPE_CHECKING:
    from pathlib import Path

RUN = CliRunner()
SAME = ["SELECT a FROM t WHERE b IN (1, 2)", "SELECT t.a FROM t WHERE b = 2 OR b = 1"]


def test_compare_prints_the_decision_and_exits_zero_on_consensus(tmp_path: Path) -> None:
    file = tmp_path / "candidates.json"
    file.write_text(json.dumps([{"sql": SAME[0], "in_data_model": ["t"]}, SAME[1]]))
    result = RUN.invoke(app, ["consensus", "compare", "--candidates", str(file), "--dialect", "postgres"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["record"]["sql"] == SAME[0]


def test_compare_exits_one_without_consensus_and_reads_a_schema(tmp_path: Path) -> None:
    file, schema = tmp_path / "candidates.json", tmp_path / "schema.json"
    file.write_text(json.dumps([SAME[0], "SELECT a FROM t"]))
    schema.write_text(json.dumps({"t": {"a": "int", "b": "int"}}))
    result = RUN.invoke(
        app, ["consensus", "compare", "--candidates", str(file), "--schema", str(schema), "--round", "3"]
    )
    assert result.exit_code == 1
    assert json.loads(result.stdout)["outcome"] == "unresolved"


@pytest.mark.parametrize("text", ["not json", "[1]", '{"sql": 1}', '[{"nothing": 1}]'])
def test_compare_exits_two_on_what_is_no_list_of_candidates(tmp_path: Path, text: str) -> None:
    file = tmp_path / "candidates.json"
    file.write_text(text)
    assert RUN.invoke(app, ["consensus", "compare", "--candidates", str(file)]).exit_code == 2


def test_pairs_answers_each_line_and_marks_what_is_no_pair(tmp_path: Path) -> None:
    cases = [
        {"id": "same", "left": SAME[0], "right": SAME[1]},
        {"id": "parted", "left": SAME[0], "right": "SELECT a FROM t"},
        {"id": "order", "left": "SELECT a FROM t ORDER BY a", "right": "SELECT a FROM t"},
        {"id": "ordered", "left": "SELECT a FROM t ORDER BY a", "right": "SELECT a FROM t", "ordered": True},
        {"id": "invalid", "left": "SELECT (", "right": "SELECT 1"},
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(map(json.dumps, cases)) + "\nnot a pair\n")
    result = RUN.invoke(app, ["consensus", "pairs", "--cases", str(file)])
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 2
    assert [a["equivalent"] for a in answers] == [True, False, True, False, False, None]
    assert answers[1]["differences"] == [{"axis": "filters", "left": ["t.b IN (1, 2)"], "right": []}]
    assert answers[2]["differences"][0]["axis"] == "ordering"
    assert answers[4]["invalid"] == ["left: unparseable"]


def test_pairs_reads_standard_input() -> None:
    line = json.dumps({"id": 1, "left": SAME[0], "right": SAME[1]})
    result = RUN.invoke(app, ["consensus", "pairs", "--cases", "-"], input=line)
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"id": 1, "equivalent": True, "differences": []}
