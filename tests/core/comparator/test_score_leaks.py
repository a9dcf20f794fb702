"""Nothing in a score is a cell or the SQL."""

from __future__ import annotations

import dataclasses
import string
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.comparator import Bounds, ItemScore, MatchLevel, ResultSet, compare_result_sets

if TYPE_CHECKING:
    from collections.abc import Iterator

# Words that no sentence of ours holds: a capital Xi in each.
WORDS = st.text("Ξξ" + string.digits, min_size=4, max_size=10).map(lambda word: f"Ξ{word}")
NUMBERS = st.integers(10**6, 10**20) | st.decimals(10**6, 10**9, places=3)
CELLS = (
    WORDS | NUMBERS | st.lists(WORDS, max_size=2) | st.dictionaries(WORDS, WORDS, max_size=2) | st.binary(min_size=4)
)
NAMES = st.text(string.ascii_lowercase, max_size=3)


class LoudError(Exception):
    """Raised by cells below, quoting themselves."""


class Loud:
    def __init__(self, word: str) -> None:
        self.word = word

    def __str__(self) -> str:
        raise LoudError(self.word)

    __repr__ = __str__


def strings_of(score: ItemScore) -> Iterator[str]:
    def inside(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple):
            for part in value:
                yield from inside(part)

    for field in dataclasses.fields(score):
        yield from inside(getattr(score, field.name))


@st.composite
def leaky_cases(draw: st.DrawFn) -> dict[str, Any]:
    height = draw(st.integers(0, 4))
    sides = []
    for _ in range(2):
        width = draw(st.integers(0, 3))
        ragged = draw(st.integers(0, 9)) == 0
        cells = CELLS | WORDS.map(Loud) if draw(st.integers(0, 4)) == 0 else CELLS
        rows = [draw(st.lists(cells, min_size=width, max_size=width + ragged)) for _ in range(height)]
        sides.append(ResultSet([draw(NAMES) for _ in range(width)], rows))
    word = draw(WORDS)
    sql = draw(
        st.sampled_from(
            [
                f"SELECT a FROM t WHERE b = '{word}' ORDER BY a",
                f"SELECT {word} FROM {word} ORDER BY {word}",
                f"EXPLAIN SELECT {word}",
                f"{word} ((",
                f"SELECT '{word}",
                f"SELECT 1; SELECT {word}",
            ]
        )
    )
    return {"golden": sides[0], "generated": sides[1], "golden_sql": sql, "dialect": draw(st.none() | WORDS)}


def words_of(value: Any) -> Iterator[str]:
    match value:
        case Loud():
            yield value.word
        case bytes():
            yield repr(value)
        case ResultSet():
            for row in value.rows:
                yield from words_of(row)
        case list() | tuple():
            for part in value:
                yield from words_of(part)
        case dict():
            yield from words_of([*value.keys(), *value.values()])
        case _:
            yield str(value)


@settings(deadline=None, max_examples=300)
@given(leaky_cases(), st.sampled_from([*MatchLevel, "Ξnone"]), st.integers(10**6, 10**9))
def test_no_string_of_a_score_holds_a_cell_or_the_sql(case: dict[str, Any], match: str, edge: int) -> None:
    score = compare_result_sets(**case, match=match, bounds=Bounds(min_value=edge, max_value=edge + 1))
    told = "\n".join(strings_of(score))
    for secret in (*words_of(case["golden"]), *words_of(case["generated"]), *case["golden_sql"].split()):
        if len(secret) >= 4 and secret not in ("SELECT", "EXPLAIN", "ORDER", "WHERE", "FROM"):
            assert secret not in told
    assert "Ξ" not in told
    assert str(edge) not in told
