"""What each level asks, what is decided before columns are looked at, and what is never a score."""

from __future__ import annotations

import dataclasses
import itertools
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from app.core.comparator import Bounds, ItemScore, MatchLevel, ResultSet, compare_result_sets

SQL = "SELECT * FROM t"
EMPTY = ResultSet(["a"], [])


def column(*cells: Any) -> ResultSet:
    return ResultSet(["a"], [[cell] for cell in cells])


def bounded(generated: ResultSet, **edges: Any) -> ItemScore:
    return compare_result_sets(EMPTY, generated, match="bounded", bounds=Bounds(**edges))


# --- what is decided first


@pytest.mark.parametrize("match", ["exact", "values", "shape"])
def test_a_differing_row_count_is_told_in_rows_and_never_as_a_missing_column(match: str) -> None:
    score = compare_result_sets(column(1, 2), ResultSet(["z"], [["x"]]), match=match, golden_sql=SQL)
    assert (score.status, score.accuracy) == ("scored", 0.0)
    assert score.reason == "the row counts differ: 2 golden, 1 generated"
    assert score.unmatched_golden_columns == ()
    assert (score.golden_row_count, score.generated_row_count) == (2, 1)


@pytest.mark.parametrize("match", ["exact", "values", "shape"])
@pytest.mark.parametrize(
    "generated", [EMPTY, ResultSet(["x", "y"], []), ResultSet([], [])], ids=["same", "wider", "bare"]
)
def test_empty_against_empty_is_unscored(match: str, generated: ResultSet) -> None:
    score = compare_result_sets(EMPTY, generated, match=match, golden_sql=SQL)
    assert (score.status, score.accuracy, score.passed) == ("unscored", None, False)
    assert score.order_sensitive is False


@pytest.mark.parametrize("match", ["exact", "values", "shape"])
def test_one_empty_side_differs_in_rows(match: str) -> None:
    for sides in ((EMPTY, column(1)), (column(1), EMPTY)):
        assert compare_result_sets(*sides, match=match).accuracy == 0.0


def test_bounded_and_nonempty_are_always_scored() -> None:
    assert compare_result_sets(EMPTY, EMPTY, match="nonempty").accuracy == 0.0
    assert bounded(EMPTY, max_rows=0).accuracy == 1.0


def test_rows_without_columns_are_unscored() -> None:
    bare = ResultSet([], [[], []])
    assert compare_result_sets(bare, bare).status == "unscored"
    assert compare_result_sets(bare, column(1, 2), match="values").status == "unscored"
    assert compare_result_sets(bare, column(1, 2)).accuracy == 0.0
    assert compare_result_sets(column(1, 2), bare, match="values").accuracy == 0.0


MALFORMED = {
    "wide_row": ResultSet(["a"], [[1], [1, 2]]),
    "narrow_row": ResultSet(["a", "b"], [[1, 2], [1]]),
    "text_row": ResultSet(["a"], ["x"]),  # type: ignore[list-item]
    "bytes_row": ResultSet(["a"], [b"x"]),
    "mapping_row": ResultSet(["a"], [{"a": 1}]),  # type: ignore[list-item]
    "set_row": ResultSet(["a"], [{1}]),  # type: ignore[list-item]
    "number_row": ResultSet(["a"], [1]),  # type: ignore[list-item]
    "null_row": ResultSet(["a"], [None]),  # type: ignore[list-item]
    "text_rows": ResultSet(["a"], "xyz"),  # type: ignore[arg-type]
    "no_rows": ResultSet(["a"], None),  # type: ignore[arg-type]
    "iterator_rows": ResultSet(["a"], iter([[1]])),  # type: ignore[arg-type]
    "text_columns": ResultSet("a", [[1]]),
    "nameless_column": ResultSet([None], [[1]]),  # type: ignore[list-item]
    "no_columns": ResultSet(None, [[1]]),  # type: ignore[arg-type]
    "no_result": None,
    "a_list": [[1]],
}


@pytest.mark.parametrize("side", MALFORMED.values(), ids=MALFORMED)
@pytest.mark.parametrize("match", ["exact", "values", "shape"])
def test_a_malformed_result_is_an_error_on_either_side(side: Any, match: str) -> None:
    for sides in ((side, column(1)), (column(1), side)):
        score = compare_result_sets(*sides, match=match, golden_sql=SQL)
        assert (score.status, score.accuracy) == ("error", None)
        assert "malformed" in score.reason
        assert score.order_sensitive is False


@pytest.mark.parametrize("side", MALFORMED.values(), ids=MALFORMED)
def test_levels_without_a_key_do_not_look_at_it(side: Any) -> None:
    assert compare_result_sets(side, column(1), match="nonempty").passed
    assert compare_result_sets(side, column(1), match="bounded", bounds=Bounds(max_rows=1)).passed
    assert compare_result_sets(column(1), side, match="nonempty").status == "error"


@pytest.mark.parametrize("match", ["", "Exact", "fuzzy", None, 1, [], {}], ids=repr)
def test_an_unknown_level_is_an_error(match: Any) -> None:
    score = compare_result_sets(column(1), column(1), match=match)
    assert (score.status, score.accuracy, score.reason) == ("error", None, "the match level is unknown")


@pytest.mark.parametrize("match", MatchLevel)
def test_a_level_may_be_given_by_name_or_as_itself(match: MatchLevel) -> None:
    scores = [
        compare_result_sets(column(1), column(1), match=level, bounds=Bounds(max_rows=1))
        for level in (match, match.value)
    ]
    assert scores[0] == scores[1]
    assert scores[0].passed


# --- exact and values


def test_accuracy_is_the_raw_share_and_never_rounded() -> None:
    golden = column(*range(4004))
    score = compare_result_sets(golden, column(*range(4002), -1, -2), golden_sql=SQL)
    assert score.accuracy == 4002 / 4004
    assert not score.passed


def test_duplicates_count() -> None:
    assert compare_result_sets(column("a", "a", "b", "c"), column("a", "b", "b", "c"), golden_sql=SQL).accuracy == 0.75


def test_cells_are_never_joined() -> None:
    golden, generated = ResultSet(["a", "b"], [["1 x", "y"]]), ResultSet(["a", "b"], [["1", "x y"]])
    assert compare_result_sets(golden, generated).accuracy == 0.0


def test_mixed_types_in_one_column_are_no_obstacle() -> None:
    cells = [1, "1", None, True, 1.5, date(2026, 1, 2), b"1", [1], {"a": 1}, UUID(int=1), time(1), timedelta(1), -0.0]
    score = compare_result_sets(column(*cells), column(*reversed(cells)), golden_sql=SQL)
    assert score.passed


def test_minus_zero_in_an_unsorted_column_with_negatives() -> None:
    golden, generated = column(-2.0, 0, -2.0, 5), ResultSet(["w"], [[-0.0], [5], [-2], [Decimal(-2)]])
    assert compare_result_sets(golden, generated, golden_sql=SQL).passed


# --- shape


SHAPES = {
    "same_types": ([1, 2.5], [7, Decimal(3)], True),
    "other_values": (["a"], ["b"], True),
    "number_and_text": ([1], ["1"], False),
    "bool_and_number": ([True], [1], False),
    "boolean_words": ([True, False], ["yes", "no"], True),
    "date_and_its_text": ([date(2026, 1, 2)], ["2026-01-03 04:05:06"], True),
    "date_and_timestamp": ([date(2026, 1, 2)], [datetime(2026, 1, 2, 3)], True),
    "date_and_text": ([date(2026, 1, 2)], ["soon"], False),
    "nan_is_a_number": ([float("nan")], [1], True),
    "nulls_constrain_nothing": ([None, None], ["a", "b"], True),
    "nulls_beside_numbers": ([None, 1], [2, None], True),
    "uuid_is_text": ([UUID(int=1)], ["x"], True),
    "mixed_is_text": ([1, "x"], ["a", "b"], True),
    "mixed_is_no_number": ([1, "x"], [1, 2], False),
}


@pytest.mark.parametrize(("golden", "generated", "passes"), SHAPES.values(), ids=SHAPES)
def test_shape_compares_coarse_types(golden: list[Any], generated: list[Any], passes: bool) -> None:
    for sides in ((golden, generated), (generated, golden)):
        score = compare_result_sets(*(column(*cells) for cells in sides), match="shape")
        assert score.accuracy == float(passes)


def test_shape_goes_by_position_and_column_count() -> None:
    golden = ResultSet(["a", "b"], [[1, "x"]])
    assert compare_result_sets(golden, ResultSet(["p", "q"], [[2, "y"]]), match="shape").passed
    assert compare_result_sets(golden, ResultSet(["b", "a"], [["x", 1]]), match="shape").accuracy == 0.0
    assert compare_result_sets(golden, ResultSet(["a"], [[1]]), match="shape").accuracy == 0.0
    assert compare_result_sets(golden, ResultSet(["a", "b", "c"], [[1, "x", 1]]), match="shape").accuracy == 0.0


# --- bounded and nonempty


ROW_BANDS = {
    "at_the_floor": (2, {"min_rows": 2}, 1.0),
    "below_the_floor": (1, {"min_rows": 2}, 0.0),
    "at_the_ceiling": (3, {"max_rows": 3}, 1.0),
    "above_the_ceiling": (4, {"max_rows": 3}, 0.0),
    "inside": (2, {"min_rows": 1, "max_rows": 3}, 1.0),
    "exactly": (2, {"min_rows": 2, "max_rows": 2}, 1.0),
    "none_wanted": (0, {"max_rows": 0}, 1.0),
    "none_found": (0, {"min_rows": 1}, 0.0),
}


@pytest.mark.parametrize(("count", "edges", "accuracy"), ROW_BANDS.values(), ids=ROW_BANDS)
def test_a_row_band_judges_the_row_count(count: int, edges: dict[str, int], accuracy: float) -> None:
    assert bounded(column(*range(count)), **edges).accuracy == accuracy


VALUE_BANDS = {
    "at_the_floor": (5, {"min_value": 5}, 1.0),
    "below_the_floor": (Decimal("4.999999999999999999999"), {"min_value": 5}, 0.0),
    "at_the_ceiling": (0.1, {"max_value": Decimal("0.1")}, 1.0),
    "above_the_ceiling": (0.1 + 0.2, {"max_value": 0.3}, 0.0),
    "whole_and_float": (7.0, {"min_value": 7, "max_value": 7}, 1.0),
    "beyond_floats": (10**40 + 1, {"max_value": 10**40}, 0.0),
    "nan_is_in_no_band": (float("nan"), {"min_value": 0}, 0.0),
    "infinity_has_a_side": (float("inf"), {"min_value": 0}, 1.0),
    "infinity_is_above": (float("inf"), {"max_value": 10**300}, 0.0),
    "value_before_rows": (5, {"min_value": 5, "min_rows": 2}, 1.0),
}


@pytest.mark.parametrize(("cell", "edges", "accuracy"), VALUE_BANDS.values(), ids=VALUE_BANDS)
def test_a_value_band_judges_a_single_numeric_cell(cell: Any, edges: dict[str, Any], accuracy: float) -> None:
    assert bounded(column(cell), **edges).accuracy == accuracy


NOT_ONE_NUMBER = {
    "two_rows": column(1, 2),
    "two_columns": ResultSet(["a", "b"], [[1, 2]]),
    "text": column("5"),
    "bool": column(True),
    "null": column(None),
    "date": column(date(2026, 1, 2)),
}


@pytest.mark.parametrize("generated", NOT_ONE_NUMBER.values(), ids=NOT_ONE_NUMBER)
def test_a_value_band_falls_through_to_the_row_band(generated: ResultSet) -> None:
    assert bounded(generated, min_value=100, min_rows=1).accuracy == 1.0
    assert bounded(generated, min_value=0, min_rows=3).accuracy == 0.0


@pytest.mark.parametrize("generated", NOT_ONE_NUMBER.values(), ids=NOT_ONE_NUMBER)
def test_a_value_band_with_neither_is_an_error(generated: ResultSet) -> None:
    score = bounded(generated, min_value=0)
    assert (score.status, score.accuracy) == ("error", None)


def test_an_empty_result_against_a_value_band_scores_nothing() -> None:
    assert bounded(EMPTY, min_value=0).accuracy == 0.0
    assert bounded(EMPTY, min_value=0, max_rows=5).accuracy == 0.0


def test_bounded_needs_bounds() -> None:
    for bounds in (None, {"min_rows": 1}, (1, 2)):
        score = compare_result_sets(EMPTY, column(1), match="bounded", bounds=bounds)  # type: ignore[arg-type]
        assert (score.status, score.accuracy) == ("error", None)


REFUSED_BANDS = {
    "nothing_set": {},
    "rows_crossed": {"min_rows": 2, "max_rows": 1},
    "values_crossed": {"min_value": 2, "max_value": Decimal("1.9")},
    "values_crossed_beyond_floats": {"min_value": 10**40 + 1, "max_value": 10**40},
    "negative_rows": {"min_rows": -1},
    "half_a_row": {"max_rows": 1.5},
    "rows_of_text": {"max_rows": "1"},
    "rows_of_bool": {"max_rows": True},
    "nan": {"min_value": float("nan")},
    "signalling_nan": {"max_value": Decimal("sNaN")},
    "text": {"min_value": "1"},
    "bool": {"min_value": False},
    "infinities_crossed": {"min_value": float("inf"), "max_value": float("-inf")},
}


@pytest.mark.parametrize("edges", REFUSED_BANDS.values(), ids=REFUSED_BANDS)
def test_a_band_that_means_nothing_is_refused_when_it_is_built(edges: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"band|rows|value"):
        Bounds(**edges)


def test_every_combination_of_edges_is_a_band() -> None:
    for given in itertools.product([None, 1], repeat=4):
        if any(given):
            assert hash(Bounds(*given)) == hash(Bounds(*given))


@pytest.mark.parametrize(("count", "accuracy"), [(0, 0.0), (1, 1.0), (2, 1.0)])
def test_nonempty_asks_for_one_row(count: int, accuracy: float) -> None:
    assert compare_result_sets(column(*range(9)), column(*range(count)), match="nonempty").accuracy == accuracy


# --- the score


def test_a_score_is_frozen_and_hashable() -> None:
    score = compare_result_sets(column(1, 2), column(2, 1), golden_sql=SQL)
    assert score == compare_result_sets(column(1, 2), column(2, 1), golden_sql=SQL)
    assert hash(score) == hash(dataclasses.replace(score))
    with pytest.raises(dataclasses.FrozenInstanceError):
        score.accuracy = 0.0  # type: ignore[misc]


def test_a_result_set_prints_counts_and_no_cell() -> None:
    assert repr(column("canary")) == "ResultSet(1 columns, 1 rows)"
    assert repr(ResultSet(None, None)) == "ResultSet(no columns, no rows)"  # type: ignore[arg-type]


def test_arguments_are_left_as_they_were() -> None:
    golden, generated = ResultSet(["a", "b"], [[2, "x"], [1, "y"]]), ResultSet(["b", "a"], [["y", 1], ["x", 2]])
    for match in MatchLevel:
        compare_result_sets(golden, generated, match=match, bounds=Bounds(max_rows=2))
    assert (golden.columns, golden.rows) == (["a", "b"], [[2, "x"], [1, "y"]])
    assert (generated.columns, generated.rows) == (["b", "a"], [["y", 1], ["x", 2]])
