"""Soundness by execution: statements called equivalent are run on databases, and their rows compared.

`python tests/core/consensus/consensus_soundness.py 20000 7` runs 20,000 pairs from seed 7.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, field

from consensus_statements import DIALECT, Writer, mutant
from consensus_worlds import Databases, a_world, same_rows

from app.core.consensus.canonical import canonical
from app.core.consensus.schema import read_schema

PER_WORLD = 100


@dataclass
class Report:
    pairs: int = 0
    called: int = 0
    checked: int = 0
    keeping: int = 0
    recognised: int = 0
    """Of the mutants that keep the meaning, those called equivalent."""
    alike: int = 0
    alike_called: int = 0
    """Of a sample of all pairs, those with the same rows on every database, and those of them called equivalent."""
    wrong: list[tuple[str, str, str]] = field(default_factory=list)
    faults: list[tuple[str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        share = self.recognised / self.keeping if self.keeping else 0
        return (
            f"{self.pairs} pairs, {self.called} called equivalent, {self.checked} run; {len(self.wrong)} wrong; equivalent mutants "
            f"recognised: {self.recognised} of {self.keeping} ({share:.0%}); with the same rows on every database: {self.alike}, "
            f"{self.alike_called} of them called equivalent"
        )


def run(seed: int, pairs: int, report: Report | None = None) -> Report:
    """Makes `pairs` pairs from `seed`, and runs each two statements of a world that are called equivalent."""
    report = report or Report()
    rng = random.Random(seed)
    while report.pairs < pairs:
        _one_world(rng, min(PER_WORLD, pairs - report.pairs), report)
    return report


def _one_world(
    rng: random.Random, count: int, report: Report
) -> None:  # one world from start to end  # one world from start to end
    world = a_world(rng)
    databases = Databases(world, rng.randrange(1 << 30))
    schema = read_schema(world.schema, DIALECT)
    writer = Writer(world, rng)
    keys: dict[str, str | None] = {}
    by_key: dict[str, list[str]] = {}

    def key(sql: str) -> str | None:
        if sql not in keys:
            found = canonical(sql, schema, dialect=DIALECT, ordered=False, seconds=5)
            if found.reason is not None and found.reason.startswith("fault"):
                report.faults.append((found.reason, sql))
            keys[sql] = found.key
            if found.key is not None:
                by_key.setdefault(found.key, []).append(sql)
        return keys[sql]

    made = 0
    while made < count:
        base = writer.statement()
        for _ in range(4):
            change = mutant(base, rng)
            if change is None or change[0] == base:
                continue
            other, keeping = change
            if any(isinstance(r, str) for r in (*databases.results(base), *databases.results(other))):
                continue  # not a statement of this world: an unknown column, a missing group key
            made += 1
            report.pairs += 1
            called = key(base) == key(other)
            report.called += called
            if keeping:
                report.keeping += 1
                report.recognised += called
            if all(map(same_rows, databases.results(base), databases.results(other))):
                report.alike += 1
                report.alike_called += called
    for members in by_key.values():
        first = members[0]
        for other in members[1:]:
            report.checked += 1
            if not all(map(same_rows, databases.results(first), databases.results(other))):
                report.wrong.append((world.schema, first, other))


def main() -> int:
    pairs, seed = int(sys.argv[1]), int(sys.argv[2])
    report = Report()
    while report.pairs < pairs:
        run(seed, min(pairs, report.pairs + 2000), report)
        seed += 1
        print(report, flush=True)
    for schema, left, right in report.wrong[:5]:
        print(f"\nWRONG\n{schema}\n  {left}\n  {right}")
    for reason, sql in report.faults[:5]:
        print(f"\nFAULT {reason}\n  {sql}")
    return 1 if report.wrong or report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
