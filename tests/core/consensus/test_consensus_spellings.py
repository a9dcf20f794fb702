"""Spellings of one thing are equivalent, in several surroundings, and have the same rows."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from consensus_worlds import Databases
from test_consensus_rules import WORLD, agree, called_equivalent

CASES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("spellings.yaml").read_text(encoding="utf-8"))
SURROUNDINGS: dict[str, tuple[str, ...]] = {
    "condition": (
        "SELECT id FROM r WHERE {}",
        "SELECT a, COUNT(*) AS n, MAX(b) AS m FROM r WHERE ({}) AND id > 0 GROUP BY a HAVING COUNT(*) > 1",
        "SELECT x FROM u WHERE EXISTS (SELECT 1 FROM r WHERE r.s = u.z AND ({}))",
        "SELECT u.x, d.id FROM u LEFT JOIN (SELECT * FROM r WHERE {}) AS d ON d.id = u.y",
        "SELECT COUNT(*) FILTER (WHERE {}) AS n FROM r",
    ),
    "source": (
        "SELECT rid, a, c FROM {}",
        "SELECT a, SUM(c) AS n FROM {} WHERE rid > 1 GROUP BY a",
        "SELECT DISTINCT c FROM {} WHERE a > (SELECT MIN(x) FROM u)",
    ),
    "query": (
        "{}",
        "SELECT COUNT(*) AS n FROM ({}) AS z",
        "SELECT z.* FROM ({}) AS z, u",
    ),
}  # fmt: skip
PAIRS = [
    pytest.param(place.format(one), place.format(other), id=f"{case['title']}-{at}-{number}")
    for case in CASES
    for at, place in enumerate(SURROUNDINGS[case["kind"]])
    for number, (one, other) in enumerate(
        itertools.pairwise([*case["ways"], case["ways"][0]][: max(2, len(case["ways"]))])
    )
]


@pytest.fixture(scope="module")
def databases() -> list[Databases]:
    rng = random.Random(5)
    return [Databases(WORLD, rng.randrange(1 << 30)) for _ in range(3)]


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_spellings_are_equivalent_and_have_the_same_rows(left: str, right: str, databases: list[Databases]) -> None:
    assert called_equivalent(left, right)
    assert agree(databases, left, right)
