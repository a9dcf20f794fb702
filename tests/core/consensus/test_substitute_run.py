"""Inlined SQL is run: what a field means does not change when it is put into another."""

from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.consensus.substitute import references, sql_problem, substitute, without_comments
from app.core.consensus.vault import assemble_context
from app.runner.read_vault import read_vault

# Each names up to two earlier fields; the last ones bind so loosely that a missing pair of parentheses shows.
SHAPES = [
    "{a} - {b}",
    "{a} * 3",
    "2 * {a}",  # by a constant, so that six steps stay within an INTEGER
    "- {a}",
    "ABS({a})",
    "COALESCE({a}, {b})",
    "({a} + 1)",
    "CASE WHEN {a} > {b} THEN {a} ELSE 0 END",
    "{a}::BIGINT",
    "CAST({a} > {b} OR {a} = 2 AS INTEGER)",
    "CASE WHEN NOT ({a} > 1) THEN 1 ELSE 2 END % 3",
    "{a} -- less\n - {b}",
    "{a} & 6 | {b} & 3",
    "({a}) - ({b})",
]


@st.composite
def fields(draw):
    sqls = ["${TABLE}.x", "3", "${TABLE}.y"]
    for _ in range(draw(st.integers(1, 6))):
        earlier = st.integers(0, len(sqls) - 1).map(lambda i: f"${{[[f{i}]]}}")
        sqls.append(draw(st.sampled_from(SHAPES)).format(a=draw(earlier), b=draw(earlier)))
    return sqls


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as opened:
        opened.execute("CREATE TABLE t (x INTEGER, y INTEGER)")
        opened.execute("INSERT INTO t VALUES (1, 2), (-3, 5), (0, 0), (NULL, 4), (7, NULL), (1, 2)")
        yield opened


@settings(deadline=None, max_examples=60)
@given(sqls=fields())
def test_inlined_sql_gives_the_rows_of_fields_computed_one_by_one(connection, sqls):
    inlined: dict[str, str] = {}
    stepwise = "SELECT t.x, t.y, ROW_NUMBER() OVER () AS n FROM t"
    for i, sql in enumerate(sqls):
        inlined[f"f{i}"] = substitute(sql, "t", inlined)
        by_column = substitute(sql, "s", {name: f"s.{name}" for name in inlined})
        stepwise = f"SELECT s.*, {by_column} AS f{i} FROM ({stepwise}) AS s"
    last = f"f{len(sqls) - 1}"
    expected = connection.execute(f"SELECT {last} FROM ({stepwise}) ORDER BY n").fetchall()
    assert connection.execute(f"SELECT {inlined[last]} FROM t").fetchall() == expected


@settings(deadline=None)
@given(st.text(alphabet="ab1 .,'\"`()[]-/*;$\\{}\n", max_size=30))
def test_sql_without_a_problem_has_closed_brackets_and_quotes_and_stays_so(text):
    if sql_problem(text) is None:
        filled = substitute(text, "t", dict.fromkeys(references(text), "1"))
        assert sql_problem(filled) is None
        assert without_comments(filled) == filled
        assert sql_problem(f"({filled}) + 1") is None


SHOP_TABLES = """
CREATE SCHEMA shop;
CREATE TABLE shop.orders (
    order_id INTEGER PRIMARY KEY, customer_id INTEGER, status TEXT, ordered_at TIMESTAMP,
    amount DECIMAL(10, 2), tax DECIMAL(10, 2), internal_margin DECIMAL(10, 2)
);
CREATE TABLE shop.order_lines (order_id INTEGER, line_no INTEGER, quantity INTEGER);
CREATE TABLE shop.customers (customer_id INTEGER, region TEXT, store_credit INTEGER, as_of DATE, email TEXT,
    birth_date DATE);
INSERT INTO shop.customers VALUES (1, 'north', 5, '2025-01-01', 'a@x', NULL), (2, NULL, 0, '2025-01-01', 'b@x', NULL);
INSERT INTO shop.orders VALUES
    (1, 1, 'completed', '2025-01-01', 119, 19, 9), (2, 1, 'refunded', '2025-01-02', 50, 8, 1),
    (3, NULL, 'completed', '2025-01-03', 10, 1, 1), (4, 2, 'completed', '2025-01-04', 20, 2, 1);
INSERT INTO shop.order_lines VALUES (1, 1, 2), (1, 2, 3);
"""


@pytest.fixture(scope="module")
def shop():
    with duckdb.connect() as opened:
        opened.execute(SHOP_TABLES)
        yield opened


@pytest.fixture(scope="module")
def block():
    vault = read_vault(Path(__file__).parents[3] / "examples/vault")
    return assemble_context(vault, ["sales", "order_lines", "orders.ordered_at", "customers.credit"])


def test_every_sql_of_the_sample_vault_runs(shop, block):
    tables = {view.name: view.table for view in block.views}
    for field in block.fields:
        assert shop.execute(f"SELECT {field.sql} FROM {tables[field.view]}").fetchall(), field.name
        for condition in field.filters:
            shop.execute(f"SELECT 1 FROM {tables[field.view]} WHERE {condition}")
    for relation in block.relations:
        joined = f"{tables[relation.left]} {relation.join_type} JOIN {tables[relation.right]} ON {relation.join_sql}"
        assert shop.execute(f"SELECT 1 FROM {joined}").fetchall(), relation.name


def test_query_written_from_the_block_alone_gives_the_answer(shop, block):
    field = {field.name: field for field in block.fields}
    revenue, region, (join,) = field["orders.net_revenue"], field["customers.region"], block.relations[1:]
    table = {view.name: view.table for view in block.views}
    statement = (  # as an agent would, by filling in what the block says
        f"SELECT {region.sql}, {revenue.agg}({revenue.sql}) FROM {table[join.left]} "
        f"{join.join_type} JOIN {table[join.right]} ON {join.join_sql} "
        f"WHERE {' AND '.join(revenue.filters)} GROUP BY 1 ORDER BY 1"
    )
    assert shop.execute(statement).fetchall() == [("north", 100), ("unknown", 27)]
