"""The counts in a probe's result."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from app.core.reconcile.row_files import RowFiles

_COUNT = re.compile(r"[0-9]{1,30}(?:\.0+)?")
_MAX_CHARACTERS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Probe:
    """The one row of counts a probe answered with.

    `problem` says why there is no answer, None where there is one. A result with a header and no row below it is an
    answer: `found_nothing`.
    """

    counts: tuple[tuple[str, int], ...] = ()
    problem: str | None = None
    found_nothing: bool = False

    def count(self, header: str) -> int | None:
        """The count under `header`, in any case; None when that column is not there.

        >>> Probe(counts=(("matched", 5),)).count("MATCHED")
        5
        """
        return dict(self.counts).get(header.lower())


def probe(files: RowFiles, name: str, *headers: str) -> Probe:
    """What the file `name` answers. Its columns are found by their `headers`, in any case and order.

    With one header asked for, a result of one column is read whatever the column is called; a wider one never is,
    for then its first number may count anything. A file that is not there, of no bytes, with a value that is no count,
    with more rows than one, is no answer.

    >>> from app.core.reconcile.row_files import RowFiles
    >>> probe(RowFiles({"join-1.overlap.0.csv": "MATCHED\\n50\\n"}), "join-1.overlap.0.csv", "matched").count("matched")
    50
    >>> probe(RowFiles({"p.csv": ""}), "p.csv", "matched").problem
    'is empty'
    """
    text, problem = files.probe_text(name)
    if text is None:
        return Probe(problem=problem)
    if len(text) > _MAX_CHARACTERS:
        return Probe(problem="is no single row of counts")
    try:
        rows = [
            row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if any(cell.strip() for cell in row)
        ]
    except csv.Error:
        return Probe(problem="is not CSV that can be read")
    if not rows:
        return Probe(problem="is empty")
    found = [cell.strip().lstrip("\ufeff").lower() for cell in rows[0]]
    columns = [found.index(header) if found.count(header) == 1 else None for header in headers]
    if len(rows) == 1:
        # Only under its own header is an empty result one; a driver's error message is also a line without rows.
        return Probe(problem="has no such column") if None in columns else Probe(found_nothing=True)
    if columns == [None] and len(found) == 1:
        columns = [0]
    if None in columns:
        return Probe(problem="has no such column")
    if len(rows) > 2 or len(rows[1]) != len(found):
        return Probe(problem="is no single row of counts")
    cells = [rows[1][column].strip() for column in columns if column is not None]
    if not all(_COUNT.fullmatch(cell) for cell in cells):
        return Probe(problem="holds a value that is no count")
    return Probe(counts=tuple((header, int(cell.split(".")[0])) for header, cell in zip(headers, cells, strict=True)))
