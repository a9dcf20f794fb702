"""The guard before the parser: hostile text is refused by name, and no refusal repeats any of it."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.sql import MAX_LENGTH, MAX_NESTING, SqlRefused, nesting, parse_sql, split_sql

REFUSED = {
    "empty": ("", "empty"),
    "blank": (" \n\t", "empty"),
    "comment_alone": ("-- nothing here", "empty"),
    "stray_semicolons": (";;", "empty"),
    "too_long": ("SELECT '" + "x" * MAX_LENGTH + "'", "too_long"),
    "brackets": ("(" * 10_000, "too_deep"),
    "balanced_brackets": ("SELECT " + "(" * 10_000 + "1" + ")" * 10_000, "too_deep"),
    "cases": ("SELECT " + "CASE WHEN a THEN " * 5_000 + "1" + " END" * 5_000, "too_deep"),
    "nots": ("SELECT " + "NOT " * 10_000 + "1", "too_deep"),
    "signs": ("SELECT " + "- " * 10_000 + "1", "too_deep"),
    "garbage": ("SELECT FROM WHERE ((", "unparseable"),
    "open_quote": ("SELECT 'canary", "unparseable"),
}


@pytest.mark.parametrize(("sql", "reason"), REFUSED.values(), ids=REFUSED)
def test_hostile_text_is_refused_by_reason(sql: str, reason: str) -> None:
    with pytest.raises(SqlRefused) as refused:
        parse_sql(sql)
    assert refused.value.reason == reason
    assert "canary" not in str(refused.value)


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(SqlRefused) as refused:
        parse_sql("SELECT 1", "klingon")
    assert refused.value.reason == "unknown_dialect"


@pytest.mark.parametrize(
    ("sql", "levels"),
    [
        ("SELECT '(((' || $$ ((( $$ -- (((\n, \"((\"", 0),
        ("SELECT f(g(h(1)))", 3),
        ("SELECT (1), (2), (3)", 1),
    ],
)
def test_nesting_counts_what_a_parser_descends_into(sql: str, levels: int) -> None:
    assert nesting(sql) == levels


def test_many_statements_side_by_side_are_not_deep() -> None:
    sql = "SELECT CASE WHEN NOT a THEN -1 END; " * (2 * MAX_NESTING)
    assert len(parse_sql(sql)) == 2 * MAX_NESTING


@given(st.text())
def test_any_text_is_read_or_refused(sql: str) -> None:
    with contextlib.suppress(SqlRefused):
        assert parse_sql(sql)


SPLITS = {
    "literal": ("SELECT ';'; SELECT 2", ["SELECT ';'", "SELECT 2"]),
    "comments": ("-- a;b\nSELECT 1 /* ; */; -- c;\nSELECT 2", ["SELECT 1", "SELECT 2"]),
    "dollar_quotes": ("SELECT $t$ ; $t$; SELECT $$;$$", ["SELECT $t$ ; $t$", "SELECT $$;$$"]),
    "quoted_name": ('SELECT ";" FROM t;', ['SELECT ";" FROM t']),
    "nothing": (" ;; -- a\n", []),
    "not_sql": ("what is this; really", ["what is this", "really"]),
}


@pytest.mark.parametrize(("text", "pieces"), SPLITS.values(), ids=SPLITS)
def test_statements_are_split_where_the_dialect_ends_them(text: str, pieces: list[str]) -> None:
    assert [text[s.start : s.end] for s in split_sql(text, "postgres")] == pieces


@pytest.mark.parametrize(
    ("text", "dialect", "reason"),
    [
        ("SELECT 'open", None, "unparseable"),
        ("x" * (MAX_LENGTH + 1), None, "too_long"),
        ("1", "klingon", "unknown_dialect"),
    ],
    ids=["open_quote", "too_long", "unknown_dialect"],
)
def test_text_that_cannot_be_split_is_refused_by_reason(text: str, dialect: str | None, reason: str) -> None:
    with pytest.raises(SqlRefused) as refused:
        split_sql(text, dialect)
    assert refused.value.reason == reason


def test_what_the_parser_does_not_know_is_not_quoted_in_a_log(caplog: pytest.LogCaptureFixture) -> None:
    parse_sql("EXPLAIN SELECT canary", "postgres")
    assert "canary" not in caplog.text
