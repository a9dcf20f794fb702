"""The records of a delimited text, each with the line it begins on."""

from __future__ import annotations

import csv
import io
import sys
from dataclasses import dataclass
from itertools import dropwhile, islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

DELIMITERS: Final = ("\t", ",", ";", "|")
_SAMPLE = 100
_SAMPLE_CHARACTERS = 200_000
_MAX_REREADS = 20


@dataclass(frozen=True, slots=True)
class Record:
    """One record: its cells, blank space off both ends, and the line it begins on, from 1. `problem` says why the
    cells cannot be trusted, None when they can."""

    line: int
    cells: tuple[str, ...]
    problem: str | None = None


def records(text: str, delimiter: str) -> Iterator[Record]:
    """The records of `text`, blank ones left out, in order.

    A line break inside quotes belongs to its cell, so lines are counted as an editor shows them. A quote that
    opens and never closes would swallow the rest of the file: its line is reported, and reading goes on below it.

    >>> [(r.line, r.cells) for r in records('a,"1\\n2"\\nb,3', ",")]
    [(1, ('a', '1\\n2')), (3, ('b', '3'))]
    """
    # The standard limit of 131,072 characters is shorter than a statement may be, and passing it would lose the
    # reader's place in the middle of a record. The size of the file is the bound that holds.
    csv.field_size_limit(sys.maxsize)
    lines = list(io.StringIO(text, newline=""))
    start = 0
    for _ in range(_MAX_REREADS):
        broken = yield from _read(lines, start, delimiter)
        if broken is None:
            return
        yield Record(broken + 1, (), "a quote opens on this line and never closes")
        start = broken + 1
    if start < len(lines):
        yield Record(start + 1, (), "the quotes of the file cannot be paired from here on")


def _read(lines: list[str], start: int, delimiter: str) -> Generator[Record, None, int | None]:
    reader = csv.reader(lines[start:], delimiter=delimiter)
    first = start
    for cells in reader:
        after = start + reader.line_num
        if after == len(lines) and _never_closes(lines[first:after], delimiter):
            return first
        if any(stripped := [cell.strip() for cell in cells]):
            yield Record(first + 1, tuple(stripped))
        first = after
    return None


def _never_closes(lines: list[str], delimiter: str) -> bool:
    try:
        list(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error as error:
        return "unexpected end of data" in str(error)
    return False


def delimiter_of(text: str) -> str | None:
    """The delimiter under which the most records of `text` have as many cells as the first; None when it is no table.

    >>> delimiter_of("Label;Value\\nRevenue;1.234,56\\n")
    ';'

    A semicolon or a bar divides prose as well as cells, so for those every record sampled has to agree.
    """
    shares = [(share, -rank, d) for rank, d in enumerate(DELIMITERS) if (share := _agreement(text, d))]
    return max(shares)[2] if shares else None


def _agreement(text: str, delimiter: str) -> float:
    if delimiter not in text:
        return 0
    widths = [len(record.cells) for record in islice(_plain(text[:_SAMPLE_CHARACTERS], delimiter), _SAMPLE)]
    if not widths or widths[0] < 2:
        return 0
    share = widths.count(widths[0]) / len(widths)
    return 0 if delimiter in ";|" and (share < 1 or len(widths) < 2) else share


def _plain(text: str, delimiter: str) -> Iterator[Record]:
    return (r for r in below_guidance(records(text, delimiter)) if r.problem is None)


def below_guidance(found: Iterable[Record]) -> Iterator[Record]:
    """The records from the first one that does not start with `#`: what stands above a header in that way is a note
    to the person who fills the file in. A column that is itself called `#` is none.

    >>> [r.cells[0] for r in below_guidance(records("# fill this in\\nRevenue,1\\n#2 product,5\\n", ","))]
    ['Revenue', '#2 product']
    """
    return dropwhile(lambda r: r.problem is None and r.cells[0].startswith("#") and r.cells[0] != "#", found)
