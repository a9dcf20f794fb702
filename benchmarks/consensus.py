"""Consensus, measured: five candidates of ordinary size; labelled pairs, against plain sqlglot in the same run.

`python benchmarks/consensus.py` makes its own labelled pairs (random statements and mutants, labelled by running both
in DuckDB); `python benchmarks/consensus.py pairs.jsonl` takes lines of {id, left, right, schema, dialect, equivalent}.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer import optimize

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "core" / "consensus"))

from consensus_statements import Writer, mutant
from consensus_worlds import Databases, a_world, same_rows

from app.core.consensus import compare
from app.core.consensus.schema import read_schema

SCHEMA = """
CREATE TABLE customers (id INT PRIMARY KEY, name TEXT NOT NULL, country TEXT);
CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT NOT NULL REFERENCES customers (id), status TEXT,
  amount NUMERIC(10,2), created_at TIMESTAMP NOT NULL);
CREATE TABLE items (id INT PRIMARY KEY, order_id INT NOT NULL REFERENCES orders (id), quantity INT NOT NULL);
"""
FIVE = (
    "SELECT c.country, COUNT(*) AS n, SUM(o.amount) AS total FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.status = 'paid' AND o.created_at >= '2024-01-01' AND o.created_at < '2025-01-01' GROUP BY c.country HAVING COUNT(*) > 10 ORDER BY total DESC LIMIT 10",
    "WITH paid AS (SELECT * FROM orders WHERE status = 'paid' AND EXTRACT(YEAR FROM created_at) = 2024) SELECT c.country, COUNT(p.id) AS n, SUM(p.amount) AS total FROM paid p, customers c WHERE c.id = p.customer_id GROUP BY 1 HAVING COUNT(p.id) > 10 ORDER BY 3 DESC LIMIT 10",
    "SELECT country, n, total FROM (SELECT c.country, COUNT(*) AS n, SUM(o.amount) AS total FROM customers c INNER JOIN orders o ON o.customer_id = c.id WHERE 'paid' = o.status AND NOT o.created_at < '2024-01-01' AND o.created_at < '2025-01-01' GROUP BY c.country) d WHERE n > 10 ORDER BY total DESC LIMIT 10",
    "SELECT c.country, COUNT(*) AS n, SUM(o.amount) AS total FROM orders o LEFT JOIN customers c ON c.id = o.customer_id WHERE o.status = 'paid' AND o.created_at BETWEEN '2024-01-01' AND '2024-12-31' GROUP BY c.country HAVING COUNT(*) > 10 ORDER BY total DESC LIMIT 10",
    "SELECT c.country, COUNT(DISTINCT o.id) AS n, SUM(o.amount) AS total FROM orders o JOIN customers c ON c.id = o.customer_id JOIN items i ON i.order_id = o.id WHERE o.status = 'paid' AND o.created_at >= '2024-01-01' AND o.created_at < '2025-01-01' GROUP BY c.country HAVING COUNT(*) > 10 ORDER BY total DESC LIMIT 10",
)


def made_pairs(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Random pairs with the label that running them gives."""
    rng = random.Random(seed)
    found: list[dict[str, Any]] = []
    while len(found) < count:
        world = a_world(rng)
        databases, writer = Databases(world, rng.randrange(1 << 30)), Writer(world, rng)
        for _ in range(25):
            left = writer.statement()
            change = mutant(left, rng)
            if change is None:
                continue
            results = databases.results(left), databases.results(change[0])
            if not any(isinstance(r, str) for side in results for r in side):
                label = all(map(same_rows, *results))
                found.append(
                    {"left": left, "right": change[0], "schema": world.schema, "dialect": "duckdb", "equivalent": label}
                )
    return found[:count]


def ours(case: dict[str, Any]) -> bool:
    return compare([case["left"], case["right"]], dialect=case["dialect"], schema=case["schema"]).equivalent


def plain(case: dict[str, Any]) -> bool:
    """Optimise both with sqlglot, and compare the text, less case and the names of outputs."""
    schema = {
        t.name: {c.name: "int" if c.kind == "int" else "text" for c in t.columns}
        for t in read_schema(case["schema"], case["dialect"]).tables.values()
    }
    texts = []
    for sql in (case["left"], case["right"]):
        try:
            parsed = sqlglot.parse_one(sql, dialect=case["dialect"])
            for name in parsed.find_all(exp.Identifier):
                name.replace(exp.to_identifier(name.name.lower()))
            tree = optimize(parsed, schema=schema, dialect=case["dialect"])
            for number, output in enumerate(tree.selects):  # output names are no part of the rows
                output.replace(exp.alias_(output.unalias().copy(), f"o{number}"))
            texts.append(tree.sql())
        except (SqlglotError, ValueError, KeyError, TypeError, AttributeError):
            texts.append(f"{len(texts)}: not optimised")
    return texts[0] == texts[1]


def five_candidates() -> None:
    compare(FIVE, dialect="postgres", schema=SCHEMA)
    times = []
    for _ in range(20):
        started = time.perf_counter()
        compare(FIVE, dialect="postgres", schema=SCHEMA)
        times.append((time.perf_counter() - started) * 1000)
    print(
        f"five candidates: fastest {min(times):.1f} ms, median {statistics.median(times):.1f} ms, slowest {max(times):.1f} ms"
    )


def labelled_pairs(cases: list[dict[str, Any]]) -> None:
    print(f"{len(cases)} labelled pairs, {sum(bool(c['equivalent']) for c in cases)} of them equivalent")
    seconds: dict[str, float] = {}
    for name, judge in (("ours", ours), ("plain sqlglot", plain)):
        counts: Counter[tuple[bool, bool]] = Counter()
        started = time.perf_counter()
        for case in cases:
            counts[bool(case["equivalent"]), judge(case)] += 1
        seconds[name] = time.perf_counter() - started
        rate = len(cases) / seconds[name]
        print(f"{name:>14}: equivalent recognised {counts[True, True]}, missed {counts[True, False]}; different told apart "
              f"{counts[False, False]}, called equivalent {counts[False, True]}; {rate:.0f} pairs a second")  # fmt: skip
    print(f"ours takes {seconds['ours'] / seconds['plain sqlglot']:.1f} times as long as plain sqlglot")


def main() -> None:
    five_candidates()
    if len(sys.argv) > 1:
        labelled_pairs([json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()])
    else:
        labelled_pairs(made_pairs(400))


if __name__ == "__main__":
    main()
