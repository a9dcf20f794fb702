"""What grading costs: rows with a 50 x 6 result set over HTTP beside plain rows, the hop to a worker, memory at rest.

    python benchmarks/grading.py [--quick]

All in one run, in turns, on one durable Postgres; the ratios are medians over the turns. The hop is what a grading
of one number takes over HTTP less what it takes in process: framing, two context switches each way, and the digest.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import time
from typing import TYPE_CHECKING, Any

from deployment import Deployment, deployment
from http_load import ask, load, request

from app.grading.grade_text import grade_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psutil

COLUMNS = ["id", "region", "day", "orders", "revenue", "share"]
ROWS = [[n, f"region {n % 7}", f"2026-01-{1 + n % 28:02}", n * 13 % 101, n * 7.25, n / 8] for n in range(50)]
RESULT_SET = {
    "kind": "result_set",
    "golden_sql": f"SELECT {', '.join(COLUMNS)} FROM sales",
    "golden": {"columns": COLUMNS, "rows": ROWS},
    "generated": {"columns": COLUMNS[::-1], "rows": [row[::-1] for row in reversed(ROWS)]},
}
NUMBER = {"kind": "number", "expected": 1, "actual": 1}
ROW = {"lane": "sql-metrics", "risk_tier": "low", "agent_id": "agent-7"}
_NUMBERS = itertools.count()


def rows(at: Deployment, verdict: dict[str, Any]) -> Iterator[bytes]:
    """Requests that record one new decision each."""
    rest = json.dumps({**ROW, **verdict})[1:]
    while True:
        body = f'{{"decision_id": "bench-{next(_NUMBERS)}", {rest}'
        yield request("POST", "/v1/agreements", at.token, body.encode())


def megabytes(process: psutil.Process) -> float:
    """Memory that is a process's own or its share of what is shared, where the system tells."""
    found = process.memory_full_info()
    return getattr(found, "pss", found.rss) / 1e6


def measure_rows(at: Deployment, turns: int, seconds: float) -> None:
    """Prints rates and latencies, one line for each number of clients."""
    print("rows per second: plain, graded from a 50 x 6 result set")
    print("  clients     plain    graded   ratio   p50 plain, graded   p99 plain, graded")
    plain, graded = {"guardrail_verdict": "pass"}, {"evidence": [RESULT_SET]}
    for clients in (1, 2, 8):
        taken = []
        for _ in range(turns):
            runs = [
                load((at.host, at.port), lambda verdict=verdict: rows(at, verdict), clients, seconds)
                for verdict in (plain, graded)
            ]
            latencies = [run.percentile(share) * 1e3 for share in (0.5, 0.99) for run in runs]
            taken.append((runs[0].rate, runs[1].rate, runs[1].rate / runs[0].rate, *latencies))
        one, other, ratio, *latencies = (statistics.median(column) for column in zip(*taken, strict=True))
        shown = "  ".join(f"{a:6.1f}, {b:6.1f} ms" for a, b in (latencies[:2], latencies[2:]))
        print(f"  {clients:7} {one:9.0f} {other:9.0f} {ratio:7.3f}   {shown}")


def measure_hop(at: Deployment, seconds: float) -> None:
    """Prints what the way to a worker and back costs."""
    body = json.dumps({"evidence": [NUMBER]}).encode()
    data = request("POST", "/v1/grade", at.token, body)
    over_http = load((at.host, at.port), lambda: itertools.repeat(data), 1, seconds).percentile(0.5)
    here = []
    for _ in range(500):
        started = time.perf_counter()
        grade_text(body)
        here.append(time.perf_counter() - started)
    health = request("GET", "/healthz", at.token)
    empty = load((at.host, at.port), lambda: itertools.repeat(health), 1, seconds).percentile(0.5)
    local = statistics.median(here)
    print(
        f"one number, median: {over_http * 1e3:.2f} ms over HTTP, {local * 1e3:.2f} ms in process, an empty request"
        f" {empty * 1e3:.2f} ms; the hop costs {(over_http - local - empty) * 1e3:.2f} ms"
    )


def main() -> None:
    """Runs everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one short turn of each")
    turns, seconds = (1, 1.0) if parser.parse_args().quick else (3, 4.0)
    with deployment() as at:
        ask((at.host, at.port), next(rows(at, {"guardrail_verdict": "pass"})))
        print(f"memory at rest: {megabytes(at.service):.0f} MB, no worker started")
        started = time.perf_counter()
        ask((at.host, at.port), next(rows(at, {"evidence": [RESULT_SET]})))
        print(f"the first grading, which starts a worker: {time.perf_counter() - started:.2f} s")
        measure_rows(at, turns, seconds)
        measure_hop(at, seconds)
        workers = at.service.children(recursive=True)
        each = ", ".join(f"{megabytes(worker):.0f}" for worker in workers)
        print(f"memory after it: {megabytes(at.service):.0f} MB, and {each} MB in {len(workers)} workers")


if __name__ == "__main__":
    main()
