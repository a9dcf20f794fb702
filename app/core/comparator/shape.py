"""The coarse type of a column: what the `shape` level asks of it."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from app.core.comparator.bulk import words_are_boolean
from app.core.comparator.cells import Key, cell_key

if TYPE_CHECKING:
    from collections.abc import Sequence

CoarseType = Literal["bool", "number", "date", "text"]

_COARSE: dict[str, CoarseType] = {"bool": "bool", "number": "number", "nan": "number", "instant": "date"}
_PLAIN: dict[type, CoarseType] = {bool: "bool", int: "number", float: "number", Decimal: "number"}


def coarse_type(column: Sequence[Any]) -> CoarseType | None:
    """The one coarse type of the cells that are not NULL; text where they are of several, or of none of the others.

    None where every cell is NULL: such a column has no type and constrains nothing. Raises what hostile cells raise.

    >>> coarse_type([1, None, 2.5]), coarse_type(["yes", "no"]), coarse_type(["2026-01-02", "soon"])
    ('number', 'bool', 'text')
    >>> coarse_type([None])
    """
    plain = {_PLAIN.get(kind) for kind in set(map(type, column)) - {type(None)}}
    if len(plain) == 1 and None not in plain:
        return plain.pop()
    if {str, type(None)}.issuperset(map(type, column)) and words_are_boolean(
        list({c for c in column if c is not None})
    ):
        return "bool"
    tags = {key[0] for key in map(_key, column)} - {"null"}
    kinds = {_COARSE.get(tag, "text") for tag in tags}
    return kinds.pop() if len(kinds) == 1 else "text" if kinds else None


def _key(cell: Any) -> Key:
    return cell_key(cell)
