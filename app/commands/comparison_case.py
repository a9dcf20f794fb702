"""One line of `agreement-log compare --cases`: a comparison spelled as a JSON object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.core.comparator import Bounds, ResultSet
from app.core.tagged_json import TaggedJsonRefused, read_tagged_json


class CaseRefused(ValueError):
    """A line that is no case. The message says why without repeating any of it; `case_id` is None where unread."""

    def __init__(self, why: str, case_id: str | int | None = None) -> None:
        super().__init__(why)
        self.case_id = case_id


@dataclass(frozen=True, slots=True)
class ComparisonCase:
    """What a line asks. Sides that are not of the right form stay as they came: the comparator says what is wrong."""

    case_id: str | int | None
    golden: Any
    generated: Any
    golden_sql: Any
    match: Any
    bounds: Bounds | None
    dialect: Any


def read_case(line: bytes) -> ComparisonCase:
    """The case that `line` spells; keys that are not the comparison's (`kind`, `expect`, …) are left alone.

    Raises `CaseRefused` for a line that is not a JSON object, an id that is neither text nor a whole number, and bounds
    that no result could be held to.

    >>> case = read_case(b'{"id": "a", "golden": {"columns": ["n"], "rows": [[1]]}, "generated": null}')
    >>> case.golden, case.generated, case.match
    (ResultSet(1 columns, 1 rows), None, 'exact')
    """
    try:
        fields = read_tagged_json(line)
    except TaggedJsonRefused as refused:
        raise CaseRefused(str(refused)) from None
    if not isinstance(fields, dict):
        raise CaseRefused("it is not a JSON object")
    case_id = fields.get("id")
    if not isinstance(case_id, str | int | None):
        raise CaseRefused("its id is neither text nor a whole number")
    return ComparisonCase(
        case_id,
        _side(fields.get("golden")),
        _side(fields.get("generated")),
        fields.get("golden_sql"),
        fields.get("match", "exact"),
        _bounds(fields.get("bounds"), case_id),
        fields.get("dialect"),
    )


def _side(spelled: Any) -> Any:
    if isinstance(spelled, dict) and {"columns", "rows"} <= spelled.keys():
        return ResultSet(spelled["columns"], spelled["rows"])
    return spelled


def _bounds(spelled: Any, case_id: str | int | None) -> Bounds | None:
    if spelled is None:
        return None
    if not isinstance(spelled, dict) or not spelled.keys() <= {"min_rows", "max_rows", "min_value", "max_value"}:
        raise CaseRefused("its bounds have an edge that is none of min_rows, max_rows, min_value, max_value", case_id)
    try:
        return Bounds(**spelled)
    except ValueError as refused:
        raise CaseRefused(f"its bounds are refused: {refused}", case_id) from None
