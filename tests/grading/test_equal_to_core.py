"""What the API says of generated evidence is what the core says when it is called directly."""

from __future__ import annotations

import random
from collections import Counter
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from app.core.comparator import Bounds, ResultSet, compare_result_sets
from app.core.consensus import round_of
from app.core.reconcile import diff, ledger
from app.core.tagged_json import read_tagged_json, write_tagged_json
from tests.grading.samples import REFUSED_RUN, STATEMENT, with_file

if TYPE_CHECKING:
    from tests.support import LiveService

EACH = 150
CELLS: list[Any] = [
    None, True, 0, 1, -7, 10**20, Decimal("2.50"), Decimal("0.1"), float("nan"), float("inf"), "x", "", "007", "yes", "NO",
    date(2026, 1, 2), datetime(2026, 1, 2, 3, 4, tzinfo=timezone(timedelta(hours=5))), b"\x00", [1, 2], {"a": 1, "b": None},
]  # fmt: skip
STATEMENTS = [
    "SELECT a FROM t", "SELECT t.a FROM t", "SELECT a FROM t WHERE b = 1 OR b = 2", "SELECT a FROM t WHERE b IN (2, 1)",
    "SELECT DISTINCT a FROM t", "SELECT count(*) FROM t", "SELECT count(id) FROM t", "DROP TABLE t", "SELECT (", "",
]  # fmt: skip
FILES: dict[str, Any] = {
    "run.json": [{"status": "ok"}, REFUSED_RUN, {"status": "failed", "kind": "syntax"}, {"status": "refused", "rule": "table_scope"}],
    "statement-prepare.json": [
        {"error": "x"}, {"aggregates": [{"aggregate": "SUM(x)", "status": "multiplied", "findings": [{"risk": "fan_out"}]}]}
    ],
    "statement-receipt.json": [
        {"tables": {"items": [{"ref": "t", "filters": [{"expr": "t.x", "status": "omitted"}]}]}, "joins": {"items": []}, "columns": {"items": []}}
    ],
    "filter-values.judge.json": [{"literals": [{"id": "l1", "table": "t", "column": "c", "literal": "v", "verdict": "confirmed"}], "columns": {}}],
}  # fmt: skip


def a_result_set(rng: random.Random) -> dict[str, Any]:
    width, height = rng.randint(0, 4), rng.randint(0, 6)
    golden = [[rng.choice(CELLS) for _ in range(width)] for _ in range(height)]
    order = rng.sample(range(width), width)
    rows = [[row[place] for place in order] for row in golden]
    if rng.random() < 0.5:
        rng.shuffle(rows)
    for _ in range(rng.choice([0, 0, 1, 3])):
        if width and height:
            rows[rng.randrange(height)][rng.randrange(width)] = rng.choice(CELLS)
    if rng.random() < 0.1:
        rows.append([1] * rng.randint(0, 4))
    names = [f"c{place}" for place in range(width)]
    evidence: dict[str, Any] = {
        "kind": "result_set",
        "golden": {"columns": names, "rows": golden},
        "generated": {"columns": [names[place] for place in order], "rows": rows},
        "match": rng.choice(["exact", "exact", "values", "shape", "bounded", "nonempty"]),
    }
    if rng.random() < 0.7:
        evidence["golden_sql"] = rng.choice(["SELECT * FROM t", "SELECT * FROM t ORDER BY c0", "nonsense ("])
    if rng.random() < 0.3:
        evidence["bounds"] = {"min_rows": rng.randint(0, 3), "max_rows": rng.randint(3, 6)}
    return evidence


def a_number(rng: random.Random) -> dict[str, Any]:
    texts = ["$4.2M", "4,200,000", "4.2 million", "n/a", "(5)", "42%", "", 4_200_000, Decimal("0.42"), -5, None, 10**30]
    evidence = {"kind": "number", "expected": rng.choice(texts), "actual": rng.choice(texts)}
    return evidence | ({"tolerance": rng.choice(["1%", Decimal("0.5"), 0, "wide"])} if rng.random() < 0.4 else {})


def a_statement(rng: random.Random) -> dict[str, Any]:
    evidence = with_file("run.json", {"status": "ok"})
    for name in rng.sample(sorted(FILES), rng.randint(0, 3)):
        evidence["files"] = {**evidence["files"], **with_file(name, rng.choice(FILES[name]))["files"]} if rng.random() < 0.3 else {
            **evidence["files"], name: write_tagged_json(rng.choice(FILES[name]))
        }  # fmt: skip
    if rng.random() < 0.3:
        evidence["files"].pop(rng.choice(sorted(STATEMENT["files"])))
    return evidence | {"with_claims": rng.random() < 0.3}


def a_consensus(rng: random.Random) -> dict[str, Any]:
    evidence: dict[str, Any] = {
        "kind": "consensus",
        "candidates": rng.choices(STATEMENTS[:4] * 4 + STATEMENTS, k=rng.randint(2, 5)),
    }
    if rng.random() < 0.5:
        evidence["schema"] = rng.choice(
            [
                "CREATE TABLE t (id int primary key, a int, b int)",
                {"t": {"id": "int primary key", "a": "int", "b": "int"}},
            ]
        )
    return evidence


def by_the_core(evidence: dict[str, Any]) -> tuple[str, float | None, str]:
    """Verdict, score and status by the rules of the issue, from the core's own functions."""
    match evidence["kind"]:
        case "result_set":
            sides = [ResultSet(evidence[side]["columns"], evidence[side]["rows"]) for side in ("golden", "generated")]
            bounds = Bounds(**evidence["bounds"]) if "bounds" in evidence else None
            score = compare_result_sets(
                *sides, match=evidence["match"], golden_sql=evidence.get("golden_sql"), bounds=bounds
            )
            return "pass" if score.accuracy == 1 else "fail", score.accuracy, score.status
        case "number":
            tolerance = {"tolerance": evidence["tolerance"]} if "tolerance" in evidence else {}
            try:
                found = diff(evidence["expected"], evidence["actual"], **tolerance)
            except ValueError:
                return "fail", None, "error"
            return "pass" if found.match else "fail", float(found.match), "scored"
        case "statement":
            graded = ledger(evidence["files"], with_claims=evidence["with_claims"])
            grades = Counter(part.verdict for part in graded.parts if part.verdict != "noted")
            return "pass" if graded.verdict == "confirmed" else "fail", grades["confirmed"] / grades.total(), "scored"
        case "consensus":
            decision = round_of(evidence["candidates"], schema=evidence.get("schema"))
            largest = max(map(len, decision.classes), default=0)
            return (
                "pass" if decision.outcome == "consensus" else "fail",
                largest / len(evidence["candidates"]),
                "scored",
            )
    raise AssertionError(evidence["kind"])


def test_six_hundred_generated_evidences_are_graded_as_the_core_grades_them(live: LiveService) -> None:
    rng = random.Random(6)
    evidences = [make(rng) for make in (a_result_set, a_number, a_statement, a_consensus) for _ in range(EACH)]
    rng.shuffle(evidences)
    seen: Counter[tuple[str, str, str]] = Counter()
    for start in range(0, len(evidences), 100):
        some = evidences[start : start + 100]
        text = write_tagged_json({"evidence": some})
        answer = live.as_("review-bot").post("/v1/grade", content=text, headers={"Content-Type": "application/json"})
        assert answer.status_code == 200, answer.text
        checks = answer.json()["guardrail_checks"]["checks"]
        read = read_tagged_json(text)["evidence"]
        for check, evidence in zip(checks, read, strict=True):
            assert (check["verdict"], check["score"], check["status"]) == by_the_core(evidence), evidence
            seen[check["kind"], check["verdict"], check["status"]] += 1
    assert seen.total() == 4 * EACH
    # The cases reach both verdicts of each kind, and what cannot be judged.
    for kind in ("result_set", "number", "statement", "consensus"):
        assert seen[kind, "pass", "scored"] > 10, seen
        assert seen[kind, "fail", "scored"] > 10, seen
    assert seen["result_set", "fail", "unscored"] > 0
    assert seen["result_set", "fail", "error"] > 0
