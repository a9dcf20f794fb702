"""Does a statement read a column that nobody may read?

Asking the writers not to is not enough: five can agree on a statement that does. Unsure is yes here, since the cost of
a wrong yes is a round, and of a wrong no a leak.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from app.core.sql import SqlRefused, parse_sql

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from app.core.consensus.context_block import ViewContext


def restricted_columns_read(
    sql: str, views: Sequence[ViewContext], *, dialect: str | None = None
) -> tuple[str, ...] | None:
    """The restricted columns of `views` that `sql` reads, as `view.column`, in order of names.

    It reads them by name, by a `*` over the table (COUNT(*) reads none), as a whole row, as the key of a USING or
    NATURAL join, or renamed by a list after the table's alias. A name without a table is taken for the restricted
    column when its table is anywhere in the statement. None: the statement could not be read, and nothing is known
    of it. Raises nothing.

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
    restricted = {_plain(column): f"{view.name}.{column}" for column in view.restricted_columns}
    if tables and _reads_all(statement, tables):
        yield from restricted.values()
    elif tables:
        yield from (restricted[name] for name in _names_read(statement, tables) if name in restricted)


def _names_read(statement: exp.Expr, tables: Sequence[exp.Table]) -> Iterator[str]:
    """The names of columns that may be of `tables`, which are those not plainly of another."""
    others = _names_of(t for t in statement.find_all(exp.Table, exp.Subquery, exp.CTE) if t not in tables)
    foreign = others - _names_of(tables)
    for column in statement.find_all(exp.Column):
        if _plain(column.table) not in foreign:
            yield _plain(column.name)
    for join in statement.find_all(exp.Join):
        yield from (_plain(key.name) for key in join.args.get("using") or ())


def _reads_all(statement: exp.Expr, tables: Sequence[exp.Table]) -> bool:
    """Whether the statement takes whole rows of `tables`, or gives their columns other names."""
    ours = _names_of(tables)
    columns = list(statement.find_all(exp.Column))
    return (
        any(table.alias_column_names for table in tables)
        or any(isinstance(c.this, exp.Star) and _plain(c.table) in ours for c in columns)
        or any(not c.table and _plain(c.name) in ours for c in columns)
        or any(join.method.upper() == "NATURAL" for join in statement.find_all(exp.Join))
        or any(
            star.parent_select is not None and _reads_from(star.parent_select, tables)
            for star in _bare_stars(statement)
        )
    )


def _bare_stars(statement: exp.Expr) -> Iterator[exp.Star]:
    """Each `*` that stands for all columns: not the one of COUNT(*), nor of `t.*`, which has a table to go by."""
    return (star for star in statement.find_all(exp.Star) if isinstance(star.parent, exp.Select))


def _names_of(tables: Iterable[exp.Expr]) -> set[str]:
    return {_plain(name) for table in tables for name in (table.alias_or_name, table.name) if name}


def _reads_from(select: exp.Expr, tables: Sequence[exp.Table]) -> bool:
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
