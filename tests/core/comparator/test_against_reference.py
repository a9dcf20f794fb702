"""The comparator and a plain one that tries everything come to the same accuracy, on thousands of random results."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from comparator_reference import reference_accuracy

from app.core.comparator import ResultSet, compare_result_sets

CASES = 1_000
"""Per seed; five seeds make the five thousand."""

DOMAINS: list[list[Any]] = [[0, 1], [0, 1, 2], list(range(8)), [None, 1, "1", True]]
STATEMENTS = {
    "any": "SELECT * FROM t",
    "placed": "SELECT * FROM t ORDER BY hidden",
    "tied": "SELECT * FROM t ORDER BY 1",
}


def random_case(rng: random.Random) -> dict[str, Any]:
    """A golden result and a generated one that is it, or nearly."""
    height, width, domain = rng.randint(1, 6), rng.randint(1, 4), rng.choice(DOMAINS)
    order = rng.choice(list(STATEMENTS))
    golden = [[rng.choice(domain) for _ in range(width)] for _ in range(height)]
    if width > 1 and rng.random() < 0.3:
        golden = [[row[0], row[0], *row[2:]] for row in golden]
    if order == "tied":
        golden.sort(key=lambda row: repr(row[0]))
    places = rng.sample(range(width), width)
    generated = [[row[place] for place in places] for row in golden]
    if order != "placed" and rng.random() < 0.7:
        rng.shuffle(generated)
    names = [f"c{place}" for place in range(width)]
    other_names = [f"c{place}" if rng.random() < 0.5 else f"x{place}" for place in places]
    for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
        rng.choice(generated)[rng.randrange(width)] = rng.choice(domain)
    if rng.random() < 0.3:
        generated = [[*row, rng.choice([row[0], *domain])] for row in generated]
        other_names.append(rng.choice(["extra", "c0"]))
    if len(other_names) > 1 and rng.random() < 0.1:
        generated, other_names = [row[1:] for row in generated], other_names[1:]
    return {
        "golden": ResultSet(names, golden),
        "generated": ResultSet(other_names, generated),
        "order": order,
        "level": rng.choice(["exact", "values"]),
    }


def groups_of(golden: ResultSet, order: str) -> list[int]:
    match order:
        case "any":
            return [0] * len(golden.rows)
        case "placed":
            return list(range(len(golden.rows)))
    firsts = [(type(row[0]), row[0]) for row in golden.rows]
    starts = [False, *(one != other for one, other in itertools.pairwise(firsts))]
    return [sum(starts[: place + 1]) for place in range(len(starts))]


@pytest.mark.parametrize("seed", range(5))
def test_every_accuracy_is_the_reference_accuracy(seed: int) -> None:
    rng = random.Random(seed)
    passes = 0
    for _ in range(CASES):
        case = random_case(rng)
        golden, generated = case["golden"], case["generated"]
        how = {"match": case["level"], "golden_sql": STATEMENTS[case["order"]]}
        score = compare_result_sets(golden, generated, **how)
        columns = (list(zip(*side.rows, strict=True)) for side in (golden, generated))
        groups = groups_of(golden, case["order"])
        expected = reference_accuracy(*columns, golden.columns, generated.columns, groups, case["level"])
        assert score.accuracy == expected, (golden.rows, generated.rows, golden.columns, generated.columns, how)
        if case["level"] == "exact" and case["order"] != "tied":
            assert compare_result_sets(generated, golden, **how).accuracy == expected
        passes += score.passed
    assert CASES // 10 < passes < CASES * 9 // 10  # neither verdict is rare, or nothing was tried
