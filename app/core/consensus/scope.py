"""Which column a name means: the tables in sight of one SELECT, and of those around it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.core.consensus.context import Unread
from app.core.consensus.nulls import Nulls, kind_of
from app.core.consensus.rules.keys import nullable_ids
from app.core.consensus.terms import Block, Col, Free, Kind, Minus, Query, Term, Union

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlglot import exp

    from app.core.consensus.schema import TableInfo


@dataclass
class Pending:
    """A derived table whose outputs are still being asked for; `outputs` is put in its place when all is read."""

    src: int
    outputs: list[Term]

    def expose(self, term: Term) -> Col:
        if term not in self.outputs:
            self.outputs.append(term)
        # Whether it may be NULL is not told: an outer join inside the table may make it so.
        return Col(self.src, str(self.outputs.index(term)), kind_of(term))


@dataclass
class Entry:
    """One table in FROM: its alias, and how a column name becomes a term."""

    alias: str
    src: int
    names: tuple[str, ...] | None
    """Column names in order; None when they are not known."""
    lookup_known: Callable[[str], Term]
    star: Callable[[str], Term] | None = None
    """How a name that is not among the known ones becomes a term, where unknown columns pass through."""
    through: list[Pending] = field(default_factory=list)

    def has(self, name: str) -> bool:
        return self.names is not None and name in self.names

    @property
    def open(self) -> bool:
        return self.names is None or self.star is not None

    def column(self, name: str) -> Term:
        if self.names is None or name in self.names:
            term = self.lookup_known(name)
        elif self.star is not None:
            term = self.star(name)
        else:
            raise Unread("unknown column")
        for pending in self.through:
            term = pending.expose(term)
        return term


@dataclass
class Cte:
    node: exp.Expr
    columns: tuple[str, ...]
    ctes: Mapping[str, Cte]


@dataclass
class Read:
    """A query as read, with the names of its outputs and the tables whose unknown columns it passes on."""

    query: Query
    names: tuple[str, ...]
    stars: tuple[Entry, ...] = ()


@dataclass
class Scope:
    parent: Scope | None
    ctes: Mapping[str, Cte]
    entries: list[Entry] = field(default_factory=list)
    merged: dict[str, Term] = field(default_factory=dict)
    """Columns joined by USING, which are one column to the rest of the statement."""
    aliases: dict[str, Term] = field(default_factory=dict)
    """Output names, for the clauses and dialects that may use them."""

    def qualified(self, alias: str, name: str) -> Term:
        scope: Scope | None = self
        while scope is not None:
            for entry in scope.entries:
                if entry.alias == alias:
                    return entry.column(name)
            scope = scope.parent
        raise Unread("unknown table")

    def bare(self, name: str) -> Term | None:
        """The column an unqualified `name` means, None when no table in sight has it."""
        if name in self.merged:
            return self.merged[name]
        known = [e for e in self.entries if e.has(name)]
        if len(known) > 1:
            raise Unread("ambiguous column")
        if known:
            return known[0].column(name)
        unknown = [e for e in self.entries if e.open]
        outer = self.parent.bare(name) if self.parent is not None else None
        if not unknown:
            return outer
        if len(unknown) == 1 and outer is None:
            return unknown[0].column(name)
        if any(e.through for e in unknown):
            raise Unread("a column that no schema places")
        own = tuple(e.src for e in unknown)
        match outer:
            case None:
                return Free(f"{name}/{len(own)}", own)
            case Col(src, column):
                return Free(f"{name}/{len(own)}/{column}", (*own, src))
            case Free(label, srcs):
                return Free(f"{name}/{len(own)}/{label}", (*own, *srcs))
            case _:
                raise Unread("a column that no schema places")


def table_entry(alias: str, src: int, table: TableInfo | None) -> Entry:
    """The entry of a base table; without a schema any name is a column of it."""
    if table is None:
        return Entry(alias, src, None, lambda name: Col(src, name))
    columns = {c.name: Col(src, c.name, c.kind, c.not_null) for c in table.columns}
    return Entry(alias, src, tuple(columns), columns.__getitem__)


def query_entry(alias: str, read: Read, names: tuple[str, ...], src: int) -> tuple[Entry, Pending]:
    """The entry of a derived table numbered `src`, and its outputs, to which unknown columns may still be added."""
    columns = columns_of(src, read.query)
    pending = Pending(src, list(first_outputs(read.query)))

    def known(name: str) -> Term:
        if names.count(name) > 1:
            raise Unread("ambiguous column")
        return columns[names.index(name)]

    star: Callable[[str], Term] | None = None
    if len(read.stars) == 1 and isinstance(read.query, Block) and read.query.plain:
        inner = read.stars[0]

        def star(name: str) -> Term:
            return pending.expose(inner.column(name))

    return Entry(alias, src, names, known, star), pending


def first_outputs(query: Query) -> tuple[Term, ...]:
    """The outputs of the query's first SELECT: those of a set operation take their names from it."""
    match query:
        case Block():
            return query.outputs
        case Union():
            return first_outputs(query.branches[0])
        case Minus():
            return first_outputs(query.left)


def columns_of(src: int, query: Query) -> tuple[Col, ...]:
    """The columns of `query` as a source numbered `src`, with what is known of their values."""
    kinds = _kinds(query)
    sure = isinstance(query, Block) and not query.sets
    nulls = Nulls(nullable_ids(query)) if isinstance(query, Block) else Nulls()
    return tuple(
        Col(src, str(i), kinds[i], not_null=sure and not nulls.possible(o)) for i, o in enumerate(first_outputs(query))
    )


def _kinds(query: Query) -> list[Kind]:
    """The kinds of a query's columns; `unknown` where the branches of a set operation differ."""
    match query:
        case Block():
            return [kind_of(o) for o in query.outputs]
        case Union():
            return [k[0] if len(set(k)) == 1 else "unknown" for k in zip(*map(_kinds, query.branches), strict=True)]
        case Minus():
            return [a if a == b else "unknown" for a, b in zip(_kinds(query.left), _kinds(query.right), strict=True)]
