"""Whether the order of rows counts, read off the golden statement; and what it means where rows tie."""

from __future__ import annotations

import logging

import pytest

from app.core.comparator import ResultSet, compare_result_sets
from app.core.comparator.ordering import read_ordering

ORDERED = {
    "plain": "SELECT p FROM t ORDER BY p",
    "union_carries_it": "SELECT p FROM t UNION SELECT p FROM u ORDER BY 1",
    "intersect_carries_it": "SELECT p FROM t INTERSECT SELECT p FROM u ORDER BY p",
    "except_carries_it": "SELECT p FROM t EXCEPT SELECT p FROM u ORDER BY p",
    "brackets": "((SELECT p FROM t ORDER BY p))",
    "brackets_ordered_outside": "(SELECT p FROM t) ORDER BY p",
    "brackets_cut_outside": "(SELECT p FROM t ORDER BY p) LIMIT 3",
    "comment_after": "SELECT p FROM t ORDER BY p -- done",
    "comment_before": "/* why */ SELECT p FROM t ORDER BY p",
    "semicolons": "SELECT p FROM t ORDER BY p;;",
    "semicolon_and_comment": "SELECT p FROM t ORDER BY p; -- done\n",
    "cte_then_order": "WITH c AS (SELECT p FROM t) SELECT p FROM c ORDER BY p",
    "limit": "SELECT p FROM t ORDER BY p DESC NULLS LAST LIMIT 10 OFFSET 2",
    "lower_case": "select p from t order by p",
    "values": "VALUES (1), (2) ORDER BY 1",
}
UNORDERED = {
    "plain": "SELECT p FROM t",
    "subquery": "SELECT p FROM (SELECT p FROM t ORDER BY p) x",
    "cte": "WITH c AS (SELECT p FROM t ORDER BY p) SELECT p FROM c",
    "over": "SELECT p, row_number() OVER (ORDER BY p) FROM t",
    "named_window": "SELECT p, rank() OVER w FROM t WINDOW w AS (ORDER BY p)",
    "aggregate": "SELECT string_agg(p, ',' ORDER BY p) FROM t",
    "within_group": "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY p) FROM t",
    "one_arm": "(SELECT p FROM t ORDER BY p) UNION ALL (SELECT p FROM u)",
    "other_arm": "SELECT p FROM t UNION ALL (SELECT p FROM u ORDER BY p LIMIT 1)",
    "both_arms": "(SELECT p FROM t ORDER BY p) UNION ALL (SELECT p FROM u ORDER BY p)",
    "in_a_text": "SELECT ' ORDER BY p' FROM t",
    "in_a_comment": "SELECT p FROM t -- ORDER BY p",
    "in_a_name": 'SELECT p AS "ORDER BY p" FROM t',
    "exists": "SELECT p FROM t WHERE EXISTS (SELECT 1 FROM u ORDER BY 1)",
    "lateral": "SELECT p FROM t, LATERAL (SELECT q FROM u ORDER BY q LIMIT 1) x",
}
ASSUMED = {
    "missing": None,
    "empty": "",
    "blank": " \n ",
    "comment_alone": "-- nothing",
    "unparseable": "SELECT FROM WHERE ((",
    "explain": "EXPLAIN SELECT p FROM t",
    "set_then_select": "SET x = 1; SELECT p FROM t",
    "several": "SELECT p FROM t; SELECT p FROM u",
    "too_deep": "SELECT " + "(" * 10_000 + "p" + ")" * 10_000 + " FROM t",
    "too_long": "SELECT p FROM t WHERE p = '" + "x" * 10_000_000 + "'",
    "insert": "INSERT INTO u SELECT p FROM t",
    "no_statement": "hello",
}


@pytest.mark.parametrize("sql", ORDERED.values(), ids=ORDERED)
def test_an_order_by_of_the_whole_statement_counts(sql: str) -> None:
    ordering = read_ordering(sql, ["p"])
    assert ordering.sensitive
    assert not [note for note in ordering.notes if "assumed" in note]


@pytest.mark.parametrize("sql", UNORDERED.values(), ids=UNORDERED)
def test_an_order_by_of_anything_else_does_not(sql: str) -> None:
    assert read_ordering(sql, ["p"]).sensitive is False


@pytest.mark.parametrize("sql", ASSUMED.values(), ids=ASSUMED)
def test_what_cannot_be_read_is_assumed_ordered_with_a_note(sql: str | None) -> None:
    score = compare_result_sets(ResultSet(["p"], [["a"], ["b"]]), ResultSet(["p"], [["b"], ["a"]]), golden_sql=sql)
    assert score.order_sensitive
    assert score.accuracy == 0.0
    assert any("order assumed" in note for note in score.notes)


@pytest.mark.parametrize("dialect", ["klingon", 7, b"duckdb"], ids=["unknown", "number", "bytes"])
def test_an_unknown_dialect_is_assumed_ordered_with_a_note(dialect: object) -> None:
    ordering = read_ordering("SELECT p FROM t", ["p"], dialect)  # type: ignore[arg-type]  # what a caller may send
    assert ordering.sensitive
    assert "assumed" in ordering.notes[0]


def test_sql_that_is_not_text_is_assumed_ordered() -> None:
    assert read_ordering(b"SELECT p FROM t", ["p"]).sensitive  # type: ignore[arg-type]  # what a caller may send


def test_a_dialect_is_heeded() -> None:
    assert read_ordering("SELECT TOP 3 [p q] FROM t ORDER BY [p q]", ["p q"], "tsql").tie_columns == (0,)
    assert read_ordering("SELECT `p` FROM t", ["p"], "mysql").sensitive is False


def test_a_long_flat_statement_is_read() -> None:
    sql = "SELECT a FROM t WHERE " + " OR ".join(["a = 1"] * 2000) + " ORDER BY a"
    assert read_ordering(sql, ["a"]).tie_columns == (0,)


def test_a_parsers_own_fault_costs_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> object:
        raise ZeroDivisionError("canary")

    monkeypatch.setattr("app.core.comparator.ordering.parse_sql", fail)
    assert read_ordering("SELECT p FROM t", ["p"]).notes == (
        "order assumed: the golden SQL could not be read (ZeroDivisionError)",
    )


KEYS = {
    "alias": ("SELECT a + 1 AS x, b FROM t ORDER BY x", ["x", "b"], (0,)),
    "ordinal": ("SELECT a, b FROM t ORDER BY 2", ["a", "b"], (1,)),
    "ordinal_behind_a_star": ("SELECT * FROM t ORDER BY 2", ["a", "b"], (1,)),
    "ordinal_out_of_range": ("SELECT a FROM t ORDER BY 2", ["a"], ()),
    "expression": ("SELECT a, count(*) FROM t GROUP BY a ORDER BY count(*) DESC, a", ["a", "count"], (1, 0)),
    "expression_with_an_alias": ("SELECT lower(a) AS x FROM t ORDER BY lower(a)", ["x"], (0,)),
    "column_behind_an_alias": ("SELECT a AS x FROM t ORDER BY a", ["x"], (0,)),
    "qualified": ("SELECT t.a FROM t ORDER BY t.a", ["a"], (0,)),
    "qualifier_on_one_side": ("SELECT t.a FROM t ORDER BY a", ["a"], (0,)),
    "qualifier_on_the_other": ("SELECT a AS x FROM t ORDER BY t.a", ["x"], (0,)),
    "same_name_of_two_tables": ("SELECT t.a, u.a FROM t, u ORDER BY u.a", ["a", "a"], (1,)),
    "star": ("SELECT * FROM t ORDER BY a", ["b", "a"], (1,)),
    "star_and_qualified": ("SELECT * FROM t ORDER BY t.a", ["b", "a"], (1,)),
    "star_of_the_same_table": ("SELECT t.* FROM t, u ORDER BY t.a", ["a"], (0,)),
    "driver_renamed": ("SELECT a FROM t ORDER BY a", ["?column?"], (0,)),
    "union_name": ("SELECT a AS x FROM t UNION SELECT b FROM u ORDER BY x", ["x"], (0,)),
    "distinct": ("SELECT DISTINCT a, b FROM t ORDER BY b", ["a", "b"], (1,)),
    "nulls_and_direction": ("SELECT a FROM t ORDER BY a DESC NULLS FIRST", ["a"], (0,)),
    "quoted": ('SELECT "A" FROM t ORDER BY "A"', ["A"], (0,)),
    "alias_hides_a_column": ("SELECT b AS a, a AS b FROM t ORDER BY a", ["a", "b"], (0,)),
    # From here on the key cannot be read off the output.
    "hidden_column": ("SELECT a FROM t ORDER BY b", ["a"], ()),
    "one_of_two_hidden": ("SELECT a FROM t ORDER BY a, b", ["a"], ()),
    "hidden_expression": ("SELECT a FROM t ORDER BY lower(a)", ["a"], ()),
    "qualified_past_an_alias": ("SELECT lower(t.a) AS a FROM t ORDER BY t.a", ["a"], ()),
    "other_table": ("SELECT u.a FROM t, u ORDER BY t.a", ["a"], ()),
    "star_of_another_table": ("SELECT u.* FROM t, u ORDER BY t.a", ["a"], ()),
    "star_and_a_new_column": ("SELECT *, 1 AS a FROM t ORDER BY t.a", ["b", "a"], ()),
    "name_twice": ("SELECT t.a, u.a FROM t, u ORDER BY a", ["a", "a"], ()),
    "collation": ("SELECT a FROM t ORDER BY a COLLATE nocase", ["a"], ()),
    "union_expression": ("SELECT a FROM t UNION SELECT b FROM u ORDER BY lower(a)", ["a"], ()),
    "columns_do_not_fit": ("SELECT a, b FROM t ORDER BY a", ["a"], ()),
    "constant": ("SELECT a FROM t ORDER BY NULL", ["a"], ()),
}


@pytest.mark.parametrize(("sql", "columns", "keys"), KEYS.values(), ids=KEYS)
def test_order_by_keys_are_read_off_the_output_columns(sql: str, columns: list[str], keys: tuple[int, ...]) -> None:
    ordering = read_ordering(sql, columns)
    assert ordering.sensitive
    assert ordering.tie_columns == keys
    assert bool(ordering.notes) is not bool(keys)


GOLDEN = ResultSet(["k", "v"], [(1, "a"), (1, "b"), (2, "c"), (2, "d")])
TIED = {
    "in_place": ([(1, "a"), (1, "b"), (2, "c"), (2, "d")], 1.0),
    "within_groups": ([(1, "b"), (1, "a"), (2, "d"), (2, "c")], 1.0),
    "across_groups": ([(2, "c"), (2, "d"), (1, "a"), (1, "b")], 0.0),
    "one_row_of_each_group_swapped": ([(1, "a"), (2, "c"), (1, "b"), (2, "d")], 0.5),
    "duplicate_in_a_group": ([(1, "a"), (1, "a"), (2, "c"), (2, "d")], 0.75),
}


@pytest.mark.parametrize(("rows", "accuracy"), TIED.values(), ids=TIED)
def test_tied_rows_compare_in_any_order(rows: list[tuple[int, str]], accuracy: float) -> None:
    score = compare_result_sets(GOLDEN, ResultSet(["k", "v"], rows), golden_sql="SELECT k, v FROM t ORDER BY k LIMIT 4")
    assert score.accuracy == accuracy
    assert "rows that tie on the ORDER BY keys were compared in any order" in score.notes


def test_tied_rows_compare_in_place_where_a_key_cannot_be_read() -> None:
    generated = ResultSet(["k", "v"], TIED["within_groups"][0])
    score = compare_result_sets(GOLDEN, generated, golden_sql="SELECT k, v FROM t ORDER BY hidden")
    assert score.accuracy == 0.0
    assert any("position by position" in note for note in score.notes)


def test_rows_of_one_key_apart_from_each_other_are_two_groups() -> None:
    golden = ResultSet(["k", "v"], [(1, "a"), (2, "b"), (1, "c")])
    generated = ResultSet(["k", "v"], [(1, "c"), (2, "b"), (1, "a")])
    score = compare_result_sets(golden, generated, golden_sql="SELECT k, v FROM t ORDER BY k COLLATE x, 1")
    assert score.accuracy == pytest.approx(1 / 3)


def test_nulls_tie_with_each_other() -> None:
    golden = ResultSet(["k", "v"], [(None, "a"), (None, "b")])
    generated = ResultSet(["k", "v"], [(None, "b"), (None, "a")])
    assert compare_result_sets(golden, generated, golden_sql="SELECT k, v FROM t ORDER BY k").passed


def test_rows_without_ties_say_nothing_of_ties() -> None:
    rows = ResultSet(["k"], [(1,), (2,)])
    assert compare_result_sets(rows, rows, golden_sql="SELECT k FROM t ORDER BY k").notes == ()


def test_no_statement_reaches_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for sql in (*ORDERED.values(), *UNORDERED.values(), "EXPLAIN SELECT canary FROM t"):
            read_ordering(sql, ["p"])
    assert not caplog.text
