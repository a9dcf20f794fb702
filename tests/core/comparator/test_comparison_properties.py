"""What must hold of every comparison, whatever the data."""

from __future__ import annotations

import decimal
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from app.core.comparator import ItemScore, MatchLevel, ResultSet, compare_result_sets
from app.core.comparator.cells import cell_key

if TYPE_CHECKING:
    import random

CELLS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.integers()
    | st.floats()
    | st.decimals()
    | st.sampled_from(["a", "b", "", "SE", "2026-01-02", "007"])
    | st.text(max_size=4)
    | st.dates()
    | st.datetimes(timezones=st.sampled_from([None, UTC]))
    | st.timedeltas()
    | st.uuids()
    | st.binary(max_size=2)
    | st.lists(st.integers(0, 1), max_size=2)
)
LEVELS = st.sampled_from([MatchLevel.EXACT, MatchLevel.VALUES])


@st.composite
def results(draw: st.DrawFn, *, min_rows: int = 1) -> ResultSet:
    width = draw(st.integers(1, 5))
    rows = draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=min_rows, max_size=8))
    return ResultSet([f"c{i}" for i in range(width)], rows)


def unordered(golden: ResultSet, generated: ResultSet, match: Any = "exact") -> ItemScore:
    return compare_result_sets(golden, generated, match=match, golden_sql="SELECT * FROM t")


def rearranged(result: ResultSet, rng: random.Random) -> ResultSet:
    order = rng.sample(range(len(result.columns)), len(result.columns))
    rows = [[row[place] for place in order] for row in result.rows]
    rng.shuffle(rows)
    return ResultSet([f"other{i}" for i in range(len(order))], rows)


def respelled(cell: Any) -> Any:
    """The same cell as another driver would hand it over."""
    match cell:
        case bool() | None:
            return cell
        case int():
            return Decimal(cell)
        case float():
            return Decimal(repr(cell))
        case datetime():
            return cell.isoformat(sep=" ")
        case list():
            return tuple(map(respelled, cell))
    return cell


@settings(deadline=None)
@given(results(), st.randoms(use_true_random=False), LEVELS)
def test_shuffling_renaming_and_permuting_never_change_an_equal_verdict(
    golden: ResultSet, rng: random.Random, match: MatchLevel
) -> None:
    assert unordered(golden, rearranged(golden, rng), match).passed


@settings(deadline=None)
@given(results(), st.randoms(use_true_random=False), LEVELS)
def test_another_drivers_spelling_never_changes_an_equal_verdict(
    golden: ResultSet, rng: random.Random, match: MatchLevel
) -> None:
    generated = rearranged(ResultSet(golden.columns, [list(map(respelled, row)) for row in golden.rows]), rng)
    assert unordered(golden, generated, match).passed


@settings(deadline=None)
@given(results(), st.randoms(use_true_random=False), CELLS)
def test_changing_one_cell_never_leaves_a_pass(golden: ResultSet, rng: random.Random, cell: Any) -> None:
    rows = [list(row) for row in golden.rows]
    row, column = rng.randrange(len(rows)), rng.randrange(len(golden.columns))
    assume(cell_key(rows[row][column]) != cell_key(cell))
    # Boolean spellings are not drawn, so that a changed key is a changed cell.
    rows[row][column] = cell
    changed = ResultSet(golden.columns, rows)
    assert not compare_result_sets(golden, changed, golden_sql="SELECT * FROM t ORDER BY hidden").passed
    # Without an order too: a bag of cells that differs in one cell is another bag.
    assert not unordered(golden, changed).passed


@settings(deadline=None)
@given(results(min_rows=2), st.randoms(use_true_random=False), LEVELS)
def test_duplicating_one_row_and_dropping_another_never_leaves_a_pass(
    golden: ResultSet, rng: random.Random, match: MatchLevel
) -> None:
    kept, dropped = rng.sample(range(len(golden.rows)), 2)
    keys = [[cell_key(cell, round_tail=True) for cell in golden.rows[index]] for index in (kept, dropped)]
    assume(keys[0] != keys[1])
    rows = [row for index, row in enumerate(golden.rows) if index != dropped]
    assert not unordered(golden, ResultSet(golden.columns, [*rows, golden.rows[kept]]), match).passed


@settings(deadline=None)
@given(results(), results(), st.sampled_from([MatchLevel.EXACT, MatchLevel.SHAPE]))
def test_exact_and_shape_are_symmetric(golden: ResultSet, generated: ResultSet, match: MatchLevel) -> None:
    one, other = unordered(golden, generated, match), unordered(generated, golden, match)
    assert (one.status, one.accuracy) == (other.status, other.accuracy)


@settings(deadline=None)
@given(results(), results())
def test_what_passes_a_stricter_level_passes_a_looser_one(golden: ResultSet, generated: ResultSet) -> None:
    for other in (generated, ResultSet(golden.columns, list(golden.rows))):
        if unordered(golden, other).passed:
            assert unordered(golden, other, "values").passed
            assert unordered(golden, other, "nonempty").passed
        if compare_result_sets(golden, other).passed:  # in place
            assert unordered(golden, other).passed


@settings(deadline=None)
@given(results(), results())
def test_the_counts_of_a_score_add_up(golden: ResultSet, generated: ResultSet) -> None:
    score = unordered(golden, generated, "values")
    assert (score.golden_row_count, score.generated_row_count) == (len(golden.rows), len(generated.rows))
    if len(golden.rows) == len(generated.rows):
        assert len(score.column_pairs) + len(score.unmatched_golden_columns) == len(golden.columns)
        assert len(score.column_pairs) + len(score.unmatched_generated_columns) == len(generated.columns)
        assert len(score.column_agreement) == len(score.column_pairs)
        assert all(0.0 <= share <= 1.0 for share in score.column_agreement)
        if score.passed:
            assert set(score.column_agreement) == {1.0}
        if score.unmatched_golden_columns:
            assert score.accuracy == 0.0


@settings(deadline=None)
@given(results(), results(), LEVELS)
def test_the_ambient_decimal_context_changes_nothing(
    golden: ResultSet, generated: ResultSet, match: MatchLevel
) -> None:
    expected = unordered(golden, generated, match)
    with decimal.localcontext(decimal.Context(prec=1, Emax=0, Emin=0, traps=list(decimal.getcontext().flags))):
        assert unordered(golden, generated, match) == expected
