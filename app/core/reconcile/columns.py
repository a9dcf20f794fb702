"""What the columns of a table mean, by their names or by what stands in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from app.core.reconcile.fold import fold
from app.core.reconcile.parse_value import parse_value
from app.core.reconcile.statement import statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.core.reconcile.records import Record

Role = Literal["label", "number", "statement", "question"]

NAMES: Final[dict[str, Role]] = {
    "label": "label", "metric": "label", "tile": "label", "name": "label", "kpi": "label",
    "value": "number", "expected": "number", "number": "number", "amount": "number",
    "sql": "statement", "statement": "statement", "query": "statement",
    "question": "question", "prompt": "question",
}  # fmt: skip
_NULLS = frozenset({"", "n/a", "na", "#n/a", "null", "none", "nan", "nil", "-", "--", "\u2013", "\u2014"})
_WORD = re.compile(r"[^\W_]+")
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
LOOK_AHEAD: Final = 20
"""Records below the first that tell whether it is a header."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Where each role stands, by position from 0; None where no column has it. Every other column is context, and
    `width` is the number of columns the header names."""

    label: int | None = None
    number: int | None = None
    statement: int | None = None
    question: int | None = None
    width: int = 2

    def taken(self) -> frozenset[int]:
        return frozenset(i for i in (self.label, self.number, self.statement, self.question) if i is not None)


def columns(first: Record, following: Sequence[Record]) -> Columns | None:
    """What the header `first` says of the columns; None when it is no header but a row like the `following` ones.

    A header has a known name in it (`label`, `value`, `sql`, `question` and their like, also within a longer name) and
    neither a number nor SQL; or it has a second cell that is no number above cells that are.

    >>> from app.core.reconcile.records import Record
    >>> columns(Record(1, ("Metric", "Value", "Quarter")), [Record(2, ("Revenue", "4.2M", "Q3"))])
    Columns(label=0, number=1, statement=None, question=None, width=3)

    Arguments: the first record and those below it, as `records` gives them.
    """
    below = [record for record in following[:LOOK_AHEAD] if record.problem is None]
    if first.problem or not below or any(_is_value(cell) for cell in _without_years(first.cells)):
        return None
    named = _by_name(first.cells)
    if named is not None:
        return _completed(named, first, below)
    if len(first.cells) > 1 and not is_null(first.cells[1]) and _mostly_numbers(below, 1):
        return Columns(label=0, number=1, width=len(first.cells))
    return None


def is_null(cell: str) -> bool:
    """Whether a cell says that nothing is there.

    >>> is_null(" N/A "), is_null("0")
    (True, False)
    """
    return fold(cell) in _NULLS


def role_of(name: str) -> Role | None:
    """The role of a column or a key called `name`.

    >>> role_of("Expected value")
    'number'
    >>> role_of("Query name") is None
    True
    """
    folded = fold(name)
    if folded in NAMES:
        return NAMES[folded]
    roles = {NAMES[word] for word in _WORD.findall(folded) if word in NAMES}
    return roles.pop() if len(roles) == 1 else None


def _by_name(cells: Sequence[str]) -> Columns | None:
    found: dict[Role, int] = {}
    # An exact name first: under `Metric, Metric value` the second column is the number, not a second label.
    exact = [(i, NAMES.get(fold(cell))) for i, cell in enumerate(cells)]
    for i, role in [*exact, *((i, role_of(cell)) for i, cell in enumerate(cells))]:
        if role is not None and role not in found and i not in found.values():
            found[role] = i
    return Columns(**found) if found else None


def _completed(named: Columns, first: Record, below: Sequence[Record]) -> Columns:
    free = [i for i in range(len(first.cells)) if i not in named.taken()]
    label, number = named.label, named.number
    if number is None:
        number = next((i for i in free if _mostly_numbers(below, i)), None)
    if label is None and named.question is None:
        label = next((i for i in free if i != number), None)
    return Columns(label, number, named.statement, named.question, width=len(first.cells))


def _without_years(cells: Sequence[str]) -> Sequence[str]:
    """Under `Metric, 2025, 2024` the numbers are names."""
    named = NAMES.get(fold(cells[0])) in ("label", "question")
    return [cell for cell in cells if not (named and _YEAR.fullmatch(cell))]


def _is_value(cell: str) -> bool:
    return cell.startswith("=") or parse_value(cell) is not None or statement(cell).kind != "not_sql"


def _mostly_numbers(below: Sequence[Record], column: int) -> bool:
    cells = [r.cells[column] for r in below if len(r.cells) > column and not is_null(r.cells[column])]
    return bool(cells) and 2 * sum(parse_value(cell) is not None for cell in cells) >= len(cells)
