"""Rows as the checks leave them behind: each a mapping of file name to content, clean until told otherwise."""

from __future__ import annotations

import json

EXPECTED_FILES = {
    "statement-prepare.json": "fan_out:*",
    "statement-receipt.json": "receipt:*",
    "join-probes.json": "join:*",
    "filter-values.judge.json": "literal:*",
}


def aggregate(text="SUM(o.total)", status="not_multiplied", joins=(), risks=(), reason=None):
    findings = [{"risk": risk, "reason": "x", "aggregate": text} for risk in risks]
    return {"aggregate": text, "scope": "main", "status": status, "joins": list(joins), "reason": reason,
            "findings": findings}  # fmt: skip


def join(left="orders", right="customers", status="declared", **changes):
    """`left.<right>_id = right.id`, with the right side the one side of what the model declares."""
    return {
        "id": "join-1",
        "endpoints": [left, right],
        "predicate": f"{left}.{right}_id = {right}.id",
        "status": status,
        "pairs": [[[left, f"{right}_id"], [right, "id"]]],
        "declared_pairs": [],
        "declared_cardinality": [{"relationship": "many_to_one", "from": left, "to": right, "one_side": [right],
                                  "matched": status == "declared"}],
        "too_big_to_probe": False,
        "not_probed_because": None,
        "probes": {"overlap": [], "cardinality": []},
        "dropped_rows_probe": None,
        **changes,
    }  # fmt: skip


def undeclared(left="orders", right="customers", probes=2, **changes):
    """An undeclared join with its overlap probes and both its columns planned."""
    columns = sorted([f"{left}.{right}_id", f"{right}.id"])
    overlap = [{"from": columns[0], "into": columns[1], "sql": "…"}] * probes
    plan = {"overlap": overlap, "cardinality": columns if probes else []}
    return join(left, right, "undeclared", probes=plan, declared_cardinality=[], **changes)


def table(ref="orders", filters=(), alias=None):
    return {"ref": ref, "alias": alias or ref, "qname": f"public.{ref}", "declared": True,
            "filters": [{"expr": expr, "status": status} for expr, status in filters]}  # fmt: skip


def output(column="total", status="matched", **changes):
    return {"kind": "output", "column": column, "status": status, "name": "revenue", "source_tables": None, **changes}


def literal(value="Paid", verdict="confirmed", **changes):
    return {"id": "lit-1", "table": "orders", "column": "status", "literal": value, "op": "=", "tier": "distinct",
            "verdict": verdict, "observed": None, "near_miss": None, "rows_with_value": 3, "note": "n",
            "declared": "populated", **changes}  # fmt: skip


def column(declared="absent", distinct="listed", observed_count=8, *, sensitive=False):
    return {"table": "orders", "column": "status", "declared": declared, "distinct": distinct,
            "observed_count": observed_count, "sensitive": sensitive}  # fmt: skip


def row(*, aggregates=(), tables=(), outputs=(), joins=(), literals=(), columns=(), unique=(), files=()):
    """The files of one clean run. `files` adds or replaces: what is no text is written as JSON, None removes it."""
    found = {
        "run.json": {"status": "ok", "rule": None, "kind": None, "remediation": None, "detail": None},
        "statement-prepare.json": {"aggregates": list(aggregates), "findings": [], "unchecked": None},
        "statement-receipt.json": {"tables": {"items": list(tables)}, "joins": {"items": []},
                                   "columns": {"items": list(outputs)}},
        "join-probes.json": {"joins": list(joins), "joins_written": len(joins), "dropped": 0, "cardinality": {},
                             "unique_by_model": dict.fromkeys(unique, True), "unreadable": None},
        "filter-values.judge.json": {"literals": list(literals), "columns": dict(columns), "unreadable": None},
        **dict(files),
    }  # fmt: skip
    return {
        name: content if isinstance(content, (str, bytes)) else json.dumps(content)
        for name, content in found.items()
        if content is not None
    }
