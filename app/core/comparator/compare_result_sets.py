"""The comparator's one door: does a generated result give the same answer as the golden one?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.core.comparator.bands import within_bounds
from app.core.comparator.bounds import Bounds
from app.core.comparator.by_cells import score_cells
from app.core.comparator.case import Case
from app.core.comparator.form import column_names, columns_of, malformed
from app.core.comparator.item_score import ItemScore
from app.core.comparator.match_level import MatchLevel
from app.core.comparator.ordering import Ordering, read_ordering
from app.core.comparator.shape import coarse_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.core.comparator.result_set import ResultSet


def compare_result_sets(  # noqa: PLR0913  (the design's one door: all but the two results are optional)
    golden: ResultSet,
    generated: ResultSet,
    *,
    match: MatchLevel | str = MatchLevel.EXACT,
    golden_sql: str | None = None,
    bounds: Bounds | None = None,
    dialect: str | None = None,
) -> ItemScore:
    """Score the `generated` result against the `golden` one. Executes nothing, opens nothing, and never raises.

    Arguments: `golden`, the answer key (`bounded` and `nonempty` have none and do not look at it); `match`, how
    strictly, a `MatchLevel` or its name; `golden_sql`, the statement behind the golden result, from which alone it is
    read whether the order of rows counts: assumed so when it is None or cannot be read; `dialect`, its sqlglot
    dialect; `bounds`, the band of the `bounded` level. The rules are in docs/comparator.md.

    >>> from app.core.comparator import ResultSet, compare_result_sets
    >>> golden = ResultSet(["id", "price"], [(1, 2.50), (2, 4)])
    >>> generated = ResultSet(["p", "i"], [(4, 2), (2.5, 1)])
    >>> score = compare_result_sets(golden, generated, golden_sql="SELECT id, price FROM t")
    >>> score.accuracy, score.column_pairs, score.order_sensitive
    (1.0, (('id', 'i'), ('price', 'p')), False)
    """
    try:
        ordering = read_ordering(golden_sql, column_names(golden), dialect)
        return _score(golden, generated, match, bounds, ordering)
    # The one outermost guard: a cell may be any object, and its own methods may raise anything. The message is left
    # out, for it may quote the cell.
    except Exception as failure:  # noqa: BLE001
        return ItemScore("error", None, f"the comparison failed ({type(failure).__name__})")


def _score(golden: Any, generated: Any, match: Any, bounds: Any, ordering: Ordering) -> ItemScore:
    unjudged = ItemScore("error", None, "", order_sensitive=ordering.sensitive)
    try:
        level = MatchLevel(match)
    except ValueError:
        return replace(unjudged, reason="the match level is unknown")
    case = Case(golden, generated, level, bounds, ordering)
    for name, side in (("golden", golden), ("generated", generated)) if case.has_key else (("generated", generated),):
        fault = malformed(side)
        if fault is not None:
            return replace(unjudged, reason=f"the {name} result is malformed: {fault}")
    try:
        return _judge(case)
    except Exception as failure:  # noqa: BLE001  (as above, with what is known so far)
        return case.error(f"the comparison failed ({type(failure).__name__})")


def _judge(case: Case) -> ItemScore:
    steps: tuple[Callable[[Case], ItemScore | None], ...]
    match case.level:
        case MatchLevel.EXACT | MatchLevel.VALUES:
            steps = (_of_emptiness, _of_row_count, score_cells)
        case MatchLevel.SHAPE:
            steps = (_of_emptiness, _of_row_count, _of_shape)
        case MatchLevel.BOUNDED:
            steps = (_of_bounds,)
        case MatchLevel.NONEMPTY:
            steps = (_of_presence,)
    return next(score for step in steps if (score := step(case)) is not None)


def _of_emptiness(case: Case) -> ItemScore | None:
    if not case.golden.rows and not case.generated.rows:
        return case.unscored("both results are empty")
    if case.golden.columns or case.level is MatchLevel.SHAPE:
        return None
    if case.level is MatchLevel.EXACT and case.generated.columns:
        return case.scored(0.0, "the golden result has no columns, and the generated one has")
    return case.unscored("the golden result has no columns")


def _of_row_count(case: Case) -> ItemScore | None:
    golden, generated = len(case.golden.rows), len(case.generated.rows)
    if golden == generated:
        return None
    return case.scored(0.0, f"the row counts differ: {golden} golden, {generated} generated")


def _of_shape(case: Case) -> ItemScore:
    golden, generated = len(case.golden.columns), len(case.generated.columns)
    if golden != generated:
        return case.scored(0.0, f"the column counts differ: {golden} golden, {generated} generated")
    types = zip(map(coarse_type, columns_of(case.golden)), map(coarse_type, columns_of(case.generated)), strict=True)
    differing = sum(one != other for one, other in types if one is not None and other is not None)
    if differing:
        return case.scored(0.0, f"{differing} of {golden} columns differ in type")
    return case.scored(1.0, f"{len(case.golden.rows)} rows and {golden} columns of the same types")


def _of_bounds(case: Case) -> ItemScore:
    if not isinstance(case.bounds, Bounds):
        return case.error("the bounded level needs bounds")
    verdict = within_bounds(case.generated, case.bounds)
    if verdict.within is None:
        return case.error(verdict.reason)
    return case.scored(float(verdict.within), verdict.reason)


def _of_presence(case: Case) -> ItemScore:
    count = len(case.generated.rows)
    return case.scored(float(count > 0), f"{count} generated rows")
