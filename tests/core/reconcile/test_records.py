"""Records begin on the line an editor shows, and no quote swallows a file."""

from __future__ import annotations

import time
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.reconcile.records import delimiter_of, records

DELIMITERS = {
    "commas": ("Label,Value\nRevenue,5\n", ","),
    "semicolons_beside_decimal_commas": ("Label;Value\nA;1,5\nB;2,5\n", ";"),
    "tabs_beside_commas": ("Label\tValue\nRevenue, net\t5\nOrders, all\t6\n", "\t"),
    "quoted_semicolons": ('Label,SQL\nA,"SELECT 1; SELECT 2"\n', ","),
    "guidance_without_delimiters": ("# fill in\nLabel,Value\nA,5\n", ","),
    "one_column": ("question\nHow many, by region?\nWhat, when?\n", None),
    "prose_with_semicolons": ("How many; by region?\nWhat?\n", None),
    "one_line_with_a_semicolon": ("How many; by region?", None),
    "nothing": ("", None),
}


@pytest.mark.parametrize(("text", "delimiter"), DELIMITERS.values(), ids=DELIMITERS)
def test_the_delimiter_is_found_by_content(text, delimiter):
    assert delimiter_of(text) == delimiter


def test_lines_are_counted_as_an_editor_shows_them():
    text = 'a,1\r\n"b\r\nb",2\r"c\nc\nc",3\n\nd\u2028d,4\x0bd\n'
    assert [(record.line, record.cells[0]) for record in records(text, ",")] == [
        (1, "a"), (2, "b\r\nb"), (4, "c\nc\nc"), (8, "d\u2028d"),
    ]  # fmt: skip


def test_every_open_quote_costs_its_own_line_only():
    found = list(records('a,1\nb,"2\nc,3\nd,4\n', ","))
    assert [(record.line, record.problem is None) for record in found] == [(1, True), (2, False), (3, True), (4, True)]


def test_a_cell_longer_than_the_standard_limit_is_read():
    long = "x" * 200_000
    assert [record.cells for record in records(f'{long},"{long}"\na,b\n', ",")] == [(long, long), ("a", "b")]


def test_a_quote_that_closes_before_its_cell_does_hides_no_open_one():
    found = list(records('a,1\n"b"c,"2\nd,3\n', ","))
    assert [(record.line, record.problem is None) for record in found] == [(1, True), (2, False), (3, True)]


def test_a_quote_that_opens_on_a_long_text_is_given_up_on(monkeypatch):
    monkeypatch.setattr(import_module("app.core.reconcile.records"), "MAX_RECORD", 20)
    found = list(records('a,"1\n' + "b,2\n" * 20, ","))
    assert [(record.line, record.problem is None) for record in found[:2]] == [(1, False), (2, True)]
    assert len(found) == 21
    assert [record.line for record in records('a,"1\n1\n1"\n' + "b,2\n" * 20, ",")] == [1, *range(4, 24)]
    assert len(list(records('a,"x"y"\n' + "b,2\n" * 20, ","))) == 21


def test_quotes_without_end_are_read_in_bounded_time():
    started = time.process_time()
    list(records('a,"b""\n' * 20_000, ","))
    assert time.process_time() - started < 20


@given(st.lists(st.lists(st.text(alphabet='ab,"\n\r ', max_size=4), min_size=1, max_size=4), max_size=5))
def test_written_records_come_back(table):
    text = "".join(",".join('"' + cell.replace('"', '""') + '"' for cell in line) + "\n" for line in table)
    wanted = [tuple(cell.strip() for cell in line) for line in table if any(cell.strip() for cell in line)]
    assert [record.cells for record in records(text, ",")] == wanted
