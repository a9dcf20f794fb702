"""Evidence that passes, one of each kind, and what makes each of them fail."""

from __future__ import annotations

import json
from typing import Any

from tests.support import a_record

COLUMNS = {"columns": ["id", "price"], "rows": [[1, 2.5], [2, 4]]}

RESULT_SET: dict[str, Any] = {
    "kind": "result_set",
    "golden": COLUMNS,
    "generated": {"columns": ["p", "i"], "rows": [[4, 2], [2.50, 1]]},
    "golden_sql": "SELECT id, price FROM t",
    "match": "exact",
}
NUMBER: dict[str, Any] = {"kind": "number", "expected": "$4.2M", "actual": 4_200_000}
CONSENSUS: dict[str, Any] = {
    "kind": "consensus",
    "candidates": ["SELECT a FROM t WHERE b <> 1", {"sql": "SELECT t.a FROM t WHERE b != 1", "in_data_model": ["t.a"]}],
}


def _files(**changes: Any) -> dict[str, str]:
    files = {
        "run.json": {"status": "ok"},
        "statement-prepare.json": {"aggregates": [], "findings": [], "unchecked": None},
        "statement-receipt.json": {"tables": {"items": []}, "joins": {"items": []}, "columns": {"items": []}},
        "join-probes.json": {"joins": [], "joins_written": 0, "dropped": 0, "cardinality": {}, "unique_by_model": []},
        "filter-values.judge.json": {"literals": [], "columns": {}},
    }
    return {name: json.dumps(content) for name, content in {**files, **changes}.items()}


STATEMENT: dict[str, Any] = {"kind": "statement", "files": _files()}

PASSING = {"result_set": RESULT_SET, "number": NUMBER, "statement": STATEMENT, "consensus": CONSENSUS}

REFUSED_RUN = {"status": "refused", "rule": "select_star"}


def to_record(*evidence: Any, **changes: Any) -> dict[str, Any]:
    """A body for POST /v1/agreements with evidence, of a decision of its own."""
    body = a_record(**changes)
    del body["guardrail_verdict"]
    return {**body, "evidence": list(evidence)}


def with_file(name: str, content: Any) -> dict[str, Any]:
    """The statement that passes, with another content of one file."""
    return {**STATEMENT, "files": {**STATEMENT["files"], name: json.dumps(content)}}
