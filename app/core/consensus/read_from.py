"""FROM and its joins: a product of sources, left joins after it, and the conditions of the inner joins.

`(A ⟕ B ON p) ⋈ C ON q` is `σ_q((A × C) ⟕ B ON p)`: a row of A meets the same rows of B whether or not it has met C
before, and `q` may look at B as well, since it is applied last. So inner joins gather in front, left joins keep
their order, and the conditions of inner joins go to WHERE. What cannot be put so (the right side of an outer join
that is itself a join) becomes a source of its own, a derived table that gives the columns asked of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp

from app.core.consensus.context import Context, Unread
from app.core.consensus.read_terms import expect, read_term
from app.core.consensus.scope import Cte, Entry, Pending, Read, Scope, query_entry, table_entry
from app.core.consensus.terms import TRUE, Block, Call, Col, Full, Func, Join, Source, Sub, Table, Term

_TABLE_OPTIONS = "this alias db catalog joins laterals"


class FromReader(Protocol):
    ctx: Context
    pending: dict[int, Pending]

    def query(self, node: exp.Expr, scope: Scope) -> Read: ...


@dataclass
class From:
    """What has been read of a FROM clause so far."""

    sources: list[Source] = field(default_factory=list)
    lefts: list[Join] = field(default_factory=list)
    where: list[Term] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)

    def add(self, other: From) -> None:
        self.sources += other.sources
        self.lefts += other.lefts
        self.where += other.where
        self.entries += other.entries


def read_from(select: exp.Expr, scope: Scope, reader: FromReader) -> From:
    """Reads FROM into a `From`; `scope` gains the tables. Raises `Unread`."""
    found = From()
    clause = select.args.get("from_")
    if clause is not None:
        found = _relation(clause.this, scope, reader)
        scope.entries = list(found.entries)
    for join in select.args.get("joins") or ():
        found = _join(found, join, scope, reader)
        scope.entries = list(found.entries)
    for lateral in select.args.get("laterals") or ():
        found.add(_relation(lateral, scope, reader))
        scope.entries = list(found.entries)
    return found


def _relation(node: exp.Expr, scope: Scope, reader: FromReader) -> From:
    """One item of FROM, with the joins that hang on it in brackets."""
    reader.ctx.tick()
    match node:
        case exp.Table():
            found = _table(node, scope, reader)
        case exp.Subquery() if isinstance(node.this, exp.Table):
            expect(node, "this joins alias")
            if node.args.get("alias"):
                raise Unread("an alias for a join")
            found = _relation(node.this, scope, reader)
        case exp.Subquery():
            expect(node, "this alias joins with_ order limit offset")
            found = _derived(node, scope.parent, scope, reader)
        case exp.Lateral():
            expect(node, "this alias cross_apply")
            if not isinstance(node.this, exp.Subquery):
                raise Unread("a lateral table function")
            found = _derived(node, scope, scope, reader)
        case exp.Values():
            found = _values(node, scope, reader)
        case _:
            raise Unread(f"a relation of the kind {node.key}")
    for join in node.args.get("joins") or ():
        inner = Scope(scope.parent, scope.ctes, list(found.entries))
        found = _join(found, join, inner, reader)
    return found


def _table(node: exp.Table, scope: Scope, reader: FromReader) -> From:
    expect(node, _TABLE_OPTIONS)
    if not isinstance(node.this, exp.Identifier):
        raise Unread("a table function")
    name = node.name.lower()
    alias = (node.alias or node.name).lower()
    cte = scope.ctes.get(name) if not node.args.get("db") else None
    if cte is not None:
        return _cte(cte, alias, node, reader)
    columns = node.args["alias"].columns if node.args.get("alias") else ()
    if columns:
        raise Unread("renamed columns of a table")
    full = ".".join(p.name.lower() for p in node.parts)
    src = reader.ctx.fresh()
    info = reader.ctx.schema.get(full)
    table = info.name if info is not None else full
    return From([Source(src, Table(table))], entries=[table_entry(alias, src, info)])


def _cte(cte: Cte, alias: str, node: exp.Table, reader: FromReader) -> From:
    read = reader.query(cte.node, Scope(None, cte.ctes))
    renamed = tuple(c.name.lower() for c in node.args["alias"].columns) if node.args.get("alias") else ()
    return _source(read, alias, renamed or cte.columns, reader)


def _derived(node: exp.Expr, parent: Scope | None, scope: Scope, reader: FromReader) -> From:
    read = reader.query(node.this if isinstance(node, exp.Lateral) else node, Scope(parent, scope.ctes))
    alias = node.args.get("alias")
    columns = tuple(c.name.lower() for c in alias.columns) if alias is not None else ()
    return _source(read, node.alias.lower(), columns, reader)


def _source(read: Read, alias: str, renamed: tuple[str, ...], reader: FromReader) -> From:
    names = (*renamed, *read.names[len(renamed) :])
    if len(renamed) > len(read.names) or (renamed and read.stars):
        raise Unread("more names than columns")
    src = reader.ctx.fresh()
    entry, pending = query_entry(alias, read, names, src)
    reader.pending[src] = pending
    return From([Source(src, read.query)], entries=[entry])


def _values(node: exp.Values, scope: Scope, reader: FromReader) -> From:
    expect(node, "expressions alias")
    rows = [tuple([read_term(e, scope, reader) for e in row.expressions]) for row in node.expressions]
    width = len(rows[0])
    if any(len(r) != width for r in rows):
        raise Unread("rows of different width")
    alias = node.args.get("alias")
    names = tuple(c.name.lower() for c in alias.columns) if alias is not None else ()
    if len(names) != width:
        raise Unread("VALUES without names")
    src = reader.ctx.fresh()
    columns = {n: Col(src, str(i)) for i, n in enumerate(names)}
    entry = Entry(node.alias.lower(), src, names, columns.__getitem__)
    return From([Source(src, Func("values", tuple(Call("row", r) for r in rows)))], entries=[entry])


def _join(left: From, join: exp.Join, scope: Scope, reader: FromReader) -> From:
    expect(join, "this on side kind using method")
    side, kind, method = (str(join.args.get(k) or "").upper() for k in ("side", "kind", "method"))
    if method not in ("", "NATURAL") or kind not in ("", "INNER", "CROSS", "OUTER", "SEMI", "ANTI"):
        raise Unread("a join of an unusual kind")
    if isinstance(join.this, exp.Lateral) and join.this.args.get("cross_apply") is False:
        side = "LEFT"  # OUTER APPLY
    if kind == "OUTER" and not side:
        raise Unread("OUTER JOIN without a side")
    right = _relation(join.this, scope, reader)
    both = Scope(scope.parent, scope.ctes, [*left.entries, *right.entries], dict(scope.merged))
    on = _condition(join, left, right, both, reader, natural=method == "NATURAL", side=side)
    scope.merged = both.merged
    if kind in ("SEMI", "ANTI"):
        if side not in ("", "LEFT"):
            raise Unread("a right semi-join")
        block = Block(tuple(right.sources), tuple(right.lefts), (*right.where, *on), outputs=(TRUE,))
        test: Term = Sub("exists", block)
        left.where.append(test if kind == "SEMI" else Call("not", (test,)))
        return left
    match side:
        case "":
            left.add(right)
            left.where += on
        case "LEFT":
            left.lefts.append(Join(_single(right, reader), on))
            left.entries += right.entries
        case "RIGHT":
            optional = Join(_single(left, reader), on)
            left = From(right.sources, [*right.lefts, optional], right.where, [*left.entries, *right.entries])
        case "FULL":
            full = Full(_single(left, reader), _single(right, reader), on)
            left = From([Source(reader.ctx.fresh(), full)], entries=[*left.entries, *right.entries])
        case _:
            raise Unread("a join of an unusual kind")
    return left


def _condition(  # all that a join joins  # noqa: PLR0913  # all that it is about
    join: exp.Join, left: From, right: From, both: Scope, reader: FromReader, *, natural: bool, side: str
) -> tuple[Term, ...]:
    """The join's condition: its ON, or the equalities of USING and NATURAL, whose columns then count as one."""
    names = [i.name.lower() for i in join.args.get("using") or ()]
    if natural:
        if any(e.open for e in both.entries):
            raise Unread("a natural join over unknown columns")
        theirs = {n for e in right.entries for n in e.names or ()}
        names = [n for e in left.entries for n in e.names or () if n in theirs]
    pairs = []
    for name in names:
        mine = Scope(None, both.ctes, left.entries, dict(both.merged)).bare(name)
        other = Scope(None, both.ctes, right.entries).bare(name)
        if mine is None or other is None:
            raise Unread("unknown column")
        merged: dict[str, Term] = {"RIGHT": other, "FULL": Call("coalesce", (mine, other))}
        both.merged[name] = merged.get(side, mine)
        pairs.append(Call("=", (mine, other)))
    on = join.args.get("on")
    return (*pairs, read_term(on, both, reader)) if on is not None else tuple(pairs)


def _single(side: From, reader: FromReader) -> Source:
    """One side of an outer join as one source; a join in it becomes a derived table of the columns asked of it."""
    if len(side.sources) == 1 and not side.lefts and not side.where and not isinstance(side.sources[0].rel, Full):
        return side.sources[0]
    src = reader.ctx.fresh()
    pending = Pending(src, [])
    reader.pending[src] = pending
    for entry in side.entries:
        entry.through.append(pending)
    return Source(src, Block(tuple(side.sources), tuple(side.lefts), tuple(side.where), outputs=()))
