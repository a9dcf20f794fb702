"""A run on disk: read without leaving it, written whole or not at all."""

from __future__ import annotations

import json
import os
import stat

import pytest
from hypothesis import HealthCheck, given, settings

from app.core.reconcile import CannotOpen, NoRows, RowDirectory, ledger, run_directory
from app.core.reconcile.read_input import read_input
from app.core.reconcile.row_files import MAX_BYTES
from app.core.reconcile.write_files import write_files

from .row_builder import row, undeclared
from .test_ledger_metamorphic import rows


def written(directory, files):
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (directory / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return directory


@pytest.fixture
def run(tmp_path):
    def make(*records, rows=None):
        lines = "\n".join(r if isinstance(r, str) else json.dumps(r) for r in records)
        (tmp_path / "rows.jsonl").write_text(lines)
        for number, files in (rows or {}).items():
            written(tmp_path / "rows" / str(number), files)
        return tmp_path

    return make


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(files=rows())
def test_a_directory_and_a_mapping_are_one_ledger(tmp_path_factory, files):
    directory = written(tmp_path_factory.mktemp("row"), files)
    assert ledger(RowDirectory(directory)) == ledger(files)
    write_files(directory, {"ledger.json": json.dumps(ledger(files).to_json())})
    assert ledger(RowDirectory(directory)) == ledger(files)


def test_a_row_is_graded_from_its_own_directory(run):
    found = run_directory(run('{"row": 3, "expected": 1.10}', {"label": "x"}, rows={3: row()}))
    assert [(r.number, r.ledger and r.ledger.verdict) for r in found] == [(3, "confirmed"), (2, None)]
    assert str(found[0].record["expected"]) == "1.10"


def test_claims_are_graded_where_they_are_there(run):
    claims = {"claims.json": json.dumps({"claims": []})}
    found = run_directory(run({"row": 1}, {"row": 2}, rows={1: row(), 2: {**row(), **claims}}))
    assert [r.ledger.verdict for r in found] == ["confirmed", "unresolved"]


BAD_LINES = {
    "not_json": "{",
    "no_object": "[1]",
    "a_path_for_a_number": {"row": "../1"},
    "a_number_in_quotes": {"row": "1"},
    "a_fraction": {"row": 1.5},
    "a_bool": {"row": True},
    "negative": {"row": -1},
    "not_a_number": '{"expected": NaN}',
    "endless_in_print": '{"expected": 1e999999999}',
    "deep": '{"x": ' + "[" * 500 + "]" * 500 + "}",
}


@pytest.mark.parametrize("line", BAD_LINES.values(), ids=BAD_LINES)
def test_a_line_that_cannot_be_read_stops_the_run_by_its_number(run, line):
    with pytest.raises(CannotOpen, match="line 2"):
        run_directory(run({"row": 1}, line))


def test_a_row_number_that_stands_twice_stops_the_run(run):
    with pytest.raises(CannotOpen, match="line 2"):
        run_directory(run({"row": 1}, {"row": 1}))


def test_a_run_without_rows_says_so(run, tmp_path):
    with pytest.raises(NoRows):
        run_directory(tmp_path)
    with pytest.raises(NoRows):
        run_directory(run(""))
    with pytest.raises(CannotOpen):
        run_directory(tmp_path / "nowhere")


@pytest.mark.parametrize("link", ["rows", "rows/1", "rows.jsonl"])
def test_a_link_that_may_lead_out_is_refused(run, tmp_path_factory, link):
    path = run({"row": 1}, rows={1: row()})
    outside = tmp_path_factory.mktemp("outside")
    moved = (path / link).rename(outside / "moved")
    (path / link).symlink_to(moved)
    with pytest.raises(CannotOpen, match="link"):
        run_directory(path)


def test_a_file_that_is_a_link_is_not_there(tmp_path, tmp_path_factory):
    outside = written(tmp_path_factory.mktemp("outside"), row())
    files = row()
    del files["statement-prepare.json"]
    written(tmp_path, files)
    (tmp_path / "statement-prepare.json").symlink_to(outside / "statement-prepare.json")
    assert "statement-prepare.json" not in RowDirectory(tmp_path)
    assert ledger(RowDirectory(tmp_path)).verdict == "unresolved"


def test_an_id_that_is_a_path_leads_nowhere(tmp_path):
    written(tmp_path, {"secret.overlap.0.csv": "matched\n5\n"})
    hostile = undeclared(id="../secret", probes=1)
    directory = written(tmp_path / "row", row(joins=[hostile]))
    assert "unresolved" in [p.verdict for p in ledger(RowDirectory(directory)).parts if p.part.startswith("join:")]


def test_a_huge_file_is_read_no_further_than_it_has_to_be(tmp_path):
    written(tmp_path, row())
    with (tmp_path / "join-probes.json").open("wb") as file:
        file.truncate(10**10)  # sparse: ten gigabytes that take no room
    assert len(RowDirectory(tmp_path)["join-probes.json"]) == MAX_BYTES + 1
    (opened,) = [p for p in ledger(RowDirectory(tmp_path)).parts if p.part == "join:*"]
    assert opened.evidence["problem"] == "is larger than 8 MB"


def test_five_thousand_files_and_a_thousand_of_everything_are_a_ledger(tmp_path):
    joins = [undeclared("orders", f"t{n}", id=f"join-{n}") for n in range(1_000)]
    names = [f"orders → t{n}" for n in range(1_000)]
    totals = [{"aggregate": f"SUM(c{n})", "status": "undetermined", "joins": names, "findings": []} for n in range(10)]
    files = row(joins=joins, aggregates=totals)
    files |= {f"join-{n}.overlap.{i}.csv": "matched\n1\n" for n in range(1_000) for i in range(2)}
    files |= {f"cardinality.t{n}.id.csv": "total,distinct_count,null_count\n1,1,0\n" for n in range(1_000)}
    files |= {f"junk-{n}": "x" for n in range(2_000)}
    directory = written(tmp_path, files)
    found = ledger(RowDirectory(directory))
    assert found.counts["model_gap"] == 1_000
    assert found == ledger(files)


def test_a_pipe_is_no_file_and_does_not_hang(tmp_path):
    written(tmp_path, row())
    (tmp_path / "join-probes.json").unlink()
    os.mkfifo(tmp_path / "join-probes.json")
    assert ledger(RowDirectory(tmp_path)).verdict == "unresolved"
    with pytest.raises(CannotOpen, match="regular"):
        read_input(tmp_path / "join-probes.json", 10)


# --- writing ---------------------------------------------------------------------------------------------------------


def test_files_are_replaced_whole_and_nothing_is_left_beside_them(tmp_path):
    (tmp_path / "a.json").write_text("old")
    write_files(tmp_path, {"a.json": "new", "b.json": "\ud800 stays readable"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "b.json"]
    assert (tmp_path / "a.json").read_text() == "new"


def test_a_write_that_fails_leaves_every_old_file(tmp_path, monkeypatch):
    (tmp_path / "a.json").write_text("old a")
    (tmp_path / "b.json").write_text("old b")
    calls = iter([None, OSError(28, "No space left on device")])

    def fsync(_descriptor):
        if error := next(calls):
            raise error

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(CannotOpen, match="No space"):
        write_files(tmp_path, {"a.json": "new a", "b.json": "new b"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.json": "old a", "b.json": "old b"}


def test_a_link_in_the_place_of_a_result_is_replaced_and_not_followed(tmp_path, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "precious"
    outside.write_text("precious")
    (tmp_path / "ledger.json").symlink_to(outside)
    write_files(tmp_path, {"ledger.json": "new"})
    assert outside.read_text() == "precious"
    assert not (tmp_path / "ledger.json").is_symlink()


def test_a_result_is_readable_as_any_file_of_the_person(tmp_path):
    (tmp_path / "theirs").write_text("")
    write_files(tmp_path, {"ours": ""})
    assert stat.S_IMODE((tmp_path / "ours").stat().st_mode) == stat.S_IMODE((tmp_path / "theirs").stat().st_mode)
