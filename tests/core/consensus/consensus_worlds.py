"""Random schemas with keys and references, and random databases that fit them, in DuckDB.

Small domains, so that rows collide; many NULLs, duplicates and empty tables.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import duckdb

Rows = list[tuple[Any, ...]]

_DOMAINS: dict[str, tuple[Any, ...]] = {
    "INTEGER": (0, 1, 2, 3),
    "VARCHAR": ("a", "b", "c"),
    "DATE": ("2023-12-31", "2024-01-01", "2024-01-31", "2024-02-01", "2024-12-31", "2025-01-01"),
    "TIMESTAMP": ("2023-12-31 23:59:59", "2024-01-01 00:00:00", "2024-01-31 12:00:00", "2024-02-01 00:00:00"),
    "BOOLEAN": (True, False),
}


@dataclass(frozen=True)
class Table:
    name: str
    ints: tuple[str, ...]
    texts: tuple[str, ...]
    key: tuple[str, ...]
    not_null: frozenset[str]
    unique: str | None = None
    reference: tuple[str, str] | None = None
    """Column, and the table whose first key column it refers to."""
    others: tuple[tuple[str, str], ...] = ()
    """Columns of other types, with their types."""

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.ints, *self.texts, *(name for name, _ in self.others))

    def type_of(self, column: str) -> str:
        return dict(self.others).get(column, "INTEGER" if column in self.ints else "VARCHAR")

    def ddl(self) -> str:
        lines = []
        for column in self.columns:
            null = " NOT NULL" if column in self.not_null else ""
            one = " UNIQUE" if column == self.unique else ""
            lines.append(f"{column} {self.type_of(column)}{null}{one}")
        if self.key:
            lines.append(f"PRIMARY KEY ({', '.join(self.key)})")
        if self.reference is not None:
            lines.append(f"FOREIGN KEY ({self.reference[0]}) REFERENCES {self.reference[1]} (id)")
        return f"CREATE TABLE {self.name} ({', '.join(lines)})"


@dataclass(frozen=True)
class World:
    tables: tuple[Table, ...]

    @property
    def schema(self) -> str:
        return ";\n".join(t.ddl() for t in self.tables)


def a_world(rng: random.Random) -> World:
    """Three tables: a keyed one, one that refers to it, and a loose one."""
    maybe = lambda *names: frozenset(n for n in names if rng.random() < 0.4)  # noqa: E731  # one line, for this place only
    r = Table("r", ("id", "a", "b"), ("s",), ("id",), maybe("a", "s"), rng.choice((None, "b")))
    s_key = ("id",) if rng.random() < 0.7 else ("id", "r_id")
    s = Table(
        "s", ("id", "r_id", "c"), ("t",), s_key, maybe("r_id", "c"), None, ("r_id", "r") if rng.random() < 0.8 else None
    )
    u = Table("u", ("x", "y"), ("z",), (), maybe("x", "y"))
    return World((r, s, u))


@dataclass
class Databases:
    """Several databases of one world, in one connection."""

    world: World
    seed: int
    count: int = 4
    connection: duckdb.DuckDBPyConnection = field(init=False)
    _known: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rng = random.Random(self.seed)
        self.connection = duckdb.connect(config={"threads": 1})
        for number in range(self.count):
            self.connection.execute(f"CREATE SCHEMA d{number}; SET schema = 'd{number}'")
            ids: dict[str, list[int]] = {}
            for table in self.world.tables:
                self.connection.execute(table.ddl())
                rows = _rows(rng, table, ids, size=(0, 2, 4, 6)[number % 4] if number else rng.choice((0, 1)))
                ids[table.name] = [row[0] for row in rows]
                if rows:
                    marks = ", ".join("?" for _ in table.columns)
                    self.connection.executemany(f"INSERT INTO {table.name} VALUES ({marks})", rows)

    def results(self, sql: str) -> tuple[Any, ...]:
        """The rows of `sql` on each database, or the kind of the error."""
        if sql not in self._known:
            found: list[Any] = []
            for number in range(self.count):
                self.connection.execute(f"SET schema = 'd{number}'")
                try:
                    found.append(self.connection.execute(sql).fetchall())
                except duckdb.Error as error:
                    found.append(type(error).__name__)
            self._known[sql] = tuple(found)
        return self._known[sql]


def _rows(rng: random.Random, table: Table, ids: dict[str, list[int]], size: int) -> Rows:
    rows: Rows = []
    keys: set[tuple[Any, ...]] = set()
    taken: set[Any] = set()
    for _ in range(size):
        row: dict[str, Any] = {}
        for column in table.columns:
            domain = list(_DOMAINS[table.type_of(column)])
            if column in table.key and len(table.key) == 1:
                domain = list(range(8))
            if table.reference is not None and column == table.reference[0]:
                domain = ids[table.reference[1]]
            free = column not in table.not_null and column not in table.key
            row[column] = None if (free and rng.random() < 0.3) or not domain else rng.choice(domain)
        if any(row[c] is None for c in (*table.not_null, *table.key)):
            continue
        key = tuple(row[c] for c in table.key)
        if (table.key and key in keys) or (
            table.unique is not None and row[table.unique] is not None and row[table.unique] in taken
        ):
            continue
        keys.add(key)
        if table.unique is not None:
            taken.add(row[table.unique])
        rows.append(tuple(row[c] for c in table.columns))
    if not table.key and rows and rng.random() < 0.6:
        rows.append(rng.choice(rows))
    return rows


def same_rows(left: Any, right: Any) -> bool:
    """Whether two results are one bag of rows, up to one order of the columns. Errors are the same when alike."""
    if isinstance(left, str) or isinstance(right, str):
        return bool(left == right)
    if len(left) != len(right):
        return False
    if not left:
        return True
    if len(left[0]) != len(right[0]):
        return False
    if Counter(map(_plain, left)) == Counter(map(_plain, right)):
        return True
    return _permuted([_plain(r) for r in left], [_plain(r) for r in right])


def _plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(round(v, 9) if isinstance(v, float) else float(v) if type(v).__name__ == "Decimal" else v for v in row)


def _permuted(left: Rows, right: Rows) -> bool:
    width = len(left[0])
    bags = [Counter(row[i] for row in right) for i in range(width)]
    options = [[j for j in range(width) if Counter(row[i] for row in left) == bags[j]] for i in range(width)]
    wanted = Counter(left)

    def place(chosen: list[int]) -> bool:
        if len(chosen) == width:
            return Counter(tuple(row[j] for j in chosen) for row in right) == wanted
        return any(place([*chosen, j]) for j in options[len(chosen)] if j not in chosen)

    return place([])
