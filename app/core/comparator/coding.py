"""Columns as integer codes: two cells, of any column of either side, share a code exactly when they share a key.

`cell_key` says what a cell means; here the same equalities are found without making most of the keys. That the fast
way and the keys agree is a property test.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pyarrow as pa

from app.core.comparator.bulk import bulk_draft, words_are_boolean
from app.core.comparator.cells import Key, boolean_key, cell_key
from app.core.comparator.drafts import Draft, Family, Part, draft_of_keys
from app.core.comparator.rows import Codes, Ids, dense_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

_FAMILIES: tuple[Family, ...] = ("whole", "fraction", "instant", "text", "other")

_KEYED_ONCE = frozenset({type(None), bool, int, float, Decimal, str, date, UUID, bytes})
"""Types whose cells have one key wherever Python calls two of one type equal, and may be looked up by it. Not so
`datetime`: both passes through the hour that a clock repeats are equal to Python, and an hour apart."""


_BULK_FROM = 4_000
"""Cells; setting up Arrow and NumPy for fewer costs more than keying them."""


def code_columns(columns: Sequence[Sequence[Any]], *, round_tail: bool, bulk_from: int = _BULK_FROM) -> list[Codes]:
    """The codes of `columns`, each a sequence of cells; codes are small numbers from 0 up.

    Both sides' columns are given together, for codes mean nothing across calls. `round_tail` is as for `cell_key`;
    `bulk_from`, from how many cells on columns of one plain type are read in bulk. Raises what hostile cells raise.

    >>> one, other = code_columns([[1, None, 2], [2.0, True, "2"]], round_tail=False)
    >>> bool(one[2] == other[0]), len({*one, *other})
    (True, 5)
    """
    in_bulk = sum(map(len, columns)) >= bulk_from
    drafts = [_draft(column, round_tail=round_tail, in_bulk=in_bulk) for column in columns]
    filled = [np.zeros(draft.size, dtype=np.int32) for draft in drafts]
    used = 1
    for family in _FAMILIES:
        parts = [(codes, part) for draft, codes in zip(drafts, filled, strict=True) for part in draft.parts]
        parts = [(codes, part) for codes, part in parts if part.family == family]
        if parts:
            numbers, count = _NUMBERED[family]([part.values for _, part in parts])
            _fill(parts, numbers + used)
            used += count
    return [codes if draft.rows is None else codes[draft.rows] for draft, codes in zip(drafts, filled, strict=True)]


def _fill(parts: Sequence[tuple[Codes, Part]], numbers: Ids) -> None:
    start = 0
    for codes, part in parts:
        end = start + len(part.values)
        codes[slice(None) if part.slots is None else part.slots] = numbers[start:end]
        start = end


def _number_integers(arrays: list[Any]) -> tuple[Ids, int]:
    return dense_ids(np.concatenate(arrays))


def _number_texts(arrays: list[Any]) -> tuple[Ids, int]:
    encoded = pa.concat_arrays(arrays).dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary)


def _number_keys(lists: list[Any]) -> tuple[Ids, int]:
    numbers: dict[Key, int] = {}
    ids = [numbers.setdefault(key, len(numbers)) for keys in lists for key in keys]
    return np.array(ids, dtype=np.int64), len(numbers)


_NUMBERED = {
    "whole": _number_integers,
    "fraction": _number_integers,
    "instant": _number_integers,
    "text": _number_texts,
    "other": _number_keys,
}


def _draft(column: Sequence[Any], *, round_tail: bool, in_bulk: bool) -> Draft:
    bulk = bulk_draft(column, round_tail=round_tail) if in_bulk else None
    if bulk is not None:
        return bulk
    cells, rows = _distinct(column)
    texts = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, str) for cell in texts) and words_are_boolean([str.__str__(cell) for cell in texts]):
        keys = [cell_key(cell) if cell is None else boolean_key(str.__str__(cell)) for cell in cells]
    else:
        keys = [cell_key(cell, round_tail=round_tail) for cell in cells]
    # Families are worth their sorting only where some column is read in bulk.
    return draft_of_keys(keys, rows) if in_bulk else Draft(len(keys), rows, (Part("other", keys, None),))


def _distinct(column: Sequence[Any]) -> tuple[Sequence[Any], Ids | None]:
    """The cells to key, and which of them each row shows; all of them (None) where cells may not be looked up."""
    if not _KEYED_ONCE.issuperset(map(type, column)):
        return column, None
    # With the type: alone, True, 1, 1.0 and Decimal(1) would be one cell.
    pairs = list(zip(map(type, column), column, strict=True))
    try:
        slots = {pair: slot for slot, pair in enumerate(dict.fromkeys(pairs))}
    except TypeError:  # a signalling NaN has no hash
        return column, None
    rows = np.fromiter(map(slots.__getitem__, pairs), dtype=np.int64, count=len(pairs))
    return [cell for _, cell in slots], rows
