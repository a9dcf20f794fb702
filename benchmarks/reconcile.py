"""How fast reconcile reads and grades: `python benchmarks/reconcile.py`.

Prints rates, the share of a run that goes into reading files, and how the time grows with the rows: 1.0 is linear.
Everything is measured in one process, on made-up data, in a directory that is removed again.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.reconcile import RowDirectory, RunRow, findings, intake, ledger, run_directory

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBERS = 100_000
STATEMENTS = 2_000
RUN_ROWS = 1_000


def seconds(work: Callable[[], object]) -> float:
    """The best of three: the others measure what else the machine was doing."""
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best


def numbers(rows: int) -> bytes:
    lines = (f'Metric {n},"${n:,}.50",Region {n % 7}\n' for n in range(rows))
    return ("Label,Value,Region\n" + "".join(lines)).encode()


def statements(rows: int) -> bytes:
    sql = (
        "SELECT sum(o.total) FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.year = {n} AND c.name = ';'"
    )
    return ("label,value,sql\n" + "".join(f'Metric {n},{n},"{sql.format(n=n)}"\n' for n in range(rows))).encode()


def row_files(number: int) -> dict[str, str]:
    """A row of a kind: a declared join, an undeclared one with its probes, two totals, a filter, a metric, a value."""
    joins = [
        {
            "id": "join-1", "endpoints": ["orders", "customers"], "status": "declared",
            "pairs": [[["orders", "customer_id"], ["customers", "id"]]],
            "declared_cardinality": [{"one_side": ["customers"], "matched": True}],
        },
        {
            "id": "join-2", "endpoints": ["orders", f"t{number % 50}"], "status": "undeclared",
            "pairs": [[["orders", "t_id"], [f"t{number % 50}", "id"]]],
            "probes": {"overlap": [{}, {}], "cardinality": [f"t{number % 50}.id", "orders.t_id"]},
        },
    ]  # fmt: skip
    totals = [
        {"aggregate": "SUM(o.total)", "status": "not_multiplied", "joins": ["orders → customers"], "findings": []},
        {
            "aggregate": "COUNT(*)",
            "status": "undetermined",
            "joins": [],
            "findings": [],
            "reason": "it names no column",
        },
    ]
    filters = [{"expr": "o.deleted_at IS NULL", "status": "omitted"}]
    receipt = {
        "tables": {"items": [{"ref": "orders", "alias": "o", "qname": "public.orders", "filters": filters}]},
        "joins": {"items": []},
        "columns": {"items": [{"kind": "output", "column": "total", "status": "matched", "name": "revenue"}]},
    }
    literal = {"table": "orders", "column": "status", "literal": "paid", "verdict": "confirmed", "note": "n"}
    loose = {
        "run.json": {"status": "ok"},
        "statement-prepare.json": {"aggregates": totals, "findings": [], "unchecked": None},
        "statement-receipt.json": receipt,
        "join-probes.json": {
            "joins": joins,
            "joins_written": 2,
            "dropped": 0,
            "unique_by_model": {},
            "unreadable": None,
        },
        "filter-values.judge.json": {"literals": [literal], "columns": {}, "unreadable": None},
    }
    counts = "total,distinct_count,null_count\n"
    return {name: json.dumps(content) for name, content in loose.items()} | {
        "join-2.overlap.0.csv": "matched\n50\n",
        "join-2.overlap.1.csv": "matched\n0\n",
        f"cardinality.t{number % 50}.id.csv": counts + "1000,1000,0\n",
        "cardinality.orders.t_id.csv": counts + "4000,900,10\n",
    }


def write_run(directory: Path, rows: int) -> Path:
    for number in range(1, rows + 1):
        row = directory / "rows" / str(number)
        row.mkdir(parents=True)
        for name, content in row_files(number).items():
            (row / name).write_text(content)
    records = ({"row": n, "question": f"q{n}", "statement": "SELECT 1", "match": False} for n in range(1, rows + 1))
    (directory / "rows.jsonl").write_text("\n".join(map(json.dumps, records)))
    return directory


def main() -> None:
    many, few, trusted = numbers(NUMBERS), numbers(NUMBERS // 10), statements(STATEMENTS)
    whole = seconds(lambda: intake([("t.csv", many)]))
    tenth = seconds(lambda: intake([("t.csv", few)]))
    print(
        f"intake, labels and numbers: {NUMBERS / whole:,.0f} rows a second; {NUMBERS:,} rows against a tenth of them,"
    )
    print(f"    per row: {whole / tenth / 10:.2f}")
    parsed = seconds(lambda: intake([("t.csv", trusted)]))
    print(f"intake, each with a statement to parse: {STATEMENTS / parsed:,.0f} rows a second")

    with tempfile.TemporaryDirectory() as temporary:
        run = write_run(Path(temporary) / "whole", RUN_ROWS)
        part = write_run(Path(temporary) / "part", RUN_ROWS // 10)
        whole = seconds(lambda: findings(run_directory(run)))
        tenth = seconds(lambda: findings(run_directory(part)))
        loaded = {n: dict(RowDirectory(run / "rows" / str(n))) for n in range(1, RUN_ROWS + 1)}
        graded = seconds(lambda: findings([RunRow(n, {"match": False}, ledger(files)) for n, files in loaded.items()]))
    print(f"a run of {RUN_ROWS:,} rows, graded and folded: {RUN_ROWS / whole:,.0f} rows a second;")
    print(f"    share spent on files: {1 - graded / whole:.0%};")
    print(f"    against a tenth of the rows, per row: {whole / tenth / 10:.2f}")


if __name__ == "__main__":
    main()
