"""Every file in tests/data/intake is read into the rows that stand beside it."""

from __future__ import annotations

import json
from decimal import Decimal
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.reconcile import CannotRead, intake, parse, parse_value
from app.core.reconcile.intake import MAX_FILE_BYTES

DATA = Path(__file__).parents[2] / "data" / "intake"
SUFFIX = ".expected.json"
FILES = sorted(path.name.removesuffix(SUFFIX) for path in DATA.glob(f"*{SUFFIX}"))
FIELDS = ("label", "question", "statement", "expected", "raw_value")


def test_there_are_enough_files_and_each_has_its_rows():
    assert len(FILES) >= 60
    beside = {path.name for path in DATA.iterdir() if not path.name.endswith(SUFFIX) and path.name != ".gitattributes"}
    assert beside == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_into_the_rows_beside_it(name):
    wanted = json.loads((DATA / f"{name}{SUFFIX}").read_text(), parse_float=Decimal)
    read = intake([(name, (DATA / name).read_bytes())], dialect=wanted.get("dialect", "postgres"))
    rows = [
        {"line": row.line, **{field: value for field in FIELDS if (value := getattr(row, field)) is not None}}
        for row in read.rows
    ]
    skipped = [{"line": entry.line, "reason": entry.reason} for entry in read.skipped]
    assert {"shape": read.shape, "rows": rows, "skipped": skipped} == {
        k: v for k, v in wanted.items() if k != "dialect"
    }


@pytest.mark.parametrize("name", [n for n in FILES if n.endswith((".csv", ".tsv", ".psv"))])
def test_a_table_of_numbers_alone_is_read_exactly_as_parse_reads_it(name):
    content = (DATA / name).read_bytes()
    read = intake([(name, content)])
    if {row.shape for row in read.rows} != {"c"} or any("SELECT" in entry.reason for entry in read.skipped):
        return
    numbers = [row for row in parse(name, content).rows if row.expected_value is not None]
    assert [(row.label, row.expected, row.raw_value) for row in read.rows] == [
        (row.label, row.expected_value, row.raw_value) for row in numbers
    ]


# --- the row ---------------------------------------------------------------------------------------------------------


def test_the_json_of_a_row_is_fixed():
    read = intake([("a/b/tiles.csv", b"Label,Value\nQ3 Revenue,$4.2M\n")], source="the finance dashboard")
    assert read.to_json() == {
        "shape": "c",
        "rows": [
            {
                "row": 1, "label": "Q3 Revenue", "question": None, "statement": None, "expected": 4_200_000,
                "raw_value": "$4.2M",
                "provenance": {"shape": "c", "source": "the finance dashboard", "file": "tiles.csv", "line": 2,
                               "graded": None},
            }
        ],
        "skipped": [],
    }  # fmt: skip


# --- merging ---------------------------------------------------------------------------------------------------------

TILES = ("tiles.csv", b"Label,Value\nQ3 Revenue,$4.2M\nActive customers,12450\n")
SQL = ("sql.csv", b'label,sql\nq3  REVENUE,"SELECT sum(total) FROM orders"\nRefund rate,SELECT 1\n')


@pytest.mark.parametrize("files", [[TILES, SQL], [SQL, TILES]], ids=["tiles_first", "statements_first"])
def test_a_statement_joins_the_tile_of_its_label(files):
    read = intake(files)
    rows = {row.label: row for row in read.rows}
    assert len(read.rows) == 3
    assert read.shape == "mixed"
    joined = rows["Q3 Revenue"]
    assert (joined.shape, joined.statement, joined.expected) == ("d", "SELECT sum(total) FROM orders", 4_200_000)
    assert (joined.file, joined.line, joined.merged_from) == ("tiles.csv", 2, ("sql.csv", 2))
    assert joined.to_json(1, None)["provenance"]["merged_from"] == {"file": "sql.csv", "line": 2}
    assert rows["Active customers"].shape == "c"
    assert rows["Refund rate"].shape == "b"


def test_a_statement_with_a_question_for_a_label_joins_too():
    read = intake([TILES, ("q.csv", b"question,sql\nq3 revenue,SELECT 1\n")])
    assert [row.shape for row in read.rows] == ["d", "c"]


def test_a_label_two_tiles_share_takes_no_statement():
    twice = ("again.csv", b"Label,Value\nQ3 revenue,5\n")
    assert [row.shape for row in intake([TILES, twice, SQL]).rows] == ["c", "c", "c", "b", "b"]


def test_of_two_statements_the_first_joins_and_the_second_is_kept():
    more = ("more.csv", b"label,sql\nQ3 Revenue,SELECT 2\n")
    read = intake([TILES, SQL, more])
    assert [row.statement for row in read.rows] == ["SELECT sum(total) FROM orders", None, "SELECT 1", "SELECT 2"]


@given(st.permutations([TILES, SQL, ("x.txt", b"How many?\n"), ("y.sql", b"SELECT 5;\n")]))
def test_the_order_of_files_joins_the_same_rows(files):
    rows = {(row.label, row.question, row.statement, row.expected, row.merged_from) for row in intake(files).rows}
    assert rows == {(r.label, r.question, r.statement, r.expected, r.merged_from) for r in intake(sorted(files)).rows}


# --- what cannot be read ---------------------------------------------------------------------------------------------

UNREADABLE = {
    "binary.csv": b"\x89PNG\r\n\x1a\n\0\0\0\0canary",
    "few-zeros.bin": bytes(range(1, 250)) * 20 + b"\0",
    "old-workbook.xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00\x3b\x41\xff" * 100,
    "controls.csv": b"Label,Value\n\x1b\x02\xe9,5\n",
    "undefined.csv": b"Label,Value\ncanary\x81,5\n",
    "broken.json": b'[{"label": "canary"',
    "words.json": b"canary",
    "trailing.json": b"[] canary",
    "nan.json": b'[{"value": NaN}]',
    "deep.json": b"[" * 100_000,
    "broken.xlsx": b"PK\x03\x04canary",
    "no-zip.xlsx": b"canary",
    "large.csv": b"x" * (MAX_FILE_BYTES + 1),
}


@pytest.mark.parametrize(("name", "content"), UNREADABLE.items(), ids=UNREADABLE)
def test_a_file_that_cannot_be_read_is_refused_by_name_and_without_its_content(name, content):
    with pytest.raises(CannotRead, match=name) as refused:
        intake([TILES, (name, content)])
    assert "canary" not in str(refused.value).replace(name, "")


def test_too_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr(import_module("app.core.reconcile.intake"), "MAX_ROWS", 3)
    assert len(intake([("q.txt", b"a\nb\nc\n")]).rows) == 3
    with pytest.raises(CannotRead, match="rows"):
        intake([("q.txt", b"a\nb\nc\nd\n")])
    with pytest.raises(CannotRead, match="rows"):
        intake([("q.txt", b"a\nb\n"), ("p.txt", b"c\nd\n")])


# --- properties ------------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["a.csv", "a.tsv", "a.txt", "a.md", "a.sql", "a.json", "a.xlsx", "a"])
NEARLY = st.text(alphabet="ab,;\t|\n\r\"'#=-15.%SELCTDROP $()[]{}:`\u00a0\u2028\ufeff", max_size=80)


@given(name=NAMES, content=st.binary(max_size=100) | NEARLY.map(str.encode) | NEARLY.map(lambda t: t.encode("utf-16")))
def test_any_file_is_rows_or_refused_and_every_line_is_there(name, content):
    try:
        read = intake([(name, content)])
    except CannotRead:
        return
    lines = content.count(b"\n") + content.count(b"\r") + 1
    for entry in (*read.rows, *read.skipped):
        assert 1 <= entry.line <= lines
    assert all(row.expected is not None or row.statement or row.question for row in read.rows)


CELL = st.text(alphabet="abcé😀 ,;\"'\n\t|#x", min_size=1, max_size=12).filter(
    lambda t: t.strip() and t.strip()[0] != "#"
)


@given(
    labels=st.lists(CELL, min_size=1, max_size=6),
    numbers=st.lists(st.integers(-(10**9), 10**9), min_size=6, max_size=6),
    delimiter=st.sampled_from(",;\t|"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_a_well_quoted_table_comes_back_cell_by_cell_with_its_lines(labels, numbers, delimiter, encoding):
    quoted = ['"' + label.replace('"', '""') + '"' for label in labels]
    text = f'"label"{delimiter}"value"\n'
    wanted = []
    for label, cell, number in zip(labels, quoted, numbers, strict=False):
        wanted.append((text.count("\n") + 1, label.strip(), number))
        text += f'{cell}{delimiter}"{number:,}"\n'
    read = intake([("t.csv", text.encode(encoding))])
    assert [(row.line, row.label, row.expected) for row in read.rows] == wanted
    assert all(parse_value(row.raw_value) == row.expected for row in read.rows)
