"""Every rewrite by a pair that needs it, run on data; and a near miss, which no rewrite may reach."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from consensus_worlds import Databases, Table, World, same_rows

from app.core.consensus import compare, normalise
from app.core.consensus.rules import conditions, scalar

_FILE = Path(__file__).with_name("rules.yaml")
CASES: list[dict[str, Any]] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
IDS = [f"{c['rule']}-{i}" for i, c in enumerate(CASES)]
WORLD = World((
    Table("r", ("id", "a", "b"), ("s",), ("id",), frozenset({"a", "s"}), "b"),
    Table("s", ("id", "r_id", "c"), ("t",), ("id",), frozenset({"r_id"}), None, ("r_id", "r")),
    Table("u", ("x", "y"), ("z",), (), frozenset()),
    Table("e", ("id", "n"), (), ("id",), frozenset(), others=(("d", "DATE"), ("ts", "TIMESTAMP"), ("ok", "BOOLEAN"))),
))  # fmt: skip


@pytest.fixture(scope="module")
def databases() -> list[Databases]:
    rng = random.Random(3)
    return [Databases(WORLD, rng.randrange(1 << 30)) for _ in range(8)]


def called_equivalent(left: str, right: str) -> bool:
    found = compare([left, right], dialect="duckdb", schema=WORLD.schema, seconds=10)
    assert all(r.status == "read" for r in found.readings), [r.reason for r in found.readings]
    return found.equivalent


def agree(databases: list[Databases], left: str, right: str) -> bool:
    for one in databases:
        results = one.results(left), one.results(right)
        assert not any(isinstance(r, str) for side in results for r in side), (left, right, results)
        if not all(map(same_rows, *results)):
            return False
    return True


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_rule_finds_its_pair_and_rows_agree(case: dict[str, Any], databases: list[Databases]) -> None:
    assert called_equivalent(case["left"], case["right"])
    if not case.get("invalid_right"):  # valid in dialects that know what a key determines, not in the one it is run on
        assert agree(databases, case["left"], case["right"])


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_near_miss_differs_on_data_and_is_told_apart(case: dict[str, Any], databases: list[Databases]) -> None:
    assert not agree(databases, case["left"], case["near"])
    assert not called_equivalent(case["left"], case["near"])


@pytest.mark.parametrize("case", [c for c in CASES if not c.get("covered")], ids=lambda c: c["rule"])
def test_pair_is_lost_without_its_rule(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def less(rules: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(r for r in rules if r.__name__ != case["rule"])

    monkeypatch.setattr(normalise.normalise, "__defaults__", (None, less(normalise.BLOCK_RULES)))
    monkeypatch.setattr("app.core.consensus.canonical.SPELLING_RULES", less(normalise.SPELLING_RULES))
    monkeypatch.setattr(scalar, "VALUE_RULES", less(scalar.VALUE_RULES))
    monkeypatch.setattr(scalar, "CONDITION_RULES", less(conditions.CONDITION_RULES))
    if case["rule"] == "tidy_terms":
        monkeypatch.setattr("app.core.consensus.finish.tidy_terms", lambda block, *_: block)
    assert not compare([case["left"], case["right"]], dialect="duckdb", schema=WORLD.schema, seconds=10).equivalent


def test_every_rule_has_a_case() -> None:
    rules = {r.__name__ for r in (*normalise.BLOCK_RULES, *scalar.VALUE_RULES, *conditions.CONDITION_RULES)}
    assert rules == {c["rule"] for c in CASES}
