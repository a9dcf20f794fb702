"""Reading SQL text safely: the one door through which the core hands a statement to sqlglot.

A parser descends once per level of nesting. A pure-Python one runs out of recursion, a compiled one overflows the
native stack and takes the process with it, so size and nesting are checked on the raw text *before* it is parsed.
No error carries any of the text: it may be an answer key.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import sqlglot
from sqlglot import TokenType
from sqlglot.errors import SqlglotError

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

MAX_LENGTH = 1_000_000
"""Characters; sqlglot reads about a megabyte a second, and no person writes a longer statement."""

MAX_NESTING = 150
"""Levels of brackets and CASE; sqlglot takes about fifteen Python frames for each."""

# sqlglot warns of statements that it takes unread ("'EXPLAIN …' contains unsupported syntax"), quoting them: an answer
# key would stand in the log.
logging.getLogger("sqlglot").addFilter(lambda _record: False)

Refusal = Literal["empty", "too_long", "too_deep", "unknown_dialect", "unparseable"]

# One token at a time; quoted text and comments are skipped whole, so that a bracket inside them opens nothing.
_TOKEN = re.compile(
    r"""
      '(?:[^'\\]|''|\\.)*'? | "(?:[^"]|"")*"? | `[^`]*`?
    | \$(?P<tag>[A-Za-z_]\w*)?\$.*?\$(?(tag)(?P=tag))\$
    | --[^\n]* | /\*.*?\*/
    | [A-Za-z_][\w$]* | -> | \S
    """,
    re.VERBOSE | re.DOTALL,
)
# Each of these is one more level when it follows another: `NOT NOT NOT a`.
_PREFIXES = frozenset({"NOT", "-", "+", "~", "!", "->", "INTERVAL", "EXPLAIN"})


class SqlRefused(ValueError):
    """SQL that was not read. `reason` is one of `Refusal`; neither it nor the message holds any of the text."""

    def __init__(self, reason: Refusal) -> None:
        super().__init__(f"the SQL could not be read: {reason}")
        self.reason: Refusal = reason


def nesting(sql: str) -> int:
    """The deepest level that a recursive parser reaches in `sql`: brackets, CASE … END and runs of prefix signs.

    >>> nesting("SELECT ((1)) + CASE WHEN a THEN 'b((' END")
    2
    >>> nesting("SELECT NOT NOT NOT a")
    3
    """
    brackets = cases = run = deepest = 0
    for match in _TOKEN.finditer(sql):
        token = match.group().upper()
        run = run + 1 if token in _PREFIXES else 0
        if token in ("(", "[", "{"):
            brackets += 1
        elif token in (")", "]", "}"):
            brackets = max(0, brackets - 1)
        elif token == "CASE":
            cases += 1
        elif token == "END":
            cases = max(0, cases - 1)
        deepest = max(deepest, brackets + cases + run)
    return deepest


def parse_sql(sql: str, dialect: str | None = None) -> list[Expr]:
    """The statements of `sql`, in order; empty ones (a stray `;`, a comment alone) are left out.

    Arguments: `sql`, at most `MAX_LENGTH` characters; `dialect`, a sqlglot dialect name, None for its own.
    Raises `SqlRefused`, and nothing else, whatever the text.

    >>> [type(s).__name__ for s in parse_sql("SELECT 1; -- done")]
    ['Select']
    """
    if not sql.strip():
        raise SqlRefused("empty")
    if len(sql) > MAX_LENGTH:
        raise SqlRefused("too_long")
    if nesting(sql) > MAX_NESTING:
        raise SqlRefused("too_deep")
    try:
        known = sqlglot.Dialect.get_or_raise(dialect)
    except ValueError:
        raise SqlRefused("unknown_dialect") from None
    try:
        parsed = sqlglot.parse(sql, dialect=known)
    except SqlglotError:
        raise SqlRefused("unparseable") from None
    except RecursionError:
        raise SqlRefused("too_deep") from None
    statements = [s for s in parsed if s is not None and s.key != "semicolon"]
    if not statements:
        raise SqlRefused("empty")
    return statements


@dataclass(frozen=True, slots=True)
class Slice:
    """Where one statement stands in a longer text: from its first token to its last, in characters. The comments
    around it and its semicolon are outside."""

    start: int
    end: int


def split_sql(sql: str, dialect: str | None = None) -> list[Slice]:
    """Where the statements of `sql` stand, split by the dialect's own tokenizer: a semicolon in a literal, a comment or
    a dollar-quoted string ends nothing. The slices are not parsed; one may hold anything.

    Raises `SqlRefused` when the text cannot be cut into tokens.

    >>> text = "SELECT ';'; -- one; two\\nSELECT 2"
    >>> [text[s.start : s.end] for s in split_sql(text)]
    ["SELECT ';'", 'SELECT 2']
    """
    if len(sql) > MAX_LENGTH:
        raise SqlRefused("too_long")
    try:
        known = sqlglot.Dialect.get_or_raise(dialect)
    except ValueError:
        raise SqlRefused("unknown_dialect") from None
    try:
        tokens = known.tokenize(sql)
    except SqlglotError:
        raise SqlRefused("unparseable") from None
    slices: list[Slice] = []
    first = last = None
    for token in tokens:
        if token.token_type == TokenType.SEMICOLON:
            if first is not None and last is not None:
                slices.append(Slice(first.start, last.end + 1))
            first = last = None
        else:
            first, last = first or token, token
    if first is not None and last is not None:
        slices.append(Slice(first.start, last.end + 1))
    return slices
