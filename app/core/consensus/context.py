"""What reading and rewriting one statement may rely on: the schema, the dialect, fresh numbers, and a clock."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.core.consensus.schema import Schema
    from app.core.consensus.terms import Kind

# Dialects whose text compares equal though it differs: by case, accents or trailing blanks.
_LOOSE_TEXT = frozenset({"mysql", "mariadb", "tsql", "fabric", "singlestore", "doris", "starrocks", "teradata"})
# Dialects in which a quotient or a remainder by zero is NULL, not an error.
_NULL_QUOTIENT = frozenset({"mysql", "mariadb", "sqlite", "duckdb", "spark", "hive", "databricks", "clickhouse"})
# Dialects without a date type: CAST(x AS DATE) is a number there, and a date is compared as text.
_NO_DATES = frozenset({"sqlite"})


_CALLS = 32


class Unread(Exception):
    """The statement holds something that has no form here. It is then compared as it was written."""


class OutOfTime(Exception):
    """The time for one statement is used up."""


@dataclass
class Context:
    schema: Schema
    dialect: str | None
    deadline: float
    """In seconds of this thread's own time, so that a busy machine does not change a verdict."""
    _last: int = field(default=0)
    _ticks: int = field(default=0)
    settled: set[object] = field(default_factory=set)
    """What `normalise` has already found to be in normal form."""
    choice: bool = field(default=False)
    """Whether the statement leaves a choice to the engine, such as a limit among ties; found by `finish`."""
    numbers: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Depth and number of each occurrence in the canonical order, for naming it to a person; filled by `label`."""

    def fresh(self) -> int:
        self._last += 1
        return self._last

    def tick(self) -> None:
        """Raises `OutOfTime` after the deadline; called wherever work can multiply. Looks at the clock, which costs a
        system call, once in so many calls."""
        self._ticks += 1
        if self._ticks % _CALLS == 0 and time.thread_time() > self.deadline:
            raise OutOfTime

    @property
    def typed_literals(self) -> bool:
        """Whether a text literal beside a date column is read as a date."""
        return self.dialect not in _NO_DATES

    @property
    def null_quotient(self) -> bool:
        return self.dialect in _NULL_QUOTIENT

    def identical(self, left: Kind, right: Kind) -> bool:
        """Whether values of these kinds that compare equal are the same value, and so may stand for each other.

        Not so for `1 = 1.0`, `-0.0 = 0.0`, padded CHAR, and text under a collation that ignores case.
        """
        if left != right:
            return False
        return left in ("int", "date", "timestamp", "bool") or (left == "text" and self.dialect not in _LOOSE_TEXT)
