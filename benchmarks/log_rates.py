"""What the lanes call costs over its bare SQL, as the table grows.

    python benchmarks/log_rates.py [--quick]

At each size: GET /v1/lanes over HTTP against the same two statements through psycopg, over all rows; and over a
window of 30 days that holds the same rows at every size, because the older ones are added before it. Everything
runs in turns on one server, and the figures are medians over the turns.
"""

from __future__ import annotations

import argparse
import statistics
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
from deployment import Deployment, deployment
from http_load import ask, request
from sqlalchemy.dialects import postgresql

from app.lanes import rates

if TYPE_CHECKING:
    from collections.abc import Sequence

WINDOW_DAYS = 30
RECENT_ROWS = 60_000

# Every column gets what a real log has: six lanes and three tiers, deterministic lanes without confidence, rows that
# await their review, waives, rejects, outcomes.
FILL = """
    INSERT INTO agreements (id, decision_id, pr_id, lane, risk_tier, agent_id, guardrail_verdict, guardrail_confidence,
        guardrail_checks, created_at, recorded_by, human_verdict, agreement, human_reason, reviewed_by, reviewed_at,
        post_merge_outcome, outcome_by, outcome_at)
    SELECT gen_random_uuid(), 'decision-' || i, i::text, 'lane-' || i %% 6,
        (ARRAY['low', 'medium', 'high'])[1 + i %% 3],
        'agent-' || i %% 9, CASE WHEN i %% 10 < 8 THEN 'pass' ELSE 'fail' END,
        CASE WHEN i %% 6 < 4 THEN round((0.5 + random() / 2)::numeric, 4) END,
        '{"checks": [{"name": "lint", "passed": true}], "proposal": "pr://7"}', at, 'bench', v,
        CASE WHEN v IS NOT NULL THEN
            (CASE WHEN i %% 10 < 8 THEN ARRAY['true_pass', 'true_pass', 'true_pass', 'false_pass']
                  ELSE ARRAY['true_fail', 'true_fail', 'false_fail', 'false_fail'] END
            )[1 + i / 7 %% 4]::agreement_kind END,
        CASE WHEN v = 'waive' THEN 'known and accepted' END, CASE WHEN v IS NOT NULL THEN 'ada' END,
        CASE WHEN v IS NOT NULL THEN at END, o, CASE WHEN o IS NOT NULL THEN 'verifier' END,
        CASE WHEN o IS NOT NULL THEN at END
    FROM generate_series(%(first)s::int, %(last)s::int) i,
        LATERAL (SELECT %(until)s::timestamptz - random() * %(span)s::interval AS at,
            CASE i / 11 %% 10 WHEN 0 THEN NULL WHEN 1 THEN 'waive' WHEN 2 THEN 'reject' ELSE 'merge' END
                ::human_verdict_kind AS v) a,
        LATERAL (SELECT CASE WHEN v IN ('merge', 'waive') AND i %% 4 = 0 THEN
            (ARRAY['held', 'held', 'regressed'])[1 + i %% 3] END AS o) b
"""
# One decision in fifty is corrected once.
REVISE = """
    INSERT INTO agreements SELECT (json_populate_record(a, json_build_object(
        'id', gen_random_uuid(), 'revision', 2, 'supersedes', a.id, 'revised_at', now(),
        'revision_reason', 'looked again', 'recorded_by', 'ada', 'human_review_latency', 1))).*
    FROM agreements a WHERE substr(decision_id, 10)::int BETWEEN %(first)s AND %(last)s AND revision = 1
        AND substr(decision_id, 10)::int %% 50 = 0
"""


def fill(at: Deployment, first: int, last: int, until: datetime, span: timedelta) -> None:
    """Adds decisions `first` to `last`, within `span` before `until`, and lets the table settle."""
    values = {"first": first, "last": last, "until": until, "span": span}
    with psycopg.connect(at.owner_url) as connection:
        connection.execute("SET LOCAL agreement_log.import = 'on'")
        connection.execute(FILL, values)
        connection.execute(REVISE, values)
    with psycopg.connect(at.owner_url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE agreements")


def statements(window: rates.Window) -> tuple[str, ...]:
    """The text of the statements of the lanes call."""
    return tuple(
        str(query.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True}))
        for query in rates.statements(rates.conditions(window))
    )


def plan_of(connection: psycopg.Connection[Any], statement: str) -> str:
    """Which scans the plan has, and how many rows it had to look up in the table."""
    lines = [line for (line,) in connection.execute("EXPLAIN (ANALYZE, COSTS off, TIMING off) " + statement)]
    scans = [line.split("->")[-1].split(" (")[0].strip() for line in lines if "Scan" in line]
    fetches = sum(int(line.split(":")[1]) for line in lines if "Heap Fetches" in line)
    return f"{'; '.join(scans)}; heap fetches {fetches}"


def compare(at: Deployment, window: rates.Window, turns: int) -> tuple[float, float, float, int]:
    """Seconds of the call, seconds of the SQL, the median of their ratios, and the rows read."""
    query = f"since={window.since:%Y-%m-%dT%H:%M:%SZ}&until={window.until:%Y-%m-%dT%H:%M:%SZ}"
    call = request("GET", f"/v1/lanes?{query}", at.token)
    taken: list[tuple[float, float, float]] = []
    with psycopg.connect(at.writer_url, autocommit=True) as connection:
        texts = statements(window)
        for turn in range(turns + 1):
            started = time.perf_counter()
            for text in texts:
                connection.execute(text).fetchall()
            between = time.perf_counter()
            answer = ask((at.host, at.port), call)
            ended = time.perf_counter()
            if turn:  # the first one only warms the caches
                taken.append((ended - between, between - started, (ended - between) / (between - started)))
    rows = int(answer.split(b'"rows_read":', 1)[1].split(b",", 1)[0])
    called, bare, ratio = (statistics.median(column) for column in zip(*taken, strict=True))
    return called, bare, ratio, rows


def measure(at: Deployment, sizes: Sequence[int], turns: int) -> None:
    """Grows the table from size to size and prints a line for each window."""
    now = datetime.now(UTC).replace(microsecond=0)
    recent = rates.Window(now - timedelta(days=WINDOW_DAYS), now)
    everything = rates.Window(now - timedelta(days=3000), now)
    fill(at, 1, RECENT_ROWS, now, timedelta(days=WINDOW_DAYS))
    there = RECENT_ROWS
    in_window: dict[int, float] = {}
    print("  decisions  window       rows read      call       SQL   ratio")
    for size in sizes:
        fill(at, there + 1, size, recent.since - timedelta(seconds=1), timedelta(days=900))
        there = size
        for name, window in (("all", everything), (f"{WINDOW_DAYS} days", recent)):
            called, bare, ratio, rows = compare(at, window, turns)
            print(
                f"  {size:9}  {name:8} {rows:13} {called * 1e3:6.0f} ms {bare * 1e3:6.0f} ms  {ratio:6.3f}", flush=True
            )
        in_window[size] = called
    with psycopg.connect(at.writer_url, autocommit=True) as connection:
        for text in statements(recent):
            print(f"  plan at {there}: {plan_of(connection, text)}")
    base = sizes[1]
    print(f"{WINDOW_DAYS}-day window at {there} against {base} decisions: {in_window[there] / in_window[base]:.2f}")


def main() -> None:
    """Runs all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    options = parser.parse_args()
    sizes = (80_000, 100_000, 300_000) if options.quick else (100_000, 300_000, 1_000_000, 3_000_000)
    with deployment() as at:
        measure(at, sizes, 3 if options.quick else 5)


if __name__ == "__main__":
    main()
