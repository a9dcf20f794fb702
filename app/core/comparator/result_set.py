"""What a statement returned: the names of its columns, and its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


# Two results are equal when `compare_result_sets` says so; raw `==` would call True and 1 one value and NaN two.
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ResultSet:
    """One result. Nothing is checked or copied here: the comparator says what is malformed, and changes nothing.

    Arguments: `columns`, one name a column, repeats allowed; `rows`, one sequence a row, one driver value a column:
    None, bool, int, float, Decimal, str, date, datetime, time, timedelta, UUID, bytes, list, dict, or a NumPy or
    pandas scalar that wraps one.

    >>> ResultSet(["id", "name"], [(1, "Ada"), (2, None)])
    ResultSet(2 columns, 2 rows)
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    # Counts alone: a result set is printed in logs and tracebacks, and its cells must not be.
    def __repr__(self) -> str:
        counts = (len(side) if hasattr(side, "__len__") else "no" for side in (self.columns, self.rows))
        return "ResultSet({} columns, {} rows)".format(*counts)
