"""What `compare` promises of any statements: symmetry, reflexivity, axes, totality, time."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest
import sqlglot
from consensus_statements import Writer
from consensus_worlds import a_world
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from app.core.consensus import AXES, SchemaRefused, compare

if TYPE_CHECKING:
    from app.core.consensus.compare import Comparison

SCHEMA = """
CREATE TABLE customers (id INT PRIMARY KEY, name TEXT NOT NULL, country TEXT, city TEXT);
CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT REFERENCES customers (id), status TEXT, amount NUMERIC(10,2),
  qty INT NOT NULL, created_at TIMESTAMP NOT NULL);
"""


def postgres(*statements: str, ordered: bool = False) -> Comparison:
    return compare(statements, dialect="postgres", schema=SCHEMA, ordered=ordered)


TRAPS = {
    "constant-of-nullable-side": ("SELECT c.id FROM customers c LEFT JOIN (SELECT customer_id, 1 AS f FROM orders) o ON o.customer_id = c.id WHERE o.f IS NULL", "SELECT c.id FROM customers c LEFT JOIN (SELECT customer_id, 1 AS f FROM orders) o ON o.customer_id = c.id WHERE 1 IS NULL"),
    "scalar-of-several-rows": ("SELECT id FROM customers WHERE id = (SELECT customer_id FROM orders)", "SELECT c.id FROM customers c JOIN orders o ON o.customer_id = c.id"),
    "in-as-value": ("SELECT id IN (SELECT customer_id FROM orders) AS v FROM customers", "SELECT COALESCE(id IN (SELECT customer_id FROM orders), FALSE) AS v FROM customers"),
    "scalar-beside-aggregate": ("SELECT COUNT(*) + (SELECT COUNT(*) FROM customers) FROM orders WHERE qty > 9", "SELECT COUNT(*) + MAX(d.n) FROM orders, (SELECT COUNT(*) AS n FROM customers) d WHERE qty > 9"),
    "or-and-brackets": ("SELECT id FROM orders WHERE qty = 1 OR qty = 2 AND status = 'a'", "SELECT id FROM orders WHERE (qty = 1 OR qty = 2) AND status = 'a'"),
    "integer-division": ("SELECT qty / 2 FROM orders", "SELECT qty / 2.0 FROM orders"),
    "sum-case-without-group": ("SELECT SUM(CASE WHEN qty > 1 THEN 1 ELSE 0 END) FROM orders", "SELECT COUNT(*) FILTER (WHERE qty > 1) FROM orders"),
    "sum-of-counts-over-nothing": ("SELECT SUM(d.n) FROM (SELECT status, COUNT(*) AS n FROM orders GROUP BY status) d", "SELECT COUNT(*) FROM orders"),
    "count-bug": ("SELECT c.id, COALESCE(d.n, 0) FROM customers c JOIN (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) d ON d.customer_id = c.id", "SELECT c.id, (SELECT COUNT(*) FROM orders o WHERE o.customer_id = c.id) FROM customers c"),
    "nullable-unique": ("SELECT DISTINCT country FROM customers", "SELECT country FROM customers"),
    "limit-moved": ("SELECT id FROM (SELECT id FROM orders ORDER BY id LIMIT 3) d WHERE id > 1", "SELECT id FROM orders WHERE id > 1 ORDER BY id LIMIT 3"),
    "group-keys-under-ties": ("SELECT c.name, COUNT(*) FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id, c.name ORDER BY COUNT(*) LIMIT 1", "SELECT c.name, COUNT(*) FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id ORDER BY COUNT(*) LIMIT 1"),
    "join-dropped-under-ties": ("SELECT o.id FROM orders o LEFT JOIN customers c ON c.id = o.customer_id ORDER BY qty LIMIT 1", "SELECT id FROM orders ORDER BY qty LIMIT 1"),
    "inner-order-under-ties": ("SELECT name FROM customers ORDER BY country LIMIT 1", "SELECT name FROM (SELECT * FROM customers ORDER BY name) d ORDER BY country LIMIT 1"),
    "narrowing-cast": ("SELECT CAST(qty AS SMALLINT) FROM orders", "SELECT qty FROM orders"),
    "rounding-cast": ("SELECT CAST(amount AS INT) FROM orders", "SELECT amount FROM orders"),
    "date-cast-of-time": ("SELECT id FROM orders WHERE CAST(created_at AS DATE) <= '2024-01-31'", "SELECT id FROM orders WHERE created_at <= '2024-01-31'"),
    "not-in-null": ("SELECT id FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)", "SELECT id FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)"),
    "except-all": ("SELECT country FROM customers EXCEPT ALL SELECT city FROM customers", "SELECT country FROM customers EXCEPT SELECT city FROM customers"),
    "column-swap-in-union": ("SELECT country, city FROM customers UNION ALL SELECT city, country FROM customers", "SELECT country, city FROM customers UNION ALL SELECT country, city FROM customers"),
    "having-without-group": ("SELECT COUNT(*) FROM orders HAVING 1 = 0", "SELECT COUNT(*) FROM orders WHERE 1 = 0"),
    "group-by-constant": ("SELECT COUNT(*) FROM orders GROUP BY 1 = 1", "SELECT COUNT(*) FROM orders"),
    "concat-null": ("SELECT CONCAT(country, city) FROM customers", "SELECT country || city FROM customers"),
    "left-condition-on-left-table": ("SELECT c.id, o.id FROM customers c LEFT JOIN orders o ON o.customer_id = c.id AND c.country = 'US'", "SELECT c.id, o.id FROM customers c LEFT JOIN orders o ON o.customer_id = c.id WHERE c.country = 'US'"),
    "window-over-filter": ("SELECT d.n FROM (SELECT qty, COUNT(*) OVER () AS n FROM orders) d WHERE d.qty > 1", "SELECT COUNT(*) OVER () AS n FROM orders WHERE qty > 1"),
    "volatile": ("SELECT random() FROM orders", "SELECT random() AS r FROM orders WHERE TRUE"),
}  # fmt: skip


@pytest.mark.parametrize(("left", "right"), TRAPS.values(), ids=TRAPS.keys())
def test_trap_is_not_called_equivalent(left: str, right: str) -> None:
    found = postgres(left, right)
    assert not found.equivalent
    assert found.parts[0].differences


def test_mysql_text_is_not_one_value_because_it_is_equal() -> None:
    pair = ("SELECT c.name FROM c JOIN d ON c.name = d.name", "SELECT d.name FROM c JOIN d ON c.name = d.name")
    schema = {"c": {"name": "varchar(9)"}, "d": {"name": "varchar(9)"}}
    assert compare(pair, dialect="postgres", schema=schema).equivalent
    assert not compare(pair, dialect="mysql", schema=schema).equivalent


def test_boolean_column_of_sqlite_may_hold_two() -> None:
    pair = ("SELECT id FROM t WHERE ok", "SELECT id FROM t WHERE ok = TRUE")
    assert compare(pair, dialect="postgres", schema="CREATE TABLE t (id INT, ok BOOLEAN)").equivalent
    assert not compare(pair, dialect="sqlite", schema="CREATE TABLE t (id INT, ok BOOLEAN)").equivalent


AXIS_CASES = {
    "filters": ("SELECT id FROM orders WHERE qty > 1", "SELECT id FROM orders WHERE qty >= 1"),
    "joins": ("SELECT c.id, o.id FROM customers c JOIN orders o ON o.customer_id = c.id", "SELECT c.id, o.id FROM customers c LEFT JOIN orders o ON o.customer_id = c.id"),
    "tables": ("SELECT id FROM orders", "SELECT id FROM customers"),
    "aggregates": ("SELECT SUM(amount) FROM orders", "SELECT AVG(amount) FROM orders"),
    "grouping": ("SELECT COUNT(*) FROM orders GROUP BY status", "SELECT COUNT(*) FROM orders GROUP BY customer_id"),
    "distinct": ("SELECT DISTINCT country FROM customers", "SELECT country FROM customers"),
    "having": ("SELECT status FROM orders GROUP BY status HAVING COUNT(*) > 1", "SELECT status FROM orders GROUP BY status HAVING COUNT(*) > 2"),
    "windows": ("SELECT id, RANK() OVER (ORDER BY qty) FROM orders", "SELECT id, RANK() OVER (ORDER BY amount) FROM orders"),
    "set_operations": ("SELECT country FROM customers UNION SELECT city FROM customers", "SELECT country FROM customers UNION ALL SELECT city FROM customers"),
    "outputs": ("SELECT id FROM orders", "SELECT qty FROM orders"),
    "limit": ("SELECT id FROM orders ORDER BY id LIMIT 1", "SELECT id FROM orders ORDER BY id LIMIT 2"),
    "ordering": ("SELECT id FROM orders ORDER BY qty LIMIT 1", "SELECT id FROM orders ORDER BY qty DESC LIMIT 1"),
    "undetermined": ("SELECT my_function(id) FROM orders", "SELECT id FROM orders"),
}  # fmt: skip


@pytest.mark.parametrize("axis", AXES)
def test_difference_names_its_axis(axis: str) -> None:
    found = postgres(*AXIS_CASES[axis])
    assert axis in {d.axis for d in found.parts[0].differences}


@pytest.mark.parametrize(
    "axis", [a for a in AXES if a in ("filters", "having", "aggregates", "outputs", "windows", "grouping")]
)
def test_what_differs_is_readable_sql(axis: str) -> None:
    for difference in postgres(*AXIS_CASES[axis]).parts[0].differences:
        for text in (*difference.left, *difference.right):
            assert isinstance(sqlglot.parse_one(f"SELECT {text}", dialect="postgres"), exp.Select)


def test_order_alone_parts_nobody_unless_asked() -> None:
    pair = ("SELECT id FROM orders ORDER BY id", "SELECT id FROM orders")
    assert postgres(*pair).equivalent
    assert "order" in postgres(*pair).notes[0]
    assert [d.axis for d in postgres(*pair, ordered=True).parts[0].differences] == ["ordering"]


def test_join_that_changes_nothing_is_noted() -> None:
    found = postgres(
        "SELECT id FROM orders WHERE customer_id IS NOT NULL",
        "SELECT o.id FROM orders o JOIN customers c ON c.id = o.customer_id",
    )
    assert found.equivalent
    assert found.notes == ("0 and 1 read different tables, with the same rows: customers",)


INVALID = {
    "unparseable": ("SELEC 1", "unparseable"),
    "empty": ("  -- nothing", "empty"),
    "two": ("SELECT 1; SELECT 2", "several statements"),
    "insert": ("INSERT INTO orders SELECT * FROM orders", "it writes"),
    "writing-cte": ("WITH d AS (DELETE FROM orders RETURNING id) SELECT * FROM d", "it writes"),
    "select-into": ("SELECT id INTO copy FROM orders", "it writes"),
    "drop": ("DROP TABLE orders", "it writes"),
    "show": ("EXPLAIN SELECT 1", "not a SELECT"),
}  # fmt: skip


@pytest.mark.parametrize(("sql", "reason"), INVALID.values(), ids=INVALID.keys())
def test_invalid_candidate_has_a_reason_and_agrees_with_nobody(sql: str, reason: str) -> None:
    found = postgres(sql, sql, "SELECT 1")
    assert [(r.status, r.reason) for r in found.readings[:2]] == [("invalid", reason)] * 2
    assert found.classes == ((2,),)


UNREAD = {
    "recursive": "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT n FROM t",
    "volatile": "SELECT random() FROM orders AS o",
    "unknown-function": "SELECT f(o.id) FROM orders AS o",
    "unknown-column": "SELECT o.nothing FROM orders AS o",
    "array-of-rows": "SELECT ARRAY_AGG(o.id) FROM orders AS o",
}  # fmt: skip


@pytest.mark.parametrize("sql", UNREAD.values(), ids=UNREAD.keys())
def test_unread_statement_equals_itself_whatever_its_aliases(sql: str) -> None:
    renamed = sql.replace("orders AS o", "orders AS zz").replace("o.", "zz.") if "AS o" in sql else sql
    found = postgres(sql, f"{renamed}  /* said again */", "SELECT id FROM orders")
    assert {r.status for r in found.readings[:2]} == {"undetermined"}
    assert found.classes[0] == (0, 1)
    assert "undetermined" in {d.axis for d in found.parts[0].differences}


PATHOLOGICAL = {
    "many-alternatives": "SELECT 1 FROM t WHERE " + " OR ".join(f"(a = {i} AND b = {i + 1})" for i in range(1500)),
    "many-self-joins": "SELECT 1 FROM " + ", ".join(f"t AS t{i}" for i in range(60)),
    "long-sum": "SELECT " + " + ".join(f"c{i}" for i in range(2000)) + " FROM t",
    "deep-brackets": "SELECT " + "(" * 120 + "1" + ")" * 120,
    "deeper-brackets": "SELECT " + "(" * 5000 + "1" + ")" * 5000,
    "deep-derived": "SELECT * FROM " + "(SELECT * FROM " * 60 + "t" + ") AS d" * 60,
    "endless": "SELECT 1 FROM t WHERE a IN (" + ", ".join(map(str, range(60_000))) + ")",
}  # fmt: skip


@pytest.mark.parametrize("sql", PATHOLOGICAL.values(), ids=PATHOLOGICAL.keys())
def test_pathological_statement_is_cut_off(sql: str) -> None:
    started = time.thread_time()
    found = compare([sql, sql, "SELECT 2"], seconds=0.3)
    assert time.thread_time() - started < 5
    assert found.readings[0].status in ("read", "undetermined")
    assert found.classes[0] == (0, 1)


def test_schema_that_holds_no_table_is_refused() -> None:
    with pytest.raises(SchemaRefused):
        compare(["SELECT 1"], schema="not a schema")


@given(st.integers(0, 1 << 30))
@settings(deadline=None, max_examples=40)
def test_comparison_is_reflexive_symmetric_and_ignores_the_order(seed: int) -> None:
    rng = random.Random(seed)
    world = a_world(rng)
    writer = Writer(world, rng)
    statements = [writer.statement() for _ in range(3)]
    loud = [sqlglot.parse_one(s, dialect="duckdb").sql(dialect="duckdb", pretty=True) + " -- again" for s in statements]
    found = compare([*statements, *loud], dialect="duckdb", schema=world.schema, seconds=10)
    swapped = compare([*loud, *statements], dialect="duckdb", schema=world.schema, seconds=10)
    for index in range(3):
        assert any({index, index + 3} <= set(c) for c in found.classes)
    assert {frozenset(c) for c in found.classes} == {frozenset((i + 3) % 6 for i in c) for c in swapped.classes}
    for part in found.parts:
        back = compare(
            [found.candidates[part.right], found.candidates[part.left]],
            dialect="duckdb",
            schema=world.schema,
            seconds=10,
        )
        assert [(d.axis, d.right, d.left) for d in back.parts[0].differences] == [
            (d.axis, d.left, d.right) for d in part.differences
        ]


@given(
    st.text(max_size=60) | st.text(alphabet="SELECT FROM WHERE()*,'\"1ab=<>", max_size=60).map(lambda s: "SELECT " + s)
)
@settings(deadline=None, max_examples=150)
def test_any_text_is_read_without_an_error(text: str) -> None:
    found = compare([text, "SELECT 1"])
    assert not any((r.reason or "").startswith("fault") for r in found.readings)
