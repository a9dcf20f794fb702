"""The first sheet of a workbook, as records."""

from __future__ import annotations

import io
import warnings
import zipfile
from datetime import date, datetime, time
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from openpyxl import load_workbook

from app.core.reconcile.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_UNPACKED: Final = 100_000_000
"""Bytes of the unpacked parts together; a workbook is a zip file, and a small one may unpack to anything."""

MAX_COLUMNS: Final = 64
"""A sheet may name a cell in column 16,384 of every row; what lies beyond is not read."""

_MAX_PARTS = 2_000


class NotWorkbook(ValueError):
    """The bytes are no workbook that can be read. The message holds none of them."""


def workbook(content: bytes, max_rows: int) -> list[Record]:
    """The rows of the first sheet in `content`, blank ones left out, each under the number it has in the sheet.

    A formula is its text (`=SUM(A1)`), never a number: nothing is evaluated, and the value a spreadsheet program
    once stored beside it is not looked at.
    Raises `NotWorkbook`, also for one that unpacks to more than `MAX_UNPACKED` or has more than `max_rows` rows.
    """
    _check(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a missing default style is nothing to a reader of cells
            found = list(islice(_rows(content), max_rows + 1))
    except Exception:  # noqa: BLE001 — openpyxl raises whatever the broken part made it stumble over
        raise NotWorkbook("the file is not a workbook that can be read") from None
    if len(found) > max_rows:
        raise NotWorkbook(f"the sheet has more than {max_rows:,} rows")
    return [Record(line, cells) for line, cells in enumerate(found, 1) if any(cells)]


def _rows(content: bytes) -> Iterator[tuple[str, ...]]:
    book = load_workbook(io.BytesIO(content), read_only=True, data_only=False, keep_links=False)
    sheet = book.worksheets[0]
    # The stated size is the file's own claim, and rows are padded to it.
    sheet.reset_dimensions()
    for row in sheet.iter_rows(max_col=MAX_COLUMNS, values_only=True):
        cells = [_cell(value) for value in row]
        while cells and not cells[-1]:
            cells.pop()
        yield tuple(cells)


def _check(content: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        raise NotWorkbook("the file is not a workbook that can be read") from None
    # The sizes stated here are the sizes read: the unpacker stops at them.
    if len(parts) > _MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
        raise NotWorkbook(f"the workbook unpacks to more than {MAX_UNPACKED // 1_000_000} MB")


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            return repr(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            return str(value).strip()
