"""How fast the log takes rows, against the same Postgres without the service in between.

    python benchmarks/log_writes.py [--quick]

Single POSTs, each answered after its commit, at 1, 8 and 32 clients, against pgbench with the same INSERT: same
table, constraints and triggers, same login, same commit setting, its fastest protocol (prepared statements). Then
batches of 1,000 rows against psycopg's COPY of the same rows, 1,000 a transaction. Everything runs in turns on one
server, and the ratios are medians over the turns.

`--flush-ms 1` makes every flush of the write-ahead log wait that much longer (Postgres' own `commit_delay`), which
is what a disk that is not this machine's memory does.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import tempfile
import time
import uuid
from typing import TYPE_CHECKING, Any

import psycopg
from deployment import Deployment, cpu_seconds, deployment
from http_load import ask, load, request

if TYPE_CHECKING:
    from collections.abc import Iterator

BATCH = 1000
CHECKS = {"checks": [{"name": "lint", "passed": True}, {"name": "row count", "passed": True}], "proposal": "pr://7"}
ROW = {
    "pr_id": "7",
    "lane": "dependency-bumps",
    "risk_tier": "low",
    "agent_id": "agent-7",
    "guardrail_verdict": "pass",
    "guardrail_confidence": 0.93,
    "guardrail_checks": CHECKS,
}
# What the service sends for such a row, with the id that it makes, and the whole row returned.
INSERT = f"""\
INSERT INTO agreements (id, decision_id, {", ".join(ROW)}, recorded_by)
VALUES (uuidv7(), 'pgbench-' || gen_random_uuid(), '7', 'dependency-bumps', 'low', 'agent-7', 'pass', 0.93,
        '{json.dumps(CHECKS)}', 'bench')
ON CONFLICT DO NOTHING RETURNING *;
""".replace("\n", " ")


def a_row() -> dict[str, Any]:
    """A new decision."""
    return {"decision_id": f"decision-{uuid.uuid4()}", **ROW}


def singles(at: Deployment) -> Iterator[bytes]:
    """Requests with one row each."""
    head, tail = json.dumps(a_row()).split("decision-", 1)[0], json.dumps(ROW)[1:]
    for number in itertools.count():
        body = f'{head}decision-{os.getpid()}-{time.time_ns()}-{number}", {tail}'
        yield request("POST", "/v1/agreements", at.token, body.encode())


def batch(at: Deployment) -> bytes:
    """A request with a thousand rows."""
    body = json.dumps({"rows": [a_row() for _ in range(BATCH)]}).encode()
    return request("POST", "/v1/agreements/batch", at.token, body)


def pgbench(at: Deployment, clients: int, seconds: float) -> float:
    """Transactions per second."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(INSERT)
        script.flush()
        command = [at.binaries / "pgbench", "--no-vacuum", "--protocol=prepared", f"--file={script.name}"]
        command += [f"--client={clients}", f"--jobs={min(clients, 2)}", f"--time={max(1, round(seconds))}"]
        ran = subprocess.run([*command, at.writer_url], capture_output=True, text=True, check=True)
    [tps] = [line for line in ran.stdout.splitlines() if line.startswith("tps")]
    return float(tps.split()[2])


def copy(at: Deployment, rows: list[dict[str, Any]], transactions: int) -> float:
    """Rows per second with COPY, `rows` a transaction."""
    columns = (*rows[0], "id", "recorded_by")
    statement = f"COPY agreements ({', '.join(columns)}) FROM STDIN"
    with psycopg.connect(at.writer_url) as connection:
        started = time.perf_counter()
        for _ in range(transactions):
            with connection.cursor().copy(statement) as writer:
                for row in rows:
                    values = {**row, "guardrail_checks": json.dumps(CHECKS), "id": uuid.uuid4(), "recorded_by": "bench"}
                    values["decision_id"] = f"copied-{values['id']}"
                    writer.write_row([values[name] for name in columns])
            connection.commit()
        return len(rows) * transactions / (time.perf_counter() - started)


def measure_singles(at: Deployment, turns: int, seconds: float) -> None:
    """Prints one line for each number of clients."""
    print("single POSTs, committed, per second")
    print("  clients   service   pgbench   ratio      p50      p99   processor us per request: service, Postgres")
    for clients in (1, 8, 32):
        taken = []
        for _ in range(turns):
            bench = pgbench(at, clients, seconds)
            before = cpu_seconds(at.service), cpu_seconds(at.postgres)
            run = load((at.host, at.port), lambda: singles(at), clients, seconds)
            used = [
                1e6 * (now - then) / run.requests
                for now, then in zip((cpu_seconds(at.service), cpu_seconds(at.postgres)), before, strict=True)
            ]
            taken.append(
                (
                    run.rate,
                    bench,
                    run.rate / bench,
                    run.percentile(0.5),
                    run.percentile(0.99),
                    *used,
                    run.client_cpu / run.seconds,
                )
            )
        rate, bench, ratio, p50, p99, service, postgres, client = (
            statistics.median(x) for x in zip(*taken, strict=True)
        )
        print(
            f"  {clients:7} {rate:9.0f} {bench:9.0f} {ratio:7.3f} {p50 * 1e3:5.1f} ms {p99 * 1e3:5.1f} ms"
            f"   {service:.0f}, {postgres:.0f}; the client took {client:.0%} of one core"
        )


def measure_batches(at: Deployment, turns: int, batches: int) -> None:
    """Prints one line."""
    taken = []
    for _ in range(turns):
        copied = copy(at, [a_row() for _ in range(BATCH)], batches)
        requests = [batch(at) for _ in range(batches)]
        before = cpu_seconds(at.service), cpu_seconds(at.postgres)
        started = time.perf_counter()
        for data in requests:
            ask((at.host, at.port), data)
        rate = BATCH * batches / (time.perf_counter() - started)
        used = [
            1e6 * (now - then) / BATCH / batches
            for now, then in zip((cpu_seconds(at.service), cpu_seconds(at.postgres)), before, strict=True)
        ]
        taken.append((rate, copied, rate / copied, *used))
    rate, copied, ratio, service, postgres = (statistics.median(x) for x in zip(*taken, strict=True))
    print(f"batches of {BATCH} rows, rows per second")
    print(f"  service {rate:.0f}   COPY {copied:.0f}   ratio {ratio:.3f}")
    print(f"  processor us per row: service {service:.0f}, Postgres {postgres:.0f}")


def main() -> None:
    """Runs all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="shorter runs")
    parser.add_argument("--flush-ms", type=float, default=0, help="let each flush wait this much longer")
    options = parser.parse_args()
    delay = {"commit_delay": str(round(options.flush_ms * 1000)), "commit_siblings": "0"} if options.flush_ms else {}
    turns, seconds, batches = (3, 2.0, 5) if options.quick else (5, 5.0, 20)
    with deployment(**delay) as at:
        load((at.host, at.port), lambda: singles(at), 32, 1)  # connections, prepared statements, caches
        print(
            "on one server, fsync and synchronous_commit on"
            + f", each flush {options.flush_ms:g} ms longer" * bool(delay)
        )
        measure_singles(at, turns, seconds)
        measure_batches(at, turns, batches)


if __name__ == "__main__":
    main()
