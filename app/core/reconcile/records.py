"""The records of a delimited text, each with the line it begins on."""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass
from itertools import dropwhile, islice
from typing import TYPE_CHECKING, Final

from app.core.reconcile.lines import lines

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

DELIMITERS: Final = ("\t", ",", ";", "|")
MAX_RECORD: Final = 2_000_000
"""Characters. A quote that has not closed by then is one that somebody forgot."""

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
    at, line = 0, 1
    for _ in range(_MAX_REREADS):
        broken = yield from _read(text, delimiter, at, line)
        if broken is None:
            return
        at, line = broken
        yield Record(line - 1, (), "a quote opens on this line and never closes")
    if at < len(text):
        yield Record(line, (), "the quotes of the file cannot be paired from here on")


def _read(text: str, delimiter: str, start: int, line: int) -> Generator[Record, None, tuple[int, int] | None]:
    """The records from the character `start`, which stands on `line`; where the last one never closes its quote, what
    is returned is the character and line below the one it begins on. No more than one record is held at a time."""
    taken: list[str] = []
    given_up = False

    def feed() -> Iterator[str]:
        nonlocal given_up
        size = 0
        for content in lines(text, start):
            size = size + len(content) if taken else len(content)
            taken.append(content)
            yield content
            if size > MAX_RECORD and taken:
                given_up = True
                return  # to the reader the text ends here, within the record it is reading

    at = start
    for cells in csv.reader(feed(), delimiter=delimiter):
        after = at + sum(map(len, taken))
        if given_up or (after == len(text) and _never_closes(taken, delimiter)):
            return at + len(taken[0]), line + 1
        if any(stripped := [cell.strip() for cell in cells]):
            yield Record(line, tuple(stripped))
        at, line = after, line + len(taken)
        taken.clear()
    return None


def _never_closes(record: list[str], delimiter: str) -> bool:
    """Whether a line put below the record is taken into it."""
    return len(list(csv.reader([*record, "\n", "below"], delimiter=delimiter))) == 1


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
