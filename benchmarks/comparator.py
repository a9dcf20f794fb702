"""How much faster the comparator is than keying every cell and counting rows, and how it grows.

    python benchmarks/comparator.py [--quick]

Each line is one comparison, run once in a process of its own: CPU seconds of the comparator, of the plain way,
their ratio, and the memory that the comparator needed beside the results. The plain way reads cells by the same rules,
pairs columns by name, and counts rows in a `Counter`; both must come to the same verdict. Only the ratios mean
anything on another machine.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import random
import re
import resource
import time
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import TYPE_CHECKING, Any

from app.core.comparator import ResultSet, compare_result_sets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SQL = "SELECT * FROM answers"
EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)
UUID_TEXT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)


def plain_key(cell: Any) -> tuple[str, Any]:
    """The plain way's key of one cell."""
    if cell is None:
        return ("null", None)
    if isinstance(cell, bool):
        return ("bool", cell)
    if isinstance(cell, int):
        return ("number", Decimal(cell).normalize(EXACT))
    if isinstance(cell, float):
        return ("number", Decimal(repr(cell)).normalize(EXACT)) if not math.isnan(cell) else ("nan", None)
    if isinstance(cell, Decimal):
        return ("number", cell.normalize(EXACT))
    if isinstance(cell, datetime):
        moment = cell.replace(tzinfo=UTC) if cell.tzinfo is None else cell.astimezone(UTC)
        return ("date", moment.isoformat())
    if isinstance(cell, date):
        return ("date", datetime(cell.year, cell.month, cell.day, tzinfo=UTC).isoformat())
    if isinstance(cell, str):
        if ISO.fullmatch(cell):
            return plain_key(datetime.fromisoformat(cell))
        return ("uuid", cell.lower()) if UUID_TEXT.fullmatch(cell) else ("text", cell)
    return (type(cell).__name__, str(cell))


def plain_accuracy(golden: ResultSet, generated: ResultSet) -> float:
    """Key every cell, count every row, with the columns paired by their names."""
    places = [generated.columns.index(name) for name in golden.columns]
    left = Counter(tuple(map(plain_key, row)) for row in golden.rows)
    right = Counter(tuple(plain_key(row[place]) for place in places) for row in generated.rows)
    return sum((left & right).values()) / len(golden.rows)


EPOCH = datetime(2020, 1, 1)  # noqa: DTZ001  (drivers hand over naive timestamps, and so does this)
Columns = dict[str, list[Any]]


def mixed(rng: random.Random, height: int) -> Columns:
    """Ten columns as a warehouse returns them."""
    rows = range(height)
    return {
        "id": list(rows),
        "customer": [rng.randrange(5000) for _ in rows],
        "amount": [Decimal(rng.randrange(10**7)).scaleb(-2) for _ in rows],
        "score": [rng.random() * 1000 for _ in rows],
        "name": [f"customer {rng.randrange(10**6)}" for _ in rows],
        "country": [rng.choice(["SE", "NO", "DE", "FR", None]) for _ in rows],
        "active": [rng.random() < 0.5 for _ in rows],
        "day": [date(2020, 1, 1) + timedelta(days=rng.randrange(2000)) for _ in rows],
        "at": [EPOCH + timedelta(seconds=rng.randrange(10**8)) for _ in rows],
        "quantity": [rng.choice([None, 1, 2, 3, 4, 5]) for _ in rows],
    }


def five(rng: random.Random, height: int) -> Columns:
    """Five of them."""
    columns = mixed(rng, height)
    return {name: columns[name] for name in ("id", "customer", "amount", "name", "active")}


def wide(rng: random.Random, height: int) -> Columns:
    """Sixty columns of different numbers."""
    return {f"c{i}": [rng.randrange(10**6) for _ in range(height)] for i in range(60)}


def flags(rng: random.Random, height: int) -> Columns:
    """The same, eight of them each Y on half the rows."""
    columns = wide(rng, height)
    return columns | {f"c{i}": rng.sample(["Y", "N"] * (height // 2), height) for i in range(8)}


@dataclass(frozen=True)
class Measure:
    """One line of the report."""

    title: str
    columns: Callable[[random.Random, int], Columns]
    height: int
    wrong_cells: int = 0


MEASURES = (
    Measure("100,000 x 10 mixed, equal", mixed, 100_000),
    Measure("100,000 x 10 mixed, one cell wrong", mixed, 100_000, wrong_cells=1),
    Measure("100,000 x 10 mixed, 1% of a column wrong", mixed, 100_000, wrong_cells=1000),
    Measure("2,000 x 60, columns all different, equal", wide, 2_000),
    Measure("2,000 x 60, columns all different, one cell wrong", wide, 2_000, wrong_cells=1),
    Measure("2,000 x 60, 8 columns share a vector, equal", flags, 2_000),
    Measure("2,000 x 60, 8 columns share a vector, one cell wrong", flags, 2_000, wrong_cells=1),
    Measure("20 x 4, equal", five, 20),
    Measure("10,000 x 5, equal", five, 10_000),
    Measure("100,000 x 5, equal", five, 100_000),
    Measure("1,000,000 x 5, equal", five, 1_000_000),
    Measure("1,000,000 x 5, one cell wrong", five, 1_000_000, wrong_cells=1),
)


def results(measure: Measure) -> tuple[ResultSet, ResultSet]:
    """The golden result, and the same made anew, its rows shuffled and its columns permuted."""
    golden = measure.columns(random.Random(7), measure.height)
    generated = measure.columns(random.Random(7), measure.height)
    rng = random.Random(8)
    for row in rng.sample(range(measure.height), measure.wrong_cells):
        list(generated.values())[-1][row] = 77
    rows = list(zip(*golden.values(), strict=True))
    names = rng.sample(list(generated), len(generated))
    shuffled = list(zip(*(generated[name] for name in names), strict=True))
    rng.shuffle(shuffled)
    return ResultSet(list(golden), rows), ResultSet(names, shuffled)


def measured(measure: Measure) -> Iterator[float]:
    """Seconds compared, seconds plain, MiB, and whether the verdicts agree."""
    golden, generated = results(measure)
    # Imports, the parser's tables and Arrow's own setting up, once in the life of a process.
    compare_result_sets(*results(replace(measure, height=5_000, wrong_cells=0)), golden_sql=SQL)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    score = compare_result_sets(golden, generated, golden_sql=SQL)
    yield time.process_time() - start
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    start = time.process_time()
    plain = plain_accuracy(golden, generated)
    yield time.process_time() - start
    yield memory
    yield float(score.accuracy == plain)


def measured_all(measure: Measure) -> tuple[float, ...]:
    return tuple(measured(measure))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="leave out the results of a million rows")
    quick = parser.parse_args().quick
    print(f"{'':55}{'compared':>10}{'plain':>10}{'times faster':>14}{'memory':>10}")
    for measure in MEASURES:
        if quick and measure.height >= 1_000_000:
            continue
        with multiprocessing.get_context("spawn").Pool(1) as fresh:
            compared, plain, memory, agrees = fresh.apply(measured_all, (measure,))
        same = "" if agrees else "  THE VERDICTS DIFFER"
        print(f"{measure.title:55}{compared:9.3f}s{plain:9.3f}s{plain / compared:14.1f}{memory:6.0f} MiB{same}")


if __name__ == "__main__":
    main()
