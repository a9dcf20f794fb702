"""The verbs over files: what they print, what they write, and how they end."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.core.reconcile import RowDirectory, intake, json_text, ledger, parse

RUN = {"status": "ok", "rule": None, "kind": None}
CLEAN = {
    "run.json": RUN,
    "statement-prepare.json": {"aggregates": [], "findings": [], "unchecked": None},
    "statement-receipt.json": {"tables": {"items": []}, "joins": {"items": []}, "columns": {"items": []}},
    "join-probes.json": {"joins": [], "joins_written": 0, "dropped": 0, "unique_by_model": {}, "unreadable": None},
    "filter-values.judge.json": {"literals": [], "columns": {}, "unreadable": None},
}


def call(*arguments):
    return CliRunner().invoke(app, ["reconcile", *map(str, arguments)])


def row_dir(path, files):
    path.mkdir(parents=True)
    for name, content in files.items():
        (path / name).write_text(json.dumps(content))
    return path


@pytest.fixture
def run_dir(tmp_path):
    records = [
        {"row": 1, "question": "How many?", "status": "mismatch", "label": "[red]\x1b[2J<b>"},
        {"row": 2, "match": True},
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, records)))
    row_dir(tmp_path / "rows" / "1", CLEAN)
    return tmp_path


def test_parse_prints_labels_and_numbers(tmp_path):
    file = tmp_path / "tiles.csv"
    file.write_text("Metric,Value,Quarter\nRevenue,$4.2M,Q3\nStatus,active,\nOrders\n")
    ended = call("parse", "--csv", file)
    assert ended.exit_code == 0
    assert json.loads(ended.stdout) == [
        {"label": "Revenue (Q3)", "expected_value": 4_200_000, "raw_value": "$4.2M"},
        {"label": "Status", "expected_value": None, "raw_value": "active"},
    ]
    assert "line 4" in ended.stderr
    assert ended.stdout.strip() == json_text(parse(file.name, file.read_bytes()).to_json())


def test_parse_of_no_number_prints_what_it_read_and_ends_with_four(tmp_path):
    file = tmp_path / "tiles.csv"
    file.write_text("Label,Value\nStatus,active\n")
    ended = call("parse", "--csv", file)
    assert ended.exit_code == 4
    assert json.loads(ended.stdout)[0]["raw_value"] == "active"


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--expected", "$4.2M", "--actual", "4,180,000"], {"match": True, "reason": "match"}),
        (["--expected", "(5)", "--actual", "-5", "--tolerance", "0"], {"match": True, "delta": 0}),
        (["--expected", "100", "--actual", "104", "--tolerance", "5%"], {"match": True, "delta_pct": 0.04}),
        (["--expected", "n/a", "--actual", "5"], {"match": False, "reason": "missing_expected", "delta": None}),
        (["--expected", "5", "--actual", "1,2,3"], {"match": False, "reason": "missing_actual"}),
    ],
)
def test_diff_prints_the_verdict_whatever_it_is(arguments, wanted):
    ended = call("diff", *arguments)
    assert ended.exit_code == 0
    assert json.loads(ended.stdout).items() >= wanted.items()


def test_band_prints_bounds():
    ended = call("band", "--value", "-$200", "--tolerance", "1%")
    assert json.loads(ended.stdout) == {"min_rows": 1, "max_rows": 1, "min_value": -202, "max_value": -198}


@pytest.mark.parametrize(
    "arguments",
    [
        ["diff", "--expected", "1", "--actual", "1", "--tolerance", "wide"],
        ["band", "--value", "n/a"],
        ["band", "--value", "1", "--tolerance", "-1"],
        ["parse", "--csv", "nowhere.csv"],
        ["intake", "--file", "nowhere.csv"],
        ["ledger", "--row-dir", "nowhere"],
        ["findings", "--run-dir", "nowhere"],
        ["report", "--run-dir", "nowhere"],
        ["intake", "--file", ".", "--dialect", "postgres"],
        ["intake"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_read_ends_with_two_and_says_why(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = call(*arguments)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr


def test_intake_prints_what_the_function_returns(tmp_path):
    tiles, sql = tmp_path / "tiles.csv", tmp_path / "q.sql"
    tiles.write_text("Label,Value\nRevenue,5\n")
    sql.write_text("SELECT `a`;\nDROP TABLE t;\n")
    ended = call("intake", "--file", tiles, "--file", sql, "--source", "the board", "--dialect", "mysql")
    assert ended.exit_code == 0
    read = intake([(f.name, f.read_bytes()) for f in (tiles, sql)], source="the board", dialect="mysql")
    assert ended.stdout.strip() == json_text(read.to_json())
    assert [entry["line"] for entry in json.loads(ended.stdout)["skipped"]] == [2]


def test_intake_of_nothing_usable_prints_why_and_ends_with_four(tmp_path):
    file = tmp_path / "q.sql"
    file.write_text("DROP TABLE orders;")
    ended = call("intake", "--file", file)
    assert ended.exit_code == 4
    assert json.loads(ended.stdout)["skipped"][0]["line"] == 1
    assert "nothing usable" in ended.stderr


def test_intake_refuses_a_dialect_and_a_file_it_cannot_read(tmp_path):
    file = tmp_path / "q.csv"
    file.write_bytes(b"\0\0\0\0canary")
    assert call("intake", "--file", file, "--dialect", "klingon").exit_code == 2
    ended = call("intake", "--file", file)
    assert ended.exit_code == 2
    assert "canary" not in ended.stderr


def test_a_file_of_200_mb_is_refused_unread(tmp_path):
    file = tmp_path / "large.csv"
    with file.open("wb") as opened:
        opened.truncate(200_000_000)
    ended = call("intake", "--file", file)
    assert ended.exit_code == 2
    assert "large.csv: larger than 50 MB" in ended.stderr


def test_ledger_prints_and_writes_one_thing_and_the_same_twice(tmp_path):
    path = row_dir(tmp_path / "1", CLEAN)
    first = call("ledger", "--row-dir", path)
    written = (path / "ledger.json").read_bytes()
    assert first.exit_code == 0
    assert json.loads(written) == json.loads(first.stdout) == ledger(RowDirectory(path)).to_json()
    assert call("ledger", "--row-dir", path).stdout == first.stdout
    assert (path / "ledger.json").read_bytes() == written


def test_ledger_reads_claims_when_asked(tmp_path):
    claims = {"claims": [{"name": "filter_predicates", "status": "differs", "generated": [], "golden": []}]}
    path = row_dir(tmp_path / "1", {**CLEAN, "claims.json": claims})
    assert json.loads(call("ledger", "--row-dir", path).stdout)["verdict"] == "confirmed"
    assert json.loads(call("ledger", "--row-dir", path, "--with-claims").stdout)["verdict"] == "unresolved"


def test_findings_writes_three_files_and_prints_them(run_dir):
    ended = call("findings", "--run-dir", run_dir)
    assert ended.exit_code == 0
    printed = json.loads(ended.stdout)
    assert list(printed) == ["findings", "query_defects", "ledger"]
    assert [found["key"] for found in printed["findings"]] == ["example:how many?"]
    for name, wanted in [
        ("findings.json", {"findings": printed["findings"]}),
        ("query_defects.json", printed["query_defects"]),
        ("ledger.json", printed["ledger"]),
    ]:
        assert json.loads((run_dir / name).read_text()) == wanted
    assert list(printed["ledger"]) == ["1"]
    before = {path.name: path.read_bytes() for path in run_dir.glob("*.json")}
    assert call("findings", "--run-dir", run_dir).stdout == ended.stdout
    assert {path.name: path.read_bytes() for path in run_dir.glob("*.json")} == before


def test_findings_of_a_run_that_cannot_be_read_writes_nothing(run_dir):
    with (run_dir / "rows.jsonl").open("a") as rows:
        rows.write("\n{broken")
    ended = call("findings", "--run-dir", run_dir)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "line 3" in ended.stderr
    assert list(run_dir.glob("*.json")) == []


@pytest.mark.parametrize("verb", ["findings", "report"])
def test_a_run_without_rows_ends_with_four(tmp_path, verb):
    ended = call(verb, "--run-dir", tmp_path)
    assert ended.exit_code == 4
    assert "no rows" in ended.stderr


def test_report_prints_a_table_that_cannot_steer_the_terminal(run_dir):
    ended = call("report", "--run-dir", run_dir)
    assert ended.exit_code == 0
    assert "2 rows" in ended.stdout
    assert "example" in ended.stdout
    assert "[red]" in ended.stdout
    assert "\x1b[2J" not in ended.stdout


def test_report_as_html_is_one_page_with_everything_escaped(run_dir):
    ended = call("report", "--run-dir", run_dir, "--html")
    assert ended.exit_code == 0
    assert ended.stdout.startswith("<!doctype html>")
    assert "&lt;b&gt;" in ended.stdout
    assert "<b>" not in ended.stdout
