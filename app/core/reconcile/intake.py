"""Read whatever a person brought into rows to check."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from app.core.reconcile.decode import NotText, decode
from app.core.reconcile.evidence_row import Entry, EvidenceRow, Skipped
from app.core.reconcile.fold import fold
from app.core.reconcile.json_rows import NotJson, json_rows
from app.core.reconcile.prose import markdown, prose
from app.core.reconcile.records import delimiter_of, records
from app.core.reconcile.sql_file import sql_file
from app.core.reconcile.statement import DIALECT
from app.core.reconcile.table import table
from app.core.reconcile.workbook import NotWorkbook, workbook

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from app.core.reconcile.json_text import Json

MAX_FILE_BYTES: Final = 50_000_000
MAX_ROWS: Final = 200_000

_NO_DELIMITER = "\x1f"  # in no text a person writes: every record is one cell, and quotes still hold


class CannotRead(ValueError):
    """A file that cannot be read at all. The message names the file and the reason, and holds none of its content."""


@dataclass(frozen=True, slots=True)
class Intake:
    """What was read and what was not. `source` is the person's own words for where it came from, None without."""

    rows: tuple[EvidenceRow, ...]
    skipped: tuple[Skipped, ...]
    source: str | None

    @property
    def shape(self) -> str | None:
        """The letter all rows share, `mixed` where they differ, None where there is no row."""
        shapes = {row.shape for row in self.rows}
        return "mixed" if len(shapes) > 1 else shapes.pop() if shapes else None

    def to_json(self) -> dict[str, Json]:
        rows: list[Json] = [dict(row.to_json(n, self.source)) for n, row in enumerate(self.rows, 1)]
        return {"shape": self.shape, "rows": rows, "skipped": [dict(entry.to_json()) for entry in self.skipped]}


def intake(files: Iterable[tuple[str, bytes]], *, source: str | None = None, dialect: str | None = DIALECT) -> Intake:
    """The rows of all `files`, with a statement joined to the number that has its label.

    >>> read = intake([("tiles.csv", b"Label,Value\\nQ3 Revenue,$4.2M\\n"),
    ...                ("sql.csv", b'label,sql\\nq3  revenue,"SELECT sum(total) FROM orders"\\n')])
    >>> read.shape, read.rows[0].merged_from
    ('d', ('sql.csv', 2))

    Arguments: `files`, each a name (its ending says how it is read; only its last part is kept) and its bytes;
    `dialect`, the sqlglot dialect of the statements.
    Raises `CannotRead` for a file that is too large, not text, broken JSON or a broken workbook, and for more than
    `MAX_ROWS` rows. What could be read and holds nothing usable is in `skipped`.
    Rule: docs/reconcile.md, "Reading".
    """
    found: list[Entry] = []
    for path, content in files:
        name = PurePath(path).name
        try:
            found += islice(_entries(name, content, dialect), MAX_ROWS + 1 - len(found))
        except (NotText, NotJson, NotWorkbook) as error:
            raise CannotRead(f"{name}: {error}") from None
        if len(found) > MAX_ROWS:
            raise CannotRead(f"{name}: more than {MAX_ROWS:,} rows in one run; divide it")
    rows = [entry for entry in found if isinstance(entry, EvidenceRow)]
    skipped = [entry for entry in found if isinstance(entry, Skipped)]
    return Intake(tuple(_merged(rows)), tuple(skipped), source)


def _entries(name: str, content: bytes, dialect: str | None) -> Iterator[Entry]:
    if len(content) > MAX_FILE_BYTES:
        raise NotText(f"larger than {MAX_FILE_BYTES // 1_000_000} MB; divide it")
    suffix = PurePath(name).suffix.lower()
    if suffix in (".xlsx", ".xlsm") or content.startswith(b"PK\x03\x04"):
        return table(name, workbook(content, MAX_ROWS), dialect)
    text = decode(content)
    match suffix:
        case ".sql":
            return sql_file(name, text, dialect)
        case ".json":
            return json_rows(name, text, dialect)
        case ".md" | ".markdown":
            return markdown(name, text, dialect)
        case ".txt":
            return prose(name, text, dialect)
        case _:
            return _delimited(name, text, dialect)


def _delimited(name: str, text: str, dialect: str | None) -> Iterator[Entry]:
    delimiter = delimiter_of(text)
    if delimiter is None and '"' not in text:
        return prose(name, text, dialect)
    return table(name, records(text, delimiter or _NO_DELIMITER), dialect)


def _merged(rows: Sequence[EvidenceRow]) -> list[EvidenceRow]:
    """Each statement without a number joined to the one number without a statement that has its label.

    Two numbers of one label leave a statement its own row: which of them it stands behind would be a guess."""
    tiles: dict[str, list[int]] = {}
    for i, row in enumerate(rows):
        if row.shape == "c" and row.label:
            tiles.setdefault(fold(row.label), []).append(i)
    merged = list(rows)
    joined: set[int] = set()
    for i, row in enumerate(rows):
        home = tiles.get(fold(row.label or row.question or ""), []) if row.shape == "b" else []
        if len(home) == 1 and merged[home[0]].statement is None:
            tile = merged[home[0]]
            question = tile.question or (row.question if row.label else None)
            merged[home[0]] = replace(
                tile, statement=row.statement, question=question, merged_from=(row.file, row.line)
            )
            joined.add(i)
    return [row for i, row in enumerate(merged) if i not in joined]
