"""The `exact` and `values` levels: columns paired by their values, and rows counted on all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from app.core.comparator.coding import code_columns
from app.core.comparator.form import column_names, columns_of
from app.core.comparator.match_level import MatchLevel
from app.core.comparator.names import folded_name
from app.core.comparator.pairing import Pairing, pair_columns
from app.core.comparator.rows import Aligned, Codes, RowClasses, row_classes
from app.core.comparator.sides import Side

if TYPE_CHECKING:
    from app.core.comparator.case import Case
    from app.core.comparator.item_score import ItemScore

_TIES = "rows that tie on the ORDER BY keys were compared in any order"
_STOPPED = "the search for the best pairing of columns stopped at its bound: the accuracy is a lower bound"
_CROSSED = "columns are paired with columns that bear each other's names"


def score_cells(case: Case) -> ItemScore:
    """The score of two results of equal height, with at least one row and one column between them."""
    golden, generated = _sides(case)
    rows, tied = _rows_that_may_match(case, golden.codes)
    pairing = pair_columns(golden, generated, rows, extra_allowed=case.level is MatchLevel.VALUES)
    told = {
        _TIES: tied,
        _STOPPED: pairing.stopped,
        _CROSSED: _is_crossed(pairing, golden, generated),
    }
    score = _verdict(case, pairing)
    golden_names, generated_names = column_names(case.golden), column_names(case.generated)
    return replace(
        score,
        unmatched_golden_columns=_left(golden_names, {i for i, _ in pairing.pairs}),
        column_pairs=tuple((golden_names[i], generated_names[j]) for i, j in pairing.pairs),
        unmatched_generated_columns=_left(generated_names, {j for _, j in pairing.pairs}),
        column_agreement=pairing.agreement,
        notes=(*score.notes, *(note for note, holds in told.items() if holds)),
    )


def _sides(case: Case) -> tuple[Side, Side]:
    width = len(case.golden.columns)
    codes = code_columns(
        [*columns_of(case.golden), *columns_of(case.generated)],
        round_tail=case.level is MatchLevel.VALUES,
    )
    golden, generated = (tuple(map(folded_name, column_names(side))) for side in (case.golden, case.generated))
    return Side(golden, tuple(codes[:width])), Side(generated, tuple(codes[width:]))


def _rows_that_may_match(case: Case, golden: tuple[Codes, ...]) -> tuple[RowClasses, bool]:
    """Which rows may answer each other, whatever their cells; and whether some golden rows tie."""
    places = np.arange(len(case.golden.rows))
    if not case.ordering.sensitive:
        alike = np.zeros_like(places)
        return row_classes(alike, alike), False
    keys = [golden[column] for column in case.ordering.tie_columns]
    if not keys:
        return Aligned(places, places), False
    # Runs of golden rows with equal keys, by position: the generated rows at the same places answer them.
    starts = np.ones(len(places), dtype=bool)
    starts[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    runs = np.cumsum(starts) - 1
    return row_classes(runs, runs), not starts.all()


def _verdict(case: Case, pairing: Pairing) -> ItemScore:
    height = len(case.golden.rows)
    missing = len(case.golden.columns) - len(pairing.pairs)
    extra = len(case.generated.columns) - len(pairing.pairs)
    if missing:
        return case.scored(0.0, f"{missing} of {len(case.golden.columns)} golden columns have no generated column")
    if extra and case.level is MatchLevel.EXACT:
        return case.scored(0.0, f"{extra} of {len(case.generated.columns)} generated columns answer no golden column")
    return case.scored(pairing.matched / height, f"{pairing.matched} of {height} golden rows matched")


def _left(names: tuple[str, ...], taken: set[int]) -> tuple[str, ...]:
    return tuple(name for index, name in enumerate(names) if index not in taken)


def _is_crossed(pairing: Pairing, golden: Side, generated: Side) -> bool:
    """Whether some columns have swapped names: the values say `wins` is `losses`, and the names say it is not."""
    pairs = {(golden.names[i], generated.names[j]) for i, j in pairing.pairs}
    borne, answered = {other for _, other in pairs}, {one for one, _ in pairs}
    return any(one != other and one in borne and other in answered for one, other in pairs)
