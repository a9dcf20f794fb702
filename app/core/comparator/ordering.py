"""Does the golden statement order its rows, and by which of its output columns?

Read off the parsed statement's own ORDER BY. A search for the words, or anywhere in the tree, would find the ones of
subqueries, windows and aggregates, which order something else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from app.core.comparator.names import folded_name
from app.core.sql import SqlRefused, parse_sql

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNREADABLE_KEY = (
    "an ORDER BY key cannot be read off the golden columns: tied rows, if any, were compared position by position"
)


@dataclass(frozen=True, slots=True)
class Ordering:
    """`tie_columns`: the golden columns (by index) that rows are ordered by, rows alike in all of them having no order
    of their own; empty where that cannot be told, and every row then stands at its position."""

    sensitive: bool
    tie_columns: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


def read_ordering(sql: str | None, columns: Sequence[str], dialect: str | None = None) -> Ordering:
    """The ordering of the statement `sql`, whose result has these `columns`.

    A statement that cannot be read is assumed to be ordered, with a note: a visible false failure can be repaired, a
    silent weakening cannot. Raises nothing.

    >>> read_ordering("SELECT a, n FROM t ORDER BY n DESC", ["a", "n"])
    Ordering(sensitive=True, tie_columns=(1,), notes=())
    >>> read_ordering("SELECT a FROM (SELECT a FROM t ORDER BY a) x", ["a"]).sensitive
    False
    >>> read_ordering(None, ["a"]).notes
    ('order assumed: there is no golden SQL',)
    """
    if sql is None:
        return _assumed("there is no golden SQL")
    if not isinstance(sql, str) or not isinstance(dialect, str | None):
        return _assumed("the golden SQL or its dialect is not text")
    try:
        statements = parse_sql(sql, dialect)
        if len(statements) != 1:
            return _assumed("the golden SQL is several statements")
        return _of_statement(statements[0], columns)
    except SqlRefused as refused:
        return _assumed(f"the golden SQL could not be read ({refused.reason})")
    except Exception as failure:  # noqa: BLE001  (a parser's own fault must not cost the score; its type is said)
        return _assumed(f"the golden SQL could not be read ({type(failure).__name__})")


def _assumed(why: str) -> Ordering:
    return Ordering(sensitive=True, notes=(f"order assumed: {why}",))


def _of_statement(statement: exp.Expr, columns: Sequence[str]) -> Ordering:
    node = statement
    # Brackets around a whole statement change nothing; one that orders what is inside them has an ORDER BY itself.
    while isinstance(node, exp.Subquery) and not node.args.get("order"):
        node = node.this
    if not isinstance(node, exp.Query | exp.Values):
        return _assumed("the golden SQL is not a query")
    order = node.args.get("order")
    if order is None:
        return Ordering(sensitive=False)
    output = _Output(node, columns)
    keys = [output.index_of(ordered.this) for ordered in order.expressions]
    found = tuple(key for key in keys if key is not None)
    if len(found) < len(keys) or not keys:
        return Ordering(sensitive=True, notes=(_UNREADABLE_KEY,))
    return Ordering(sensitive=True, tie_columns=found)


class _Output:
    """The golden output columns, as an ORDER BY key may name them."""

    def __init__(self, node: exp.Expr, columns: Sequence[str]) -> None:
        # Over a set operation or a bracketed query only names and ordinals reach the output.
        self._is_select = isinstance(node, exp.Select)
        while isinstance(node, exp.Subquery | exp.SetOperation):
            node = node.this
        self._items: list[exp.Expr] = list(node.expressions) if isinstance(node, exp.Select) else []
        self._stars = [item for item in self._items if item.is_star]
        self._readable = bool(self._stars) or not self._items or len(self._items) == len(columns)
        # The statement's own names where it lists them: a driver may have renamed what it handed over.
        listed = self._items and not self._stars
        self._names = [i.alias_or_name.casefold() for i in self._items] if listed else [folded_name(c) for c in columns]

    def index_of(self, key: exp.Expr) -> int | None:
        """The one column that `key` certainly is, or None."""
        if not self._readable:
            return None
        if isinstance(key, exp.Literal):
            position = int(key.this) if key.is_int else 0
            return position - 1 if 0 < position <= len(self._names) else None
        if isinstance(key, exp.Column):
            return self._of_column(key)
        return None if self._stars else self._of_expression(key)

    def _of_column(self, key: exp.Column) -> int | None:
        name = key.name.casefold()
        named = [i for i, output in enumerate(self._names) if output == name]
        if not key.table and named:
            return named[0] if len(named) == 1 else None
        if not self._stars:
            return self._of_expression(key)
        # `t.a` behind a `*`: the only output column named `a`, where nothing but a star of `t` can have brought it.
        plain = all(star == exp.Star() or star.args.get("table") == key.args.get("table") for star in self._stars)
        others = [item.alias_or_name.casefold() for item in self._items if not item.is_star]
        return named[0] if plain and len(named) == 1 and name not in others else None

    def _of_expression(self, key: exp.Expr) -> int | None:
        if not self._is_select:
            return None
        found = [i for i, item in enumerate(self._items) if _same(item.unalias(), key)]
        return found[0] if found else None


def _same(item: exp.Expr, key: exp.Expr) -> bool:
    if not (isinstance(item, exp.Column) and isinstance(key, exp.Column)):
        return bool(item == key)
    # A name without qualifier was unambiguous, or the statement would not have run: `a` beside `t.a` is `t.a`.
    tables = {column.table.casefold() for column in (item, key) if column.table}
    return item.name.casefold() == key.name.casefold() and len(tables) < 2
