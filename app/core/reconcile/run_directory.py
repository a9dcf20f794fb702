"""A run's directory: rows.jsonl, and a directory for each row whose statement was checked."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Any, Final

from app.core.reconcile.ledger import ledger
from app.core.reconcile.load_json import BadJson, load_json
from app.core.reconcile.read_input import CannotOpen, read_input
from app.core.reconcile.row_directory import RowDirectory
from app.core.reconcile.run_row import RunRow

if TYPE_CHECKING:
    from pathlib import Path

    from app.core.reconcile.ledger import Ledger

MAX_RUN_BYTES: Final = 100_000_000
MAX_RUN_ROWS: Final = 100_000


class NoRows(ValueError):
    """A run that recorded nothing."""


def run_directory(path: Path) -> list[RunRow]:
    """The rows of the run in `path`, each graded from `rows/<number>/` where that is there.

    A row's claims are part of its grade where its directory holds them. A row is numbered by its `row`, else by its
    line.
    Raises `CannotOpen` for a line that is no JSON object, a row number that is none or stands twice, a row directory
    that is a link, and a file that is too large; `NoRows` where rows.jsonl is not there or empty.
    """
    if not path.is_dir():
        raise CannotOpen(f"{path}: there is no such directory")
    if not (path / "rows.jsonl").exists():
        raise NoRows("no rows to read: the run wrote no rows.jsonl")
    _refuse_link(path / "rows.jsonl")
    records = _records(read_input(path / "rows.jsonl", MAX_RUN_BYTES))
    if not records:
        raise NoRows("no rows to read: rows.jsonl is empty")
    return [RunRow(number, record, _graded(path, number)) for number, record in records.items()]


def _records(content: bytes) -> dict[int, dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for line, text in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not text.strip():
            continue
        try:
            record = load_json(text.decode("utf-8"), exact=True)
        except UnicodeDecodeError:
            raise CannotOpen(f"rows.jsonl: line {line} is not UTF-8") from None
        except BadJson as bad:
            raise CannotOpen(f"rows.jsonl: line {line} {bad}") from None
        if not isinstance(record, dict):
            raise CannotOpen(f"rows.jsonl: line {line} is no object")
        number = record.get("row", line)
        # The number becomes a directory's name, so it is one or the run is refused: `../7` is no row.
        if type(number) is not int or not 0 <= number < 10**9:
            raise CannotOpen(f"rows.jsonl: line {line} has a row number that is none")
        if number in found:
            raise CannotOpen(f"rows.jsonl: line {line} has the number of another row")
        if len(found) == MAX_RUN_ROWS:
            raise CannotOpen(f"rows.jsonl: more than {MAX_RUN_ROWS:,} rows in one run")
        found[number] = record
    return found


def _graded(path: Path, number: int) -> Ledger | None:
    directory = path / "rows" / str(number)
    for step in (path / "rows", directory):
        _refuse_link(step)
        if not step.is_dir():
            return None
    files = RowDirectory(directory)
    return ledger(files, with_claims="claims.json" in files)


def _refuse_link(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(mode):
        raise CannotOpen(f"{path}: is a link, and may lead out of the run directory")
