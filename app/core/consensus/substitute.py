"""Putting one note's SQL into another's, so that what each means stays the same.

The vault does not say which dialect its SQL is written in, so nothing here parses it: an expression is looked at one
token at a time, and whatever is not plainly one operand gets parentheses.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_LENGTH = 50_000
"""Characters of SQL with everything inlined. Forty fields that each name the last one twice would need a terabyte."""

MAX_WRITTEN = 20_000
"""Characters of SQL in one key of one note."""

_TOKENS = r"""
    (?P<string>'(?:[^']|'')*' | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$)
  | (?P<name>"(?:[^"]|"")*" | `[^`]*` | [^\W\d]\w*)
  | (?P<comment>--[^\n]* | /\*.*?(?:\*/|\Z))
  | (?P<hole>\$\{[^}]*\})
  | (?P<number>\d+(?:\.\d*)?|\.\d+)
  | (?P<sign>\S)
"""
_STANDARD = re.compile(_TOKENS, re.VERBOSE | re.DOTALL)
# BigQuery, Databricks and MySQL escape a quote with a backslash; in the standard, '\' is a whole string.
_BACKSLASH = re.compile(_TOKENS.replace("'(?:[^']|'')*'", r"'(?:[^'\\]|''|\\.)*'"), re.VERBOSE | re.DOTALL)

_HOLES = re.compile(r"\$\{[^}]*\}?")
_HOLE = re.compile(r"\$\{\s*(?:(?P<table>TABLE)|\[\[(?P<name>[^\[\]]+)\]\])\s*\}")
_QUOTES = frozenset("'\"`")
_CLOSES = {")": "(", "]": "[", "}": "{"}
# Words that take what follows as their operand: `NOT (a)` looks like a call and is none.
_PREFIXES = frozenset({"not", "distinct", "interval", "binary", "prior", "all", "any", "some", "select", "case"})


def sql_problem(sql: str) -> str | None:
    """What keeps `sql` from being put into another expression; None when nothing does.

    >>> sql_problem("SUM(${TABLE}.amount")
    'a bracket is not closed'
    >>> sql_problem("COUNT(DISTINCT a, b)")
    """
    if len(sql) > MAX_WRITTEN:
        return f"the SQL is longer than {MAX_WRITTEN} characters"
    if not without_comments(sql):
        return "the SQL is empty"
    for hole in _HOLES.finditer(without_comments(sql)):
        if not _HOLE.fullmatch(hole[0]):
            return f"`{hole[0]}` is not known here; write ${{TABLE}} or ${{[[view.field]]}}"
    depth: list[str] = []
    for kind, token in _tokens(sql):
        if kind in ("sign", "name") and (problem := _shape_problem(token, depth)):
            return problem
    return "a bracket is not closed" if depth else None


def _shape_problem(token: str, depth: list[str]) -> str | None:
    """What is wrong with `token` inside the open brackets `depth`, which it opens or closes."""
    if token in _CLOSES.values():
        depth.append(token)
    elif token in _CLOSES:
        if not depth or depth.pop() != _CLOSES[token]:
            return f"a `{token}` closes nothing"
    elif token in _QUOTES:
        return "a quote is not closed"
    elif token == ";":
        return "it is one expression; take the `;` out"
    elif not depth and token == ",":
        return "it is one expression; take the `,` out or write several notes"
    elif not depth and token.lower() == "as":
        return "it is one expression; take the alias (`AS …`) out"
    return None


def references(sql: str) -> tuple[str, ...]:
    """What `${[[…]]}` in `sql` names, as written, in order, comments left out.

    >>> references("${[[orders.gross]]} - ${[[orders.refunds]]} /* not ${[[orders.tax]]} */")
    ('orders.gross', 'orders.refunds')
    """
    return tuple(m["name"] for m in _HOLE.finditer(without_comments(sql)) if m["name"])


def mentions_table(sql: str) -> bool:
    """Whether `sql` needs a table to stand for `${TABLE}`."""
    return any(m["table"] for m in _HOLE.finditer(without_comments(sql)))


def substitute(sql: str, table: str, fields: Mapping[str, str]) -> str:
    """`sql` without comments, `${TABLE}` replaced by `table`, and each `${[[name]]}` by `fields[name]`.

    `fields` maps names as `references` gives them to SQL that has been through here itself. A replacement is put
    in parentheses unless it is one operand, or stands alone between brackets or commas.
    Raises `OverflowError` when the result is longer than `MAX_LENGTH` characters.

    >>> substitute("${[[o.a]]} * 2", "shop.o", {"o.a": "x + y"})
    '(x + y) * 2'
    >>> substitute("SUM(${[[o.a]]})", "shop.o", {"o.a": "shop.o.x"})
    'SUM(shop.o.x)'
    """
    text = without_comments(sql)
    parts: list[str] = []
    length = at = 0
    for match in _HOLE.finditer(text):
        filled = table if match["table"] else fields[match["name"]]
        before, after = text[: match.start()].rstrip(), text[match.end() :].lstrip()
        alone = (not before or before[-1] in "(,") and (not after or after[0] in "),")
        needs_brackets = bool(match["name"]) and not alone and not _is_operand(filled)
        parts += [text[at : match.start()], f"({filled})" if needs_brackets else filled]
        at = match.end()
        length += len(parts[-1]) + len(parts[-2])
        if length > MAX_LENGTH:
            raise OverflowError
    return "".join([*parts, text[at:]])


def without_comments(sql: str) -> str:
    """`sql` with each comment as one space: a `--` would swallow whatever an inlining puts after it.

    >>> without_comments("a -- gross\\n + '--b'")
    "a  \\n + '--b'"
    """
    return _reader(sql).sub(lambda m: " " if m["comment"] else m[0], sql).strip()


def _is_operand(sql: str) -> bool:
    """Whether `sql` is one literal, one (dotted) name, one call or one bracketed expression."""
    tokens = list(_tokens(sql))
    if len(tokens) == 1:
        return tokens[0][0] in ("string", "name", "number")
    at = 0
    while at < len(tokens) and tokens[at][0] == "name" and (at == 0 or tokens[at - 1][1] == "."):
        at += 1
        if at < len(tokens) and tokens[at][1] == ".":
            at += 1
    if at == len(tokens):
        return tokens[-1][0] == "name"
    if tokens[at][1] != "(" or (at and (tokens[at - 1][1] == "." or tokens[at - 1][1].lower() in _PREFIXES)):
        return False
    depth = 0
    for i, (kind, token) in enumerate(tokens[at:], start=at):
        depth += (token == "(") - (token == ")") if kind == "sign" else 0
        if depth == 0:
            return i == len(tokens) - 1
    return False


def _reader(sql: str) -> re.Pattern[str]:
    unclosed = any(m["sign"] == "'" for m in _STANDARD.finditer(sql))
    return _BACKSLASH if unclosed else _STANDARD


def _tokens(sql: str) -> Iterator[tuple[str, str]]:
    for match in _reader(sql).finditer(sql):
        kind = match.lastgroup
        if kind is not None and kind != "comment":
            yield kind, match[0]
