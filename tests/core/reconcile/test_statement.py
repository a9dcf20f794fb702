"""What is a statement is decided on the tree: it reads, and it only reads."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.reconcile import statement

CASES = {
    "select": ("SELECT 1", "select"),
    "lower_case": ("select count(*) from orders", "select"),
    "ends_with_semicolon_and_comment": ("SELECT 1; -- done", "select"),
    "with": ("WITH a AS (SELECT 1) SELECT * FROM a", "select"),
    "brackets": ("((SELECT 1))", "select"),
    "union_in_brackets": ("((SELECT 1) UNION (SELECT 2))", "select"),
    "no_break_space": ("\u00a0\u2003SELECT 1", "select"),
    "nested_comment": ("/* a /* b */ c */ SELECT 1", "select"),
    "line_comment": ("-- DROP TABLE x;\nSELECT 1", "select"),
    "semicolon_in_literal": ("SELECT ';'", "select"),
    "semicolon_in_comment": ("SELECT 1 /* ; DROP TABLE x */", "select"),
    "dollar_quotes": ("SELECT $x$; DROP TABLE t; $x$", "select"),
    "a_function_nobody_can_see_into": ("SELECT nextval('s')", "select"),
    "delete_in_a_cte": ("WITH x AS (DELETE FROM t RETURNING 1) SELECT * FROM x", "writes"),
    "insert_in_a_cte": ("WITH x AS (INSERT INTO t VALUES (1) RETURNING 1) SELECT * FROM x", "writes"),
    "update_in_a_cte": ("WITH x AS (UPDATE t SET a = 1 RETURNING 1) SELECT * FROM x", "writes"),
    "merge_in_a_cte": ("WITH x AS (MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN DELETE) SELECT 1", "writes"),
    "delete_in_a_nested_cte": ("SELECT * FROM (WITH x AS (DELETE FROM t RETURNING 1) SELECT * FROM x) y", "writes"),
    "with_then_delete": ("WITH x AS (SELECT 1) DELETE FROM t", "writes"),
    "select_into": ("SELECT * INTO t2 FROM t", "writes"),
    "for_update": ("SELECT * FROM t FOR UPDATE", "writes"),
    "drop": ("DROP TABLE t", "writes"),
    "drop_in_brackets": ("( DROP TABLE t)", "unreadable"),
    "truncate": ("TRUNCATE t", "writes"),
    "create_as": ("CREATE TABLE x AS SELECT 1", "writes"),
    "copy": ("COPY (SELECT 1) TO '/tmp/x'", "writes"),
    "select_then_drop": ("SELECT 1; DROP TABLE t", "writes"),
    "two_selects": ("SELECT 1; SELECT 2", "several"),
    "backslash_is_no_escape_here": (r"SELECT 'a\'; DROP TABLE t; --'", "writes"),
    "explain": ("EXPLAIN SELECT 1", "other"),
    "explain_of_a_write": ("EXPLAIN ANALYZE DELETE FROM t", "other"),
    "nothing_selected": ("SELECT", "other"),
    "broken": ("SELECT FROM WHERE ((", "unreadable"),
    "cte_without_query": ("WITH a AS (SELECT 1)", "unreadable"),
    "a_union_of_thousands": ("SELECT 1" + " UNION ALL SELECT 1" * 5_000, "select"),
    "a_union_of_thousands_that_writes": ("SELECT 1" + " UNION ALL SELECT 1" * 5_000 + " FOR UPDATE", "writes"),
    "a_condition_of_thousands": ("SELECT 1 WHERE " + " OR ".join(["a = 1"] * 5_000), "select"),
    "a_sum_of_thousands": ("SELECT 1" + " + 1" * 20_000, "select"),
    "too_deep": ("SELECT " + "(" * 5_000 + "1" + ")" * 5_000, "unreadable"),
    "too_long": ("SELECT '" + "x" * 1_100_000 + "'", "unreadable"),
    "english_with": ("With discounts, total revenue", "not_sql"),
    "english_with_as": ("With sales as of June, total revenue", "not_sql"),
    "cte_without_a_space": ("WITH a AS(SELECT 1", "unreadable"),
    "english_create": ("Create a list of customers", "not_sql"),
    "english_select": ("Select the best seller?", "not_sql"),
    "english_update": ("Update on revenue", "not_sql"),
    "english_drop": ("Drop in orders", "not_sql"),
    "english_copy": ("Copy sold", "not_sql"),
    "from_first": ("FROM t SELECT x", "not_sql"),
    "table": ("TABLE t", "not_sql"),
    "values": ("VALUES (1)", "not_sql"),
    "a_word": ("Revenue", "not_sql"),
    "a_formula": ("=SUM(A1)", "not_sql"),
    "nothing": ("", "not_sql"),
}


@pytest.mark.parametrize(("text", "kind"), CASES.values(), ids=CASES)
def test_a_text_is_what_its_tree_says(text, kind):
    assert statement(text).kind == kind


def test_the_dialect_decides_where_a_literal_ends():
    text = r"SELECT 'it\'s; fine'"
    assert statement(text, "mysql").kind == "select"
    assert statement(text).kind == "unreadable"
    assert statement("SELECT 1", "klingon").kind == "unreadable"


def test_the_parser_quotes_no_statement_in_a_log(caplog):
    with caplog.at_level(logging.DEBUG):
        statement("EXPLAIN SELECT canary")
    assert "canary" not in caplog.text


WRITES = ["DROP TABLE t", "DELETE FROM t", "INSERT INTO t VALUES (1)", "UPDATE t SET a = 1", "TRUNCATE TABLE t",
          "CREATE TABLE t (a int)", "ALTER TABLE t ADD COLUMN b int", "GRANT ALL ON t TO x"]  # fmt: skip
AROUND = st.sampled_from(["", " ", "\n", "/* c */", "-- c\n", "\u00a0", "/* SELECT 1; */"])


@given(
    write=st.sampled_from(WRITES),
    before=AROUND,
    between=AROUND,
    after=AROUND,
    query=st.sampled_from(["SELECT 1", "WITH a AS (SELECT 1) SELECT * FROM a"]),
)
def test_nothing_that_writes_is_ever_a_statement(write, before, between, after, query):
    assert statement(f"{before}{write}{after}").kind != "select"
    assert statement(f"{before}{query};{between}{write}{after}").kind != "select"
    assert statement(f"{before}{write};{between}{query}{after}").kind != "select"


@given(st.text(alphabet="SELECTWIHDROP abc();'\"$-/*\n", max_size=60))
def test_any_text_has_a_kind(text):
    assert statement(text).kind in ("select", "writes", "several", "other", "unreadable", "not_sql")
