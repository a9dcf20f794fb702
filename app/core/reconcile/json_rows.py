"""The entries of a JSON list: a text each, or an object each."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from app.core.reconcile.columns import NAMES, Role
from app.core.reconcile.evidence_row import Entry, Skipped
from app.core.reconcile.fold import fold
from app.core.reconcile.parse_value import MAX_EXPONENT
from app.core.reconcile.statement import DIALECT
from app.core.reconcile.table import Fields, entries, text_entry

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPACE = " \t\r\n"


class NotJson(ValueError):
    """The text is no JSON list that can be read. The message holds none of it."""


def json_rows(file: str, text: str, dialect: str | None = DIALECT) -> Iterator[Entry]:
    """The entries of the list in `text`, each with the line it begins on.

    >>> [row] = json_rows("t.json", '[\\n {"metric": "Revenue", "amount": 47238221.00}]')
    >>> row.line, row.expected
    (2, Decimal('47238221.00'))

    Raises `NotJson`.
    """
    try:
        for line, item in _elements(text):
            yield from _entry(file, line, item, dialect)
    except (ValueError, RecursionError):
        raise NotJson("the file is not a JSON list of texts and objects") from None


def _entry(file: str, line: int, item: Any, dialect: str | None) -> Iterator[Entry]:
    match item:
        case str() if item.strip():
            yield from text_entry(file, line, item.strip(), dialect)
        case dict():
            yield from entries(file, line, _fields(item), dialect)
        case _:
            yield Skipped(file, line, "neither a text nor an object")


def _fields(item: dict[str, Any]) -> Fields:
    found: dict[Role, str] = {}
    for key, value in item.items():
        role = NAMES.get(fold(key))
        text = _cell(value)
        if role is not None and role not in found and text:
            found[role] = text
    return Fields(
        label=found.get("label"),
        question=found.get("question"),
        value=found.get("number"),
        statement=found.get("statement"),
    )


def _cell(value: Any) -> str:
    match value:
        case str():
            return value.strip()
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case Decimal():
            return str(value) if abs(value.adjusted()) <= MAX_EXPONENT else "?"
        case None:
            return ""
        case _:
            return "?"  # an object or a list where a cell should be: given, and not readable


def _elements(text: str) -> Iterator[tuple[int, Any]]:
    """The elements one by one, because only a decoder that is asked for each in turn says where it begins."""
    decoder = json.JSONDecoder(parse_float=Decimal, parse_constant=_refuse)
    at = _past_space(text, 0)
    if text[at : at + 1] != "[":
        _, at = decoder.raw_decode(text, at)
        if _past_space(text, at) != len(text):
            raise ValueError
        yield 1, None  # JSON, and no list: read, and nothing in it to use
        return
    at = _past_space(text, at + 1)
    line, counted = 1, 0
    if text[at : at + 1] == "]":
        at += 1
    else:
        while True:
            line += text.count("\n", counted, at)
            counted = at
            item, at = decoder.raw_decode(text, at)
            yield line, item
            at = _past_space(text, at)
            divider = text[at : at + 1]
            at = _past_space(text, at + 1)
            if divider == "]":
                break
            if divider != ",":
                raise ValueError
    if _past_space(text, at) != len(text):
        raise ValueError


def _refuse(_constant: str) -> Any:
    raise ValueError


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
