"""`agreement-log compare`, as a person and as a pipeline runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from app.cli import app

GOLDEN_CSV = "id,price,day\n1,2.50,2026-01-02\n2,,2026-01-03\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, content: str | bytes) -> str:
    path = Path(name)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return name


def run(*arguments: str, text: str | bytes | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["compare", *arguments], input=text)
    return result.exit_code, result.stdout, result.stderr


def compared(golden: str, generated: str, *more: str) -> dict[str, Any]:
    code, out, err = run("--golden", golden, "--generated", generated, *more)
    assert code in (0, 1, 2), err
    return json.loads(out) | {"exit": code}


def csv(content: str, name: str = "a.csv") -> str:
    return write(name, content)


def test_a_match_prints_the_score_and_exits_with_0() -> None:
    sql = write("f.sql", "SELECT id, price, day FROM t")
    generated = write(
        "b.json", '{"columns": ["d", "i", "p"], "rows": [["2026-01-03", 2, null], ["2026-01-02", 1, 2.5]]}'
    )
    score = compared(csv(GOLDEN_CSV), generated, "--golden-sql", sql)
    assert (score["exit"], score["status"], score["accuracy"], score["passed"]) == (0, "scored", 1.0, True)
    assert score["column_pairs"] == [["id", "i"], ["price", "p"], ["day", "d"]]
    assert score["order_sensitive"] is False


def test_a_difference_exits_with_1() -> None:
    score = compared(csv(GOLDEN_CSV), csv(GOLDEN_CSV.replace("2.50", "2.51"), "b.csv"))
    assert (score["exit"], score["accuracy"]) == (1, 0.5)


def test_nothing_to_score_is_no_pass() -> None:
    score = compared(csv("a,b\n"), csv("a,b\n", "b.csv"))
    assert (score["exit"], score["status"], score["accuracy"]) == (1, "unscored", None)


def test_a_ragged_file_could_not_be_judged() -> None:
    score = compared(csv("a,b\n1,2\n3\n"), csv("a,b\n1,2\n3,4\n", "b.csv"))
    assert (score["exit"], score["status"]) == (2, "error")


UNREADABLE = {
    "zero_bytes": ("b.csv", b"", "a failed run, not an empty result"),
    "zero_bytes_json": ("b.json", b"", "a failed run, not an empty result"),
    "no_header": ("b.csv", b"\n", "no header"),
    "open_quote": ("b.csv", b'a\n"canary', "malformed CSV at line 2"),
    "not_utf8": ("b.csv", b"a\n\xff\n", "not UTF-8"),
    "not_json": ("b.json", b'{"canary"', "not JSON"),
    "json_nan": ("b.json", b'{"columns": ["a"], "rows": [[NaN]]}', "not JSON: use a $float tag"),
    "json_of_another_form": ("b.json", b'{"canary": 1}', "neither an object of columns and rows"),
    "json_without_rows": ("b.json", b'{"columns": []}', "there are no rows"),
    "json_objects_of_other_keys": ("b.json", b'[{"a": 1}, {"b": 2}]', "the same keys"),
    "malformed_tag": ("b.json", b'{"columns": ["a"], "rows": [[{"$date": "canary"}]]}', "malformed $date"),
    "not_parquet": ("b.parquet", b"canary", "malformed Parquet"),
    "unknown_suffix": ("b.xml", b"<canary/>", "the suffix is none of .csv, .json"),
}


@pytest.mark.parametrize(("name", "content", "why"), UNREADABLE.values(), ids=UNREADABLE)
def test_an_input_that_cannot_be_read_exits_with_2_and_is_not_quoted(name: str, content: bytes, why: str) -> None:
    write(name, content)
    for sides in (("--golden", csv("a\n1\n"), "--generated", name), ("--golden", name, "--generated", csv("a\n1\n"))):
        code, out, err = run(*sides)
        assert (code, out) == (2, "")
        assert why in err
        assert name in err
        assert "canary" not in err


def test_a_file_that_is_not_there_exits_with_2() -> None:
    assert run("--golden", "none.csv", "--generated", csv("a\n1\n"))[0] == 2
    assert run("--golden", csv("a\n1\n"), "--generated", "a.csv", "--golden-sql", "none.sql")[0] == 2
    assert run("--golden", "a.csv", "--generated", "a.csv", "--golden-sql", write("f.sql", b"\xff"))[0] == 2
    assert run("--cases", "none.jsonl")[0] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--golden", "a.csv"],
        ["--generated", "a.csv"],
        ["--golden", "a.csv", "--generated", "a.csv", "--match", "fuzzy"],
        ["--cases", "c.jsonl", "--match", "values"],
        ["--cases", "c.jsonl", "--golden", "a.csv"],
    ],
    ids=["nothing", "no_generated", "no_golden", "unknown_level", "cases_and_level", "cases_and_golden"],
)
def test_wrong_usage_exits_with_2(arguments: list[str]) -> None:
    csv("a\n1\n")
    write("c.jsonl", "")
    assert run(*arguments)[0] == 2


CSV_CELLS = {
    "whole": ("1", 1),
    "negative": ("-12", -12),
    "fraction": ("0.50", Decimal("0.5")),
    "exponent_with_a_sign": ("1e-07", Decimal("1e-7")),
    "exponent_with_a_point": ("1.5E10", Decimal("1.5E10")),
    "long": ("123456789012345678901234567890", 123456789012345678901234567890),
    "very_long": ("1" * 5000, Decimal("1" * 5000)),
    "padded_code": ("007", "007"),
    "code_that_looks_like_an_exponent": ("12E4", "12E4"),
    "plus": ("+5", "+5"),
    "grouped": ('"1,000"', "1,000"),
    "spaced": (" 1", " 1"),
    "hexadecimal": ("0x10", "0x10"),
    "infinite": ("inf", "inf"),
    "other_digits": ("１", "１"),
    "exponent_out_of_range": ("1e-99999999999999999999", "1e-99999999999999999999"),
    "empty": ("", None),
    "text": ("SE", "SE"),
    "date": ("2026-01-02", date(2026, 1, 2)),
    "line_in_quotes": ('"a\nb"', "a\nb"),
}


@pytest.mark.parametrize(("text", "cell"), CSV_CELLS.values(), ids=CSV_CELLS)
def test_csv_text_is_a_number_only_where_it_is_unmistakably_one(text: str, cell: Any) -> None:
    from app.core.tagged_json import write_tagged_json

    expected = write("b.json", write_tagged_json({"columns": ["k", "v"], "rows": [["x", cell]]}))
    assert compared(csv(f"k,v\nx,{text}\n"), expected)["exit"] == 0


def test_a_blank_line_of_one_column_is_null() -> None:
    assert compared(csv("a\n1\n\n"), write("b.json", '[{"a": 1}, {"a": null}]'))["exit"] == 0
    assert compared(csv("a,b\n1,2\n\n"), write("b.json", '[{"a": 1, "b": 2}]'))["exit"] == 0


def test_a_byte_order_mark_is_no_part_of_the_first_name() -> None:
    assert compared(csv("\ufeffa\n1\n"), csv("a\n1\n", "b.csv"))["column_pairs"] == [["a", "a"]]


def test_a_cell_may_be_long() -> None:
    long = "x" * 200_000
    assert compared(csv(f"a\n{long}\n"), csv(f"a\n{long}\n", "b.csv"))["exit"] == 0


def test_parquet_keeps_its_types() -> None:
    table = pa.table(
        {
            "n": pa.array([Decimal("2.50"), None], pa.decimal128(9, 2)),
            "t": pa.array([datetime(2026, 1, 2, 3, tzinfo=UTC), None], pa.timestamp("us", "Europe/Berlin")),
            "ns": pa.array([1, 2], pa.timestamp("ns")),
            "s": pa.array(["007", "x"]).dictionary_encode(),
            "l": pa.array([[1], []]),
            "b": pa.array([b"a", b"b"]),
        }
    )
    pq.write_table(table, "a.parquet")
    rows = [
        {"n": 2.5, "t": "2026-01-02T03:00:00Z", "ns": "1970-01-01T00:00:00.000000001", "s": "007", "l": [1]},
        {"n": None, "t": None, "ns": "1970-01-01T00:00:00.000000002", "s": "x", "l": []},
    ]
    for row, tag in zip(rows, ("YQ==", "Yg=="), strict=True):
        row["b"] = {"$bytes": tag}
    assert compared("a.parquet", write("b.json", json.dumps(rows)))["exit"] == 0


def test_bounded_and_nonempty_need_no_golden_file() -> None:
    result = csv("a\n7\n")
    assert run("--generated", result, "--match", "nonempty")[0] == 0
    assert run("--generated", result, "--match", "bounded", "--min-value", "7", "--max-value", "7.0")[0] == 0
    assert run("--generated", result, "--match", "bounded", "--max-value", "6.99")[0] == 1
    assert run("--generated", result, "--match", "bounded", "--min-rows", "2")[0] == 1
    assert run("--generated", result, "--match", "bounded")[0] == 2


@pytest.mark.parametrize(
    "edges", [["--min-rows", "2", "--max-rows", "1"], ["--min-value", "x"], ["--min-value", "nan"]]
)
def test_a_band_that_means_nothing_exits_with_2(edges: list[str]) -> None:
    code, out, err = run("--generated", csv("a\n7\n"), "--match", "bounded", *edges)
    assert (code, out) == (2, "")
    assert "band is refused" in err


# --- many cases


def case(identity: Any, golden: Any, generated: Any, **more: Any) -> str:
    sides = {"golden": {"columns": ["a"], "rows": golden}, "generated": {"columns": ["b"], "rows": generated}}
    return json.dumps({"id": identity, "golden_sql": "SELECT a FROM t", **sides, **more})


def scores(text: str) -> tuple[int, list[dict[str, Any]], str]:
    code, out, err = run("--cases", write("cases.jsonl", text))
    return code, [json.loads(line) for line in out.splitlines()], err


def test_cases_are_scored_in_order() -> None:
    lines = [case(f"c{i}", [[i], [1]], [[1], [i % 2]], kind="ignored") for i in range(4)]
    code, out, _ = scores("\n".join(lines))
    assert code == 1
    assert [(score["id"], score["passed"]) for score in out] == [
        ("c0", True),
        ("c1", True),
        ("c2", False),
        ("c3", False),
    ]


def test_cases_that_all_pass_exit_with_0() -> None:
    assert scores(case("x", [[1]], [[1]]) + "\n\n" + case(7, [[2]], [[2.0]]) + "\n")[0] == 0


def test_a_case_says_everything_for_itself() -> None:
    lines = [
        case("tags", [[{"$decimal": "0.10"}]], [[{"$float": "nan"}]], match="values"),
        case("bounds", [], [[5]], match="bounded", bounds={"min_value": 5, "max_value": None}),
        case("dialect", [[1], [2]], [[2], [1]], golden_sql="SELECT `a` FROM t", dialect="mysql"),
        case("unknown level", [[1]], [[1]], match="fuzzy"),
        '{"id": "no sides", "match": "nonempty"}',
        '{"id": "no golden", "match": "nonempty", "generated": {"columns": ["a"], "rows": [[1]]}}',
    ]
    code, out, _ = scores("\n".join(lines))
    assert code == 2
    assert [(score["status"], score["accuracy"]) for score in out] == [
        ("scored", 0.0),
        ("scored", 1.0),
        ("scored", 1.0),
        ("error", None),
        ("error", None),
        ("scored", 1.0),
    ]


BAD_LINES = {
    "not_json": "canary",
    "not_an_object": '["canary"]',
    "nan": '{"id": "canary", "golden": NaN}',
    "malformed_tag": '{"golden": {"$uuid": "canary"}}',
    "crossed_bounds": '{"bounds": {"min_rows": 2, "max_rows": 1}}',
    "unknown_bounds": '{"bounds": {"canary": 2}}',
    "bounds_of_text": '{"bounds": "canary"}',
    "bound_of_text": '{"bounds": {"min_value": "canary"}}',
    "id_of_a_list": '{"id": ["canary"]}',
    "deep": "[" * 100_000,
    "not_utf8": "\udcff",
}


@pytest.mark.parametrize("line", BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_is_reported_and_the_rest_goes_on(line: str) -> None:
    good = case("good", [[1]], [[1]])
    text = f"{good}\n{line}\n{good}\n".encode(errors="surrogateescape")
    code, out, err = run("--cases", write("cases.jsonl", text))
    told = [json.loads(output) for output in out.splitlines()]
    assert code == 2
    assert [score["status"] for score in told] == ["scored", "error", "scored"]
    assert "line 2" in err
    assert "canary" not in out + err


def test_a_bad_line_keeps_its_id_where_it_has_one() -> None:
    assert scores('{"id": "me", "bounds": {}}')[1][0]["id"] == "me"


def test_cases_come_from_the_input_as_well() -> None:
    code, out, _ = run("--cases", "-", text=case("x", [[1]], [[1]]))
    assert (code, json.loads(out)["id"]) == (0, "x")


COMMAND = [sys.executable, "-c", "from app.cli import main; main()", "compare"]


def test_cases_stream_as_they_are_read() -> None:
    with subprocess.Popen([*COMMAND, "--cases", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(3):
            process.stdin.write(case(number, [[1]], [[1]]).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == number
        process.stdin.close()
        assert process.wait(timeout=30) == 0


def test_a_reader_that_has_seen_enough_is_no_failure() -> None:
    write("cases.jsonl", "\n".join(case(i, [[1]], [[1]]) for i in range(2000)))
    command = f"{sys.executable} -c 'from app.cli import main; main()' compare --cases cases.jsonl | head -1"
    result = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(result.stdout)["id"] == 0
    assert result.stderr == ""


def test_progress_is_shown_to_a_person_only() -> None:
    write("cases.jsonl", case("x", [[1]], [[1]]))
    assert run("--cases", "cases.jsonl")[2] == ""
    watched, terminal = os.openpty()
    try:
        subprocess.run(
            [*COMMAND, "--cases", "cases.jsonl"], stdout=subprocess.PIPE, stderr=terminal, check=True, timeout=60
        )
        assert b"100%" in os.read(watched, 10_000)
    finally:
        os.close(watched)
        os.close(terminal)


def test_help_does_not_wait_for_the_comparator() -> None:
    code = "import sys, app.cli; sys.exit('app.core.comparator' in sys.modules or 'pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_the_levels_are_the_comparators() -> None:
    from app.commands.compare import _Match
    from app.core.comparator import MatchLevel

    assert list(map(str, _Match)) == list(map(str, MatchLevel))
