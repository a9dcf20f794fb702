"""Reading columns in bulk finds exactly the equalities that keys find."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.comparator.cells import BOOLEAN_WORDS, boolean_key, cell_key
from app.core.comparator.coding import code_columns

# Small pools, so that equal values meet; edges of every bulk form, so that its limits do.
INTEGERS = st.sampled_from(
    [0, 1, -1, 7, 2**31, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**30]
)
FLOATS = st.sampled_from(
    [
        0.0,
        -0.0,
        1.0,
        7.0,
        0.1,
        0.3,
        0.1 + 0.2,
        2.0000000000000004,
        1e22,
        1e23,
        float(2**53),
        float(2**63),
        1e300,
        5e-324,
        1e-300,
        0.1234567885,
        0.1234567875,
        999999999.5,
        99999999.95,
        123456789.25,
        float("nan"),
        float("inf"),
        float("-inf"),
    ]
) | st.floats(width=32)
DECIMALS = st.sampled_from(
    [
        "0",
        "-0.00",
        "1.0",
        "7",
        "0.1",
        "0.30",
        "0.30000000000000004",
        "0.1234567885",
        "9007199254740993",
        "1E+23",
        "1E-400",
        "123456789012345.6",
        "0.123456789012345",
        "9223372036854775808",
        "NaN",
        "Infinity",
        "1E+1000000",
        "12.50",
        "5E-324",
    ]
).map(Decimal)
TEXTS = st.sampled_from(
    [
        "",
        "t",
        "F",
        "no",
        "NO",
        "SE",
        "007",
        "7",
        "2026-01-02",
        "2026-01-02 00:00:00",
        "2026-01-02T03:00:00.5+01:00",
        "2026-02-30",
        "2026-01-02T00:00:00.000000001",
        "6F9619FF-8B86-D011-B42D-00CF4FC964FF",
        "\ud800",
        "a\x00b",
        "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
        "6f9619ff-8b86-d011-b42d-00cf4fc964fg",
        "NULL",
    ]
)
DATES = st.sampled_from([date(2026, 1, 2), date(1, 1, 1), date(9999, 12, 31)])
BERLIN = ZoneInfo("Europe/Berlin")
MOMENTS = st.sampled_from(
    [
        datetime(2026, 1, 2),
        datetime(2026, 1, 2, 2, 0, 0, 500000),
        datetime(2026, 1, 2, 1, tzinfo=timezone(timedelta(hours=1))),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
        datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=timezone(timedelta(hours=-12))),
        datetime(2026, 1, 2, 1, tzinfo=timezone(timedelta(hours=1, microseconds=1))),
        datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN),
        datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1),
        datetime(2026, 10, 25, 1, 30, tzinfo=UTC),
    ]
)
BOOLS = st.booleans()
OTHERS = st.sampled_from(
    [b"ab", [1, 0.1], {"a": Decimal("1.0")}, timedelta(1), np.int64(7), np.float64("nan"), (1, 0.1)]
)
KINDS = [INTEGERS, FLOATS, DECIMALS, TEXTS, DATES, MOMENTS, BOOLS, OTHERS]


def columns_of_one_kind(height: int) -> st.SearchStrategy[list[Any]]:
    kinds = [st.lists(kind | st.none(), min_size=height, max_size=height) for kind in KINDS]
    kinds += [st.lists(kind, min_size=height, max_size=height) for kind in KINDS]
    return st.one_of(*kinds, st.lists(st.one_of(*KINDS), min_size=height, max_size=height))


def keys_of(column: list[Any], *, round_tail: bool) -> list[Any]:
    cells = [cell for cell in column if cell is not None]
    if cells and all(isinstance(cell, str) and cell.lower() in BOOLEAN_WORDS for cell in cells):
        return [cell_key(None) if cell is None else boolean_key(cell) for cell in column]
    return [cell_key(cell, round_tail=round_tail) for cell in column]


@settings(deadline=None, max_examples=400)
@given(st.lists(columns_of_one_kind(6), min_size=1, max_size=5), st.booleans(), st.sampled_from([0, 10**9]))
def test_codes_are_equal_exactly_when_keys_are(columns: list[list[Any]], round_tail: bool, bulk_from: int) -> None:
    codes = np.concatenate(code_columns(columns, round_tail=round_tail, bulk_from=bulk_from)).tolist()
    keys = [key for column in columns for key in keys_of(column, round_tail=round_tail)]
    numbers: dict[Any, int] = {}
    expected = [numbers.setdefault(key, len(numbers)) for key in keys]
    seen: dict[int, int] = {}
    assert [seen.setdefault(code, len(seen)) for code in codes] == expected


@settings(deadline=None)
@given(st.lists(st.floats(), min_size=1, max_size=50), st.lists(st.decimals(places=6), min_size=1, max_size=50))
def test_tails_are_rounded_in_bulk_as_they_are_one_by_one(floats: list[float], decimals: list[Decimal]) -> None:
    bulk = code_columns([floats, decimals], round_tail=True, bulk_from=0)
    keyed = code_columns([floats, decimals], round_tail=True, bulk_from=10**9)
    # The same partition of all cells, whatever the numbers that stand for its classes.
    both = set(zip(np.concatenate(bulk).tolist(), np.concatenate(keyed).tolist(), strict=True))
    assert len(both) == len({code for code, _ in both}) == len({code for _, code in both})


@pytest.mark.parametrize("tail", [5e-10, 4.9999999e-10, 5.0000001e-10, 1.5e-9, 9.9999999e-1])
def test_a_tie_is_rounded_to_even_in_bulk_as_well(tail: float) -> None:
    numbers = [whole + tail for whole in (0.1, 0.12345678, 0.99999999, 0.5)] + [tail, -tail]
    column = numbers + [Decimal(repr(number)) for number in numbers]
    bulk, keyed = (code_columns([numbers, column[len(numbers) :]], round_tail=True, bulk_from=n) for n in (0, 10**9))
    assert (bulk[0] == bulk[1]).all()
    assert (keyed[0] == keyed[1]).all()


def test_a_column_is_boolean_by_its_own_cells_however_many() -> None:
    words = ["t", "F", "Yes", "no", None] * 1000
    truths = [True, False, True, False, None] * 1000
    one, other = code_columns([words, truths], round_tail=False)
    assert (one == other).all()
    countries, truths_and_text = code_columns([[*words, "SE"], [*truths, "SE"]], round_tail=False)
    assert (countries == truths_and_text).sum() == len(words) // 5 + 1  # the NULLs and the last
