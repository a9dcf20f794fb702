"""Nothing that a caller can hand over makes the comparator raise, hang, or repeat what it was handed."""

from __future__ import annotations

import collections
import sqlite3
from dataclasses import dataclass
from typing import Any

import hostile_objects
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.comparator import Bounds, ItemScore, MatchLevel, ResultSet, compare_result_sets


@pytest.mark.parametrize("title", hostile_objects.CELLS)
@pytest.mark.parametrize("match", ["exact", "values", "shape"])
def test_a_strange_cell_is_compared(title: str, match: str) -> None:
    cell = hostile_objects.CELLS[title]  # pytest itself trips over some of them as parameters
    sides = (ResultSet(["a", "b"], [[cell, 1], [None, 2]]) for _ in range(2))
    assert compare_result_sets(*sides, match=match).accuracy == 1.0


@pytest.mark.parametrize("title", hostile_objects.FAILING)
@pytest.mark.parametrize("match", ["exact", "values"])
def test_a_cell_that_cannot_be_read_is_an_error_that_names_the_type(title: str, match: str) -> None:
    cell = hostile_objects.FAILING[title]
    score = compare_result_sets(ResultSet(["a"], [[cell]]), ResultSet(["a"], [[cell]]), match=match)
    assert (score.status, score.accuracy) == ("error", None)
    assert score.reason in ("the comparison failed (CanaryError)", "the comparison failed (CellTooDeep)")
    assert score.golden_row_count == 1


@pytest.mark.parametrize("title", hostile_objects.ROWS)
def test_rows_that_lie_are_an_error(title: str) -> None:
    rows = hostile_objects.ROWS[title]
    for sides in (
        (ResultSet(["a"], rows), ResultSet(["a"], [[1]] * 2)),
        (ResultSet(["a"], [[1]] * 2), ResultSet(["a"], rows)),
    ):
        score = compare_result_sets(*sides)
        assert score.passed is False
        assert hostile_objects.CANARY not in repr(score)


Row = collections.namedtuple("Row", ["a", "b"])


def sqlite_rows() -> list[Any]:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    try:
        return connection.execute("SELECT 1 AS a, 'x' AS b").fetchall()
    finally:
        connection.close()


ROWS = {
    "tuple": [(1, "x")],
    "namedtuple": [Row(1, "x")],
    "sqlite": sqlite_rows(),
    "numpy_row": [np.array([1, "x"], dtype=object)],
    "numpy_table": np.array([[1, "x"]], dtype=object),
}


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_rows_may_be_of_any_sequence_type(rows: Any) -> None:
    assert compare_result_sets(ResultSet(["a", "b"], [[1, "x"]]), ResultSet(["a", "b"], rows)).passed


SQLS = {
    "ten_megabytes": "SELECT 1 -- " + "x" * 10_000_000,
    "deep_brackets": "SELECT " + "(" * 10_000 + "1" + ")" * 10_000,
    "open_brackets": "(" * 10_000,
    "deep_cases": "SELECT " + "CASE WHEN a THEN " * 10_000 + "1" + " END" * 10_000,
    "null_character": "SELECT \x00 FROM t",
    "half_a_surrogate_pair": "SELECT '\ud800' FROM t ORDER BY 1",
    "hostile_text": hostile_objects.hostile("strip", "__len__", "__str__", "__iter__", base=str)("SELECT 1"),
    "number": 7,
    "long_union": " UNION ALL ".join(["SELECT 1"] * 3000) + " ORDER BY 1",
    "deep_order_key": "SELECT a FROM t ORDER BY " + " + ".join(["a"] * 3000),
}


@pytest.mark.parametrize("title", SQLS)
def test_hostile_sql_costs_no_score(title: str) -> None:
    rows = ResultSet(["a"], [[1], [2]])
    assert compare_result_sets(rows, rows, golden_sql=SQLS[title]).passed


@pytest.mark.parametrize("dialect", ["", "klingon", "duckdb, nope=1", 7, object(), "x" * 1_000_000], ids=range(6))
def test_a_hostile_dialect_costs_no_score(dialect: Any) -> None:
    rows = ResultSet(["a"], [[1]])
    assert compare_result_sets(rows, rows, golden_sql="SELECT a FROM t", dialect=dialect).passed


def test_hostile_bounds_are_an_error() -> None:
    rows = ResultSet(["a"], [[1]])
    for bounds in (hostile_objects.hostile("__getattribute__")(), 7, "x"):
        assert compare_result_sets(rows, rows, match="bounded", bounds=bounds).status == "error"


def test_names_may_be_anything_that_is_text() -> None:
    odd = hostile_objects.hostile("__str__", "casefold", "rpartition", base=str)("odd")
    for names in (["", ""], ["a" * 1_000_000, "."], ["\ud800", "a\nb"], [odd, odd]):
        rows = ResultSet(names, [[1, 2]])
        assert compare_result_sets(rows, rows, golden_sql="SELECT * FROM t ORDER BY 1").passed


EVERY_OBJECT = hostile_objects.CELLS | hostile_objects.FAILING


@dataclass(frozen=True)
class Stranger:
    """Stands for one of the objects: Hypothesis, too, trips over the objects themselves."""

    title: str


@dataclass(frozen=True)
class Result:
    """Stands for a result set that holds strangers."""

    columns: Any
    rows: Any


def met(value: Any) -> Any:
    match value:
        case Stranger():
            return EVERY_OBJECT[value.title]
        case Result():
            return ResultSet(met(value.columns), met(value.rows))
        case list():
            return [met(part) for part in value]
        case dict():
            return {name: met(part) for name, part in value.items()}
    return value


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.decimals()
    | st.text(max_size=8)
    | st.binary(max_size=4)
    | st.dates()
    | st.datetimes()
    | st.timedeltas()
    | st.uuids()
    | st.builds(Stranger, st.sampled_from(sorted(EVERY_OBJECT))),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
TABLE = st.integers(0, 3).flatmap(
    lambda width: st.builds(
        Result,
        st.lists(st.text(max_size=3), min_size=width, max_size=width),
        st.lists(st.lists(ANYTHING, min_size=width, max_size=width), min_size=2, max_size=2),
    )
)
ROW = ANYTHING | st.lists(ANYTHING, max_size=3)
NAMES = ANYTHING | st.lists(st.text(max_size=3), max_size=3)
SIDES = TABLE | TABLE | st.builds(Result, NAMES, ANYTHING | st.lists(ROW, max_size=4)) | ANYTHING
REQUESTS = st.fixed_dictionaries(
    {
        "match": st.sampled_from(list(MatchLevel)) | ANYTHING,
        "golden_sql": st.text(max_size=30) | ANYTHING,
        "dialect": st.text(max_size=8) | ANYTHING,
        "bounds": st.just(Bounds(min_rows=1)) | ANYTHING,
    }
)


@settings(deadline=None, max_examples=300)
@given(SIDES, SIDES, REQUESTS)
def test_anything_at_all_is_answered_with_a_score(golden: Any, generated: Any, asked: dict[str, Any]) -> None:
    score = compare_result_sets(met(golden), met(generated), **met(asked))
    assert isinstance(score, ItemScore)
    assert (score.accuracy is None) is (score.status != "scored")
    assert score.accuracy is None or 0.0 <= score.accuracy <= 1.0
