"""Result sets from files: CSV, JSON and Parquet, told apart by suffix.

Nothing here guesses at a failure: a file of no bytes is a failed run and not an empty result, and is refused.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from app.core.comparator import ResultSet
from app.core.tagged_json import TaggedJsonRefused, read_tagged_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Unmistakably a number: no leading zero (`007` is a code), no bare exponent (`12E4` may be one), no sign but minus.
_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
_FRACTION = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+([eE][+-]?[0-9]+)?|[eE][+-][0-9]+)")
_LONG_INTEGER = 4000  # digits; beyond, Python refuses to read an int, and a Decimal holds it as exactly
_LONG_EXPONENT = re.compile(r"[eE][+-]?[0-9]{10,}")  # beyond what a Decimal holds


class ResultFileRefused(Exception):
    """A file that could not be read. The message names the file and the fault, and none of what is in it."""


def read_result_file(path: Path) -> ResultSet:
    """The result set in `path`, by its suffix: .csv, .json, or .parquet (.pq).

    CSV is UTF-8 with a header line; an empty field is NULL, and text that is unmistakably a number is one. JSON is
    `{"columns": […], "rows": [[…]]}` with the tags of `app.core.tagged_json`, or an array of objects of one set of
    keys. Raises `ResultFileRefused`, for a malformed file as for an unreadable one; whether every row is as wide as the
    header is the comparator's to say.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise ResultFileRefused(f"{path}: the suffix is none of {', '.join(_READERS)}")
    try:
        content = path.read_bytes()
    except OSError as failure:
        raise ResultFileRefused(f"{path}: {failure.strerror}") from None
    if not content:
        raise ResultFileRefused(f"{path}: no bytes: a failed run, not an empty result")
    try:
        return reader(content)
    except ValueError as failure:
        raise ResultFileRefused(f"{path}: {_why(failure)}") from None


def _why(failure: ValueError) -> str:
    """The fault without the content: only our own messages are known not to quote it."""
    if isinstance(failure, UnicodeDecodeError):
        return "not UTF-8"
    return str(failure) if isinstance(failure, TaggedJsonRefused | _Malformed) else type(failure).__name__


class _Malformed(ValueError):
    pass


def _read_csv(content: bytes) -> ResultSet:
    csv.field_size_limit(sys.maxsize)
    lines = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
    try:
        columns = next(lines, None)
        if not columns:
            raise _Malformed("there is no header line")
        # A blank line is a row of one NULL; where there are more columns it is no row at all.
        rows = [tuple(map(_csv_cell, row or [""])) for row in lines if row or len(columns) == 1]
    except csv.Error:
        raise _Malformed(f"malformed CSV at line {lines.line_num}") from None
    return ResultSet(columns, rows)


def _csv_cell(text: str) -> Any:
    if not text:
        return None
    if _WHOLE.fullmatch(text):
        return int(text) if len(text) < _LONG_INTEGER else Decimal(text)
    if _FRACTION.fullmatch(text) and not _LONG_EXPONENT.search(text):
        return Decimal(text)
    return text


def _read_json(content: bytes) -> ResultSet:
    document = read_tagged_json(content)
    if isinstance(document, dict) and isinstance(document.get("columns"), list):
        if not isinstance(document.get("rows"), list):
            raise _Malformed("there are no rows")
        return ResultSet(document["columns"], document["rows"])
    if isinstance(document, list) and all(isinstance(record, dict) for record in document):
        columns = list(document[0]) if document else []
        if any(record.keys() != document[0].keys() for record in document):
            raise _Malformed("the objects do not all have the same keys")
        return ResultSet(columns, [[record[name] for name in columns] for record in document])
    raise _Malformed("neither an object of columns and rows nor an array of objects")


def _read_parquet(content: bytes) -> ResultSet:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(content))
        columns = [_python_cells(table.column(index)) for index in range(table.num_columns)]
    except (pa.ArrowException, ValueError, OSError) as failure:
        raise _Malformed(f"malformed Parquet ({type(failure).__name__})") from None
    rows = list(zip(*columns, strict=True)) if columns else [()] * table.num_rows
    return ResultSet(table.column_names, rows)


def _python_cells(column: Any) -> list[Any]:
    import pyarrow as pa

    # Python's own types end at the microsecond; text carries the nanoseconds, and the comparator reads them.
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        return column.cast(pa.string()).to_pylist()  # type: ignore[no-any-return]  # pyarrow has no types
    return column.to_pylist()  # type: ignore[no-any-return]  # pyarrow has no types


_READERS: dict[str, Callable[[bytes], ResultSet]] = {
    ".csv": _read_csv,
    ".json": _read_json,
    ".parquet": _read_parquet,
    ".pq": _read_parquet,
}
