"""A canary in every place of the evidence, one at a time: none is ever seen again, whatever comes of the grading."""

from __future__ import annotations

import copy
import io
import json
import logging
import sys
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
import structlog

from app.grading import worker_pool
from app.platform import telemetry
from app.platform.telemetry import configure_logging
from tests.grading.samples import CONSENSUS, NUMBER, RESULT_SET, STATEMENT, to_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support import LiveService

WORD, DIGITS = "canaryq7x", 90210777000111
CANARIES = (WORD, WORD.upper(), str(DIGITS), "90,210,777", "9.0210777", "Y2FuYXJ5cTd4")  # the last one is base64

RICH_FILES: dict[str, Any] = {
    "run.json": {"status": "failed", "rule": "r", "kind": "column_not_found", "remediation": "m", "detail": "d"},
    "statement-prepare.json": {
        "aggregates": [
            {"aggregate": "SUM(x)", "scope": "s", "status": "multiplied", "joins": ["j1"], "reason": "r", "findings": [{"risk": "fan_out"}]}
        ],
        "findings": [], "unchecked": "u",
    },
    "statement-receipt.json": {
        "tables": {"items": [{"ref": "t", "alias": "a", "qname": "q", "declared": True, "filters": [{"expr": "t.x = 1", "status": "omitted"}]}]},
        "joins": {"items": []},
        "columns": {"items": [{"kind": "output", "column": "c", "status": "unmatched", "name": "n", "source_tables": ["t"]}]},
    },
    "join-probes.json": {
        "joins": [
            {"id": "j1", "endpoints": ["a", "b"], "predicate": "a.id = b.id", "status": "undeclared", "pairs": [["a.id", "b.id"]],
             "probes": {"overlap": [{"from": "a", "into": "b", "sql": "SELECT 1"}], "cardinality": ["a.id"]},
             "dropped_rows_probe": {"sql": "SELECT 1", "left": "a", "right": "b"}}
        ],
        "joins_written": 1, "dropped": 0, "cardinality": {"a.id": {"table": "a", "column": "id"}}, "unique_by_model": ["b.id"], "unreadable": None,
    },
    "filter-values.judge.json": {
        "literals": [{"id": "l", "table": "t", "column": "c", "literal": "v", "op": "=", "tier": "t1", "verdict": "model_gap", "observed": ["v"],
                      "near_miss": "w", "rows_with_value": 3, "note": "n", "declared": ["v"]}],
        "columns": {"t.c": {"table": "t", "column": "c", "declared": "empty", "distinct": "listed", "observed_count": 2, "sensitive": False}},
        "unreadable": None,
    },
    "claims.json": {"claims": [{"name": "predicates", "status": "differs", "generated": "g", "golden": "h"}], "unreadable": {}, "temporal_predicates": {}},
    "question_fit.json": {"fit": "doubtful", "reason": "r"},
}  # fmt: skip
PROBES = {
    "j1.overlap.0.csv": "matched\n5\n",
    "cardinality.a.id.csv": "total,distinct_count,null_count\n9,7,1\n",
    "j1.dropped_rows.csv": "total,dropped\n5,1\n",
}

TYPED = {
    "columns": ["a", "b", "c", "d"],
    "rows": [
        ["x", {"$decimal": "1.5"}, {"$date": "2026-01-02"}, {"k": "v", "l": 2}],
        [7, {"$bytes": "aGk="}, {"$datetime": "2026-01-02T03:04:05"}, [1, "y"]],
    ],
}
SAMPLES: dict[str, dict[str, Any]] = {
    "result_set": {**RESULT_SET, "dialect": "postgres", "golden_sql": "SELECT a, b AS z FROM s.t WHERE c = 'lit' ORDER BY a"},
    "typed cells": {**RESULT_SET, "golden": TYPED, "generated": TYPED},
    "bounded": {**RESULT_SET, "match": "bounded", "bounds": {"min_value": 1, "max_value": 2.5, "min_rows": 0, "max_rows": 9}},
    "number": {**NUMBER, "tolerance": "1%"},
    "consensus": {
        **CONSENSUS, "dialect": "postgres", "schema": {"t": {"a": "int primary key", "b": "text"}},
        "candidates": [{"sql": "SELECT a AS z FROM t WHERE b = 'lit'", "in_data_model": ["t.a"], "not_in_data_model": ["u"]}, "SELECT b FROM t"],
    },
}  # fmt: skip
SQL = (
    "SELECT {} FROM t",
    "SELECT a AS {} FROM t",
    "SELECT a FROM {}",
    "SELECT a FROM t WHERE b = '{}'",
    "SELECT a {} FROM (",
    "DROP TABLE {}",
    "SELECT {}(a) OVER ( FROM t",
    "/* {} */ SELECT 1",
)


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What the service logs, at the most talkative level; puts back what was there."""
    root, before, stream = logging.getLogger(), structlog.get_config(), io.StringIO()
    handlers, level = root.handlers, root.level
    monkeypatch.setattr(sys, "stderr", stream)
    for module in (telemetry, worker_pool):  # the loggers that are there already would keep their first form
        monkeypatch.setattr(module, "log", structlog.get_logger("agreement_log"))
    configure_logging("debug", "json")
    yield stream
    root.handlers, root.level = handlers, level
    structlog.configure(**before)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], bool]]:
    """Every leaf of a tree, and every key of it: (path, whether the key is meant)."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        if isinstance(value, dict):
            yield (*path, key), True
        yield from places(child, (*path, key))
    if not isinstance(value, dict | list):
        yield path, False


def planted(tree: Any, path: tuple[Any, ...], key: bool, canary: Any) -> Any:
    """The tree with the canary at the path, for the leaf or for the key that leads there."""
    tree = copy.deepcopy(tree)
    *way, last = path
    parent = tree
    for step in way:
        parent = parent[step]
    if key:
        parent[canary] = parent.pop(last)
    else:
        parent[last] = canary
    return tree


def everywhere(sample: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path, key in places(sample):
        if path != ("kind",) or key:
            yield planted(sample, path, key, WORD)
        if not key:
            yield planted(sample, path, key, DIGITS)


def of_statements() -> Iterator[dict[str, Any]]:
    texts = {name: json.dumps(content) for name, content in RICH_FILES.items()} | PROBES
    for name, content in RICH_FILES.items():
        ok = texts | {"run.json": json.dumps({"status": "ok"})} if name != "run.json" else texts
        for path, key in places(content):
            for canary in (WORD,) if key else (WORD, DIGITS, [WORD]):
                changed = json.dumps(planted(content, path, key, canary))
                yield {**STATEMENT, "with_claims": True, "files": {**ok, name: changed}}
    for name, text in PROBES.items():
        yield {**STATEMENT, "files": {**texts, name: f"{WORD},{DIGITS}\n{DIGITS},{WORD}\n"}}
        yield {**STATEMENT, "files": {**texts, f"{WORD}.csv": text, WORD: WORD, f"cardinality.{WORD}.x.csv": text}}
        yield {**STATEMENT, "files": {**texts, name: [WORD]}}
    yield {**STATEMENT, "files": {**texts, WORD: {WORD: DIGITS}}}


def of_sql() -> Iterator[dict[str, Any]]:
    for text in SQL:
        sql = text.format(WORD)
        yield {**RESULT_SET, "golden_sql": sql}
        yield {**CONSENSUS, "candidates": [sql, f"SELECT b, {DIGITS} FROM u", "SELECT 1"]}
        yield {**CONSENSUS, "schema": sql}
    yield {**CONSENSUS, "schema": f"CREATE TABLE {WORD} (a int, {WORD} text DEFAULT '{WORD}')"}


def evidences() -> dict[str, list[dict[str, Any]]]:
    found = {title: list(everywhere(sample)) for title, sample in SAMPLES.items()}
    return found | {"statement": list(of_statements()), "sql": list(of_sql())}


BROKEN = (
    '{{"evidence": [{{"kind": "{0}"}}]}}', '{{"evidence": [{{"kind": "number", "{0}": 1}}]}}', '{{"evidence": ["{0}"]}}',
    '{{"evidence": {{"{0}": {1}}}}}', '{{"evidence": "{0}"}}', '{{"evidence": [{{"kind": "number", "expected": {{"${0}": 1}}}}]}}',
    '{{"evidence": [{{"{0}": 1, "{0}": 2}}]}}', '{{"evidence": [{{"kind": "number", "expected": {{"$date": "{0}"}}, "actual": 1}}]}}',
    '{{"evidence": [{0}]}}', '{{"evidence": [NaN, "{0}"]}}', '{{"evidence": ["{0}]}}', '{{"evidence": ["{0}\\ud800"]}}',
    '{{"evidence": [{{"kind": "number", "expected": {1}e999999999999999999, "actual": 1}}]}}',
)  # fmt: skip


@pytest.mark.parametrize("title", evidences())
def test_a_canary_in_any_place_of_the_evidence_is_never_seen_again(
    live: LiveService, logged: io.StringIO, title: str
) -> None:
    seen: list[str] = []
    statuses = set()
    for evidence in evidences()[title]:
        body = to_record(evidence, lane="leaks")
        answer = live.as_("review-bot").post("/v1/agreements", json=body)
        again = live.as_("review-bot").post("/v1/agreements", json={**body, "evidence": [evidence, NUMBER]})
        seen += [answer.text, str(answer.headers), again.text]
        statuses |= {answer.status_code, again.status_code}
        assert answer.status_code in (201, 422), answer.text
    for text in BROKEN:
        for path in ("/v1/agreements", "/v1/grade"):
            content = text.format(WORD, DIGITS)
            answer = live.as_("review-bot").post(path, content=content, headers={"Content-Type": "application/json"})
            assert answer.status_code in (400, 422), answer.text
            seen += [answer.text]
    seen += [
        live.as_(None).get("/metrics").text,
        live.as_("dashboard").get("/v1/agreements?lane=leaks&limit=1000").text,
    ]
    with psycopg.connect(live.settings.service_url().replace("postgresql+psycopg", "postgresql")) as connection:
        seen += [str(row) for row in connection.execute("SELECT a::text FROM agreements a").fetchall()]
    assert '"route": "/v1/agreements"' in logged.getvalue(), "the log was not read"
    for text in (*seen, logged.getvalue()):
        for canary in CANARIES:
            assert canary not in text, text[max(0, text.find(canary) - 200) : text.find(canary) + 50]
    assert statuses >= {409, 201}, statuses


def test_a_canary_in_a_round_is_answered_to_its_sender_and_never_logged(live: LiveService, logged: io.StringIO) -> None:
    body = {"candidates": [f"SELECT a FROM t WHERE b = '{WORD}'", "SELECT a FROM t"], "refinements": [WORD], "round": 2}
    answer = live.as_("review-bot").post("/v1/consensus/rounds", json=body)
    assert answer.json()["refinements"] == [WORD]
    for fault in (
        {**body, "schema": WORD},
        {**body, WORD: 1},
        {**body, "candidates": [{WORD: 1}]},
        {**body, "needed": WORD},
    ):
        answer = live.as_("review-bot").post("/v1/consensus/rounds", json=fault)
        assert answer.status_code == 422
        assert WORD not in answer.text
    assert '"route": "/v1/consensus/rounds"' in logged.getvalue()
    assert WORD not in logged.getvalue() + live.as_(None).get("/metrics").text
