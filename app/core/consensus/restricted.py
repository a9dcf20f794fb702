"""Does a statement read a column that nobody may read?

Asking the writers not to is not enough: five can agree on a statement that does. Unsure is yes here, since the cost of
a wrong yes is a round, and of a wrong no a leak.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from app.core.sql import SqlRefused, parse_sql

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from app.core.consensus.context_block import ViewContext


def restricted_columns_read(
    sql: str, views: Sequence[ViewContext], *, dialect: str | None = None
) -> tuple[str, ...] | None:
    """The restricted columns of `views` that `sql` reads, as `view.column`, in order of names.

    It reads them by name, by a `*` over the table (COUNT(*) reads none), as a whole row, or as the key of a USING or
    NATURAL join, and under another name given by a list after the table's alias. A name without a table is taken for the restricted column when its table is anywhere in the
    statement. None: the statement could not be read, and nothing is known of it. Raises nothing.

    >>> from app.core.consensus.context_block import ViewContext
    >>> people = ViewContext("people", "hr.people", (), None, (), ("salary",), None, "")
    >>> restricted_columns_read("SELECT p.name FROM hr.people AS p ORDER BY p.salary", [people])
    ('people.salary',)
    >>> restricted_columns_read("SELECT COUNT(*) FROM hr.people", [people])
    ()
    """
    try:
        statements = parse_sql(sql, dialect)
    except SqlRefused:
        return None
    closed = [view for view in views if view.restricted_columns]
    return tuple(sorted({found for statement in statements for view in closed for found in _read(statement, view)}))


def _read(statement: exp.Expr, view: ViewContext) -> Iterator[str]:
    tables = [table for table in statement.find_all(exp.Table) if _same_table(table, view.table)]
    if not tables:
        return
    ours = {_plain(table.alias_or_name) for table in tables} | {_plain(table.name) for table in tables}
    others = {_plain(t.alias_or_name) for t in statement.find_all(exp.Table, exp.Subquery, exp.CTE) if t not in tables}
    restricted = {_plain(column): f"{view.name}.{column}" for column in view.restricted_columns}
    if any(table.alias_column_names for table in tables):  # `people AS p(a, b)` gives the columns other names
        yield from restricted.values()
    for column in statement.find_all(exp.Column):
        table, name = _plain(column.table), _plain(column.name)
        if table and table not in ours and table in others:
            continue
        if isinstance(column.this, exp.Star) or (not table and name in ours):
            yield from restricted.values()
        elif name in restricted:
            yield restricted[name]
    for select in statement.find_all(exp.Select):
        if any(isinstance(item, exp.Star) for item in select.expressions) and _reads_from(select, tables):
            yield from restricted.values()
    for join in statement.find_all(exp.Join):
        using = {_plain(key.name) for key in join.args.get("using") or ()}
        yield from (restricted[name] for name in using & restricted.keys())
        if join.method.upper() == "NATURAL":
            yield from restricted.values()


def _reads_from(select: exp.Select, tables: Sequence[exp.Table]) -> bool:
    """Whether one of `tables` stands in the FROM or a JOIN of `select` itself, and not of a query inside it."""
    return any(table.find_ancestor(exp.Select) is select for table in tables)


def _same_table(table: exp.Table, wanted: str) -> bool:
    """Whether the names agree as far as both say: `people` and `hr.people` may be the same table."""
    said = [_plain(part.name) for part in table.parts]
    known = [_plain(part) for part in wanted.split(".")]
    shared = min(len(said), len(known))
    return said[-shared:] == known[-shared:]


def _plain(name: str) -> str:
    return name.strip('"`[]').lower()
