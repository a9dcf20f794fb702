"""A whole statement: from the parsed tree to a query over numbered table occurrences.

One method for each clause, over one state: hence the length.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from app.core.consensus.context import Context, Unread
from app.core.consensus.read_from import read_from
from app.core.consensus.read_terms import expect, number, read_order, read_term
from app.core.consensus.scope import Cte, Entry, Pending, Read, Scope, columns_of
from app.core.consensus.terms import (
    TRUE,
    Block,
    Call,
    Col,
    Full,
    Func,
    Join,
    Lit,
    Minus,
    OrderKey,
    Query,
    Source,
    Sub,
    Table,
    Term,
    Union,
    has_agg,
    rewrite,
)

_SELECT = "expressions kind with_ distinct from_ joins laterals where group having qualify windows order limit offset"


def read_query(statement: exp.Expr, ctx: Context) -> Query:
    """`statement`, one SELECT or set operation, as a query. Raises `Unread` and `OutOfTime`."""
    _refuse_unordered(statement)
    reader = _Reader(ctx)
    read = reader.query(statement, Scope(None, {}))
    return reader.sealed(read.query)


@dataclass
class _Reader:
    ctx: Context
    pending: dict[int, Pending] = field(default_factory=dict)

    def query(self, node: exp.Expr, scope: Scope) -> Read:
        """`node` as a query. `scope` is that of the SELECT around it, or an empty one that carries its CTEs."""
        self.ctx.tick()
        scope = _with_ctes(node, scope)
        match node:
            case exp.Subquery():
                expect(node, "this alias joins with_ order limit offset")
                read = self.query(node.this, scope)
                return self._limited(node, read, scope)
            case exp.Select():
                return self._select(node, scope)
            case exp.Union() | exp.Except() | exp.Intersect():
                expect(node, "this expression distinct with_ order limit offset")
                return self._limited(node, self._operation(node, scope), scope)
            case _:
                raise Unread(f"a query of the kind {node.key}")

    def _operation(self, node: exp.Expr, scope: Scope) -> Read:
        left, right = self.query(node.this, scope), self.query(node.expression, scope)
        if left.stars or right.stars or len(left.names) != len(right.names):
            raise Unread("a set operation over unknown columns")
        distinct = bool(node.args.get("distinct"))
        if isinstance(node, exp.Union):
            query: Query = Union((left.query, right.query))
            return Read(self._distinct(query) if distinct else query, left.names)
        if not distinct:
            return Read(Minus(f"{node.key} all", left.query, right.query), left.names)
        src = self.ctx.fresh()
        mine = tuple(self._columns(src, left.query))
        other = self.ctx.fresh()
        match_all = tuple(Call("same?", pair) for pair in zip(mine, self._columns(other, right.query), strict=True))
        inside: Term = Sub("exists", Block((Source(other, right.query),), where=match_all, outputs=(TRUE,)))
        test = inside if isinstance(node, exp.Intersect) else Call("not", (inside,))
        return Read(Block((Source(src, left.query),), where=(test,), group=mine, outputs=mine), left.names)

    def _columns(self, src: int, query: Query) -> list[Col]:
        return list(columns_of(src, query))

    def _distinct(self, query: Query) -> Block:
        src = self.ctx.fresh()
        columns = tuple(self._columns(src, query))
        return Block((Source(src, query),), group=columns, outputs=columns)

    def _limited(self, node: exp.Expr, read: Read, scope: Scope) -> Read:
        """ORDER BY and LIMIT that stand after a set operation or a bracket."""
        if not any(node.args.get(k) for k in ("order", "limit", "offset")):
            return read
        src = self.ctx.fresh()
        columns = tuple(self._columns(src, read.query))
        entry = Entry("", src, read.names, dict(zip(read.names, columns, strict=True)).__getitem__)
        inner = Scope(scope.parent, scope.ctes, [entry])
        block = Block((Source(src, read.query),), outputs=columns)
        return Read(self._ordered(node, block, inner, read.names), read.names, read.stars)

    def _select(self, node: exp.Select, outer: Scope) -> Read:
        expect(node, _SELECT)
        if node.args.get("kind"):
            raise Unread("SELECT AS STRUCT")
        scope = Scope(outer if outer.entries or outer.parent else None, outer.ctes)
        named_windows(node)
        found = read_from(node, scope, self)

        def term(inner: exp.Expr) -> Term:
            return read_term(inner, scope, self)

        names, outputs, stars = self._outputs(node, scope)
        scope.aliases = {n: t for n, t in zip(names, outputs, strict=True) if n}
        where = [*found.where, *([term(node.args["where"].this)] if node.args.get("where") else [])]
        group, sets = self._group(node, scope, outputs)
        having = (term(node.args["having"].this),) if node.args.get("having") else ()
        self._refuse_shadowed(node, scope)
        if group is None and (having or any(map(has_agg, outputs)) or _orders_by_aggregate(node)):
            group = ()
        block = Block(tuple(found.sources), tuple(found.lefts), tuple(where), group, sets, having, tuple(outputs))
        block = self._deduplicated(node, block, scope, names)
        return Read(block, tuple(names), tuple(stars))

    def _outputs(self, node: exp.Select, scope: Scope) -> tuple[list[str], list[Term], list[Entry]]:
        names: list[str] = []
        outputs: list[Term] = []
        stars: list[Entry] = []
        for item in node.expressions:
            inner = item.this if isinstance(item, exp.Column) and isinstance(item.this, exp.Star) else item
            if isinstance(inner, exp.Star):
                expect(inner, "this")
                alias = item.table.lower() if isinstance(item, exp.Column) else None
                self._star(alias, scope, names, outputs, stars)
                continue
            names.append(item.alias_or_name.lower() if not isinstance(item, exp.Dot) else "")
            outputs.append(read_term(item.unalias(), scope, self))
            # Later items may name earlier ones in some dialects, but only where no column has the name.
            scope.aliases.setdefault(names[-1], outputs[-1])
        return names, outputs, stars

    def _star(self, alias: str | None, scope: Scope, names: list[str], outputs: list[Term], stars: list[Entry]) -> None:
        entries = [e for e in scope.entries if alias is None or e.alias == alias]
        if not entries:
            raise Unread("a star over no table")
        if alias is None:
            names += scope.merged
            outputs += scope.merged.values()
        for entry in entries:
            if entry.names is None:
                if entry.through or scope.merged:
                    raise Unread("a star over unknown columns inside a join")
                names.append("")
                outputs.append(Call("star", (Col(entry.src, "*"),)))
                stars.append(entry)
                continue
            if entry.star is not None:
                stars.append(entry)
            for position, name in enumerate(entry.names):
                if alias is None and name in scope.merged:
                    continue
                names.append(name)
                twice = entry.names.count(name) > 1 or not name
                outputs.append(Col(entry.src, str(position)) if twice and not entry.through else entry.column(name))

    def _group(
        self, node: exp.Select, scope: Scope, outputs: list[Term]
    ) -> tuple[tuple[Term, ...] | None, tuple[Term, ...]]:
        clause = node.args.get("group")
        if clause is None:
            return None, ()
        expect(clause, "expressions rollup cube grouping_sets")

        def term(inner: exp.Expr) -> Term:
            return self._by_position(inner, outputs) or read_term(inner, scope, self)

        keys: list[Term] = []
        sets: list[Term] = []
        with_rollup = False
        extra = [g for k in ("rollup", "cube", "grouping_sets") for g in clause.args.get(k) or ()]
        for item in (*clause.expressions, *extra):
            if isinstance(item, (exp.Rollup, exp.Cube, exp.GroupingSets)):
                with_rollup = with_rollup or not item.expressions
                parts = [
                    Call("set", tuple(term(e) for e in (p.expressions if isinstance(p, exp.Tuple) else [p.unnest()])))
                    for p in item.expressions
                ]
                sets.append(Call(item.key, tuple(parts)))
            else:
                keys.append(term(item))
        if with_rollup:
            sets = [Call(s.op, tuple(keys)) if isinstance(s, Call) and not s.args else s for s in sets]
            keys = []
        return tuple(keys), tuple(sets)

    def _refuse_shadowed(self, node: exp.Select, scope: Scope) -> None:
        """A name in HAVING or GROUP BY that is both a column and another output: dialects differ in what it means."""
        strict = node.args.get("group") if self.ctx.dialect not in _COLUMN_FIRST else None
        for clause in (node.args.get("having"), strict):
            for column in clause.find_all(exp.Column) if clause is not None else ():
                name = column.name.lower()
                if not column.table and name in scope.aliases and scope.bare(name) not in (None, scope.aliases[name]):
                    raise Unread("a name of two meanings")

    def _by_position(self, node: exp.Expr, outputs: list[Term]) -> Term | None:
        if isinstance(node, exp.Literal) and not node.args.get("is_string"):
            if not node.name.isdigit() or not 1 <= int(node.name) <= len(outputs):
                raise Unread("a position out of range")
            if any(isinstance(o, Call) and o.op == "star" for o in outputs):
                raise Unread("a position beside unknown columns")
            return outputs[int(node.name) - 1]
        return None

    def _deduplicated(self, node: exp.Select, block: Block, scope: Scope, names: list[str]) -> Block:
        """QUALIFY, DISTINCT, ORDER BY and LIMIT, each around what stands before it."""
        qualify = node.args.get("qualify")
        distinct = node.args.get("distinct")
        if qualify is not None:
            if node.args.get("order") or distinct:
                raise Unread("QUALIFY with an order")
            test = read_term(qualify.this, scope, self)
            src = self.ctx.fresh()
            inner = replace(block, outputs=(*block.outputs, test))
            columns = tuple(self._columns(src, inner))
            return Block((Source(src, inner),), where=(columns[-1],), outputs=columns[:-1])
        if distinct is None:
            return self._ordered(node, block, scope, tuple(names))
        if distinct.args.get("on") is not None:
            on = distinct.args["on"]
            keys = on.expressions if isinstance(on, exp.Tuple) else [on]
            pick = tuple([read_term(k, scope, self) for k in keys])
            return replace(self._ordered(node, block, scope, tuple(names)), pick=pick)
        if block.plain:
            block = replace(block, group=block.outputs)
            return self._ordered(node, block, scope, tuple(names))
        ordered = self._ordered(node, block, scope, tuple(names))
        src = self.ctx.fresh()
        columns = tuple(self._columns(src, block))
        positions = dict(zip(block.outputs, columns, strict=True))
        if any(k.term not in positions for k in ordered.order):
            raise Unread("DISTINCT ordered by what is not selected")
        order = tuple(OrderKey(positions[k.term], k.desc, k.nulls_first) for k in ordered.order)
        outer = Block((Source(src, block),), group=columns, outputs=columns, order=order)
        return replace(outer, limit=ordered.limit, offset=ordered.offset, ties=ordered.ties)

    def _ordered(self, node: exp.Expr, block: Block, scope: Scope, names: tuple[str, ...]) -> Block:
        outputs = list(block.outputs)

        def key(inner: exp.Expr) -> Term:
            found = self._by_position(inner, outputs)
            if found is not None:
                return found
            if isinstance(inner, exp.Column) and not inner.table and names.count(inner.name.lower()) == 1:
                return outputs[names.index(inner.name.lower())]
            return read_term(inner, scope, self)

        order = node.args.get("order")
        if order is not None:
            expect(order, "expressions")
            block = replace(block, order=read_order(order.expressions, key))
        limit, offset = node.args.get("limit"), node.args.get("offset")
        ties = False
        count: Term | None = None
        if isinstance(limit, exp.Fetch):
            expect(limit, "direction count limit_options")
            options = limit.args.get("limit_options")
            if options is not None and options.args.get("percent"):
                raise Unread("a limit in per cent")
            ties = options is not None and bool(options.args.get("with_ties"))
            count = self._constant(limit.args.get("count")) if limit.args.get("count") is not None else Lit("1", "int")
        elif limit is not None:
            expect(limit, "expression offset")
            count = self._constant(limit.expression)
            offset = limit.args.get("offset") or offset
        if offset is not None:
            start = self._constant(offset.expression if isinstance(offset, exp.Offset) else offset)
            block = replace(block, offset=None if start == Lit("0", "int") else start)
        return replace(block, limit=count, ties=ties)

    def _constant(self, node: exp.Expr | None) -> Term:
        node = node.unnest() if node is not None else None
        if not isinstance(node, exp.Literal) or node.args.get("is_string"):
            raise Unread("a limit that is no number")
        return number(node.name)

    def sealed(self, query: Query) -> Query:
        """`query` with the outputs that were asked of derived tables while the rest was read."""
        match query:
            case Union():
                return Union(tuple([self.sealed(b) for b in query.branches]))
            case Minus():
                return Minus(query.op, self.sealed(query.left), self.sealed(query.right))
            case Block():
                return self._sealed_block(query)

    def _sealed_block(self, block: Block) -> Block:
        def change(term: Term) -> Term:
            return rewrite(term, lambda t: Sub(t.op, self.sealed(t.query), t.args) if isinstance(t, Sub) else t)

        def each(terms: tuple[Term, ...]) -> tuple[Term, ...]:
            return tuple([change(t) for t in terms])

        return replace(
            block,
            sources=tuple([self._sealed_source(s) for s in block.sources]),
            lefts=tuple([Join(self._sealed_source(j.source), each(j.on)) for j in block.lefts]),
            where=each(block.where),
            group=None if block.group is None else each(block.group),
            having=each(block.having),
            outputs=each(block.outputs),
            order=tuple([OrderKey(change(k.term), k.desc, k.nulls_first) for k in block.order]),
        )

    def _sealed_source(self, source: Source) -> Source:
        match source.rel:
            case Table() | Func():
                return source
            case Full(left, right, on):
                return Source(source.id, Full(self._sealed_source(left), self._sealed_source(right), on))
            case Block() if source.id in self.pending:
                grown = replace(source.rel, outputs=tuple(self.pending[source.id].outputs))
                return Source(source.id, self.sealed(grown))
            case _:
                return Source(source.id, self.sealed(source.rel))


# Aggregates whose value does not depend on the order of the rows.
_ORDERLESS = (
    exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance,
    exp.VariancePop, exp.ApproxDistinct, exp.Median, exp.LogicalAnd, exp.LogicalOr, exp.CountIf,
)  # fmt: skip


def _refuse_unordered(statement: exp.Expr) -> None:
    """Refuses what sees an order of rows that the statement does not give: its value is the engine's choice."""
    for node in statement.find_all(exp.AggFunc):
        if (
            not isinstance(node, _ORDERLESS)
            and node.find(exp.Order) is None
            and not isinstance(node.parent, exp.Window)
        ):
            raise Unread("an aggregate that sees the order of rows")
    for window in statement.find_all(exp.Window):
        if window.args.get("order") is None and not isinstance(window.this.unnest(), _ORDERLESS):
            raise Unread("a window function that sees the order of rows")


def named_windows(node: exp.Select) -> None:
    if node.args.get("windows"):
        raise Unread("named windows")


# Dialects that look for a column before an output of the same name in GROUP BY.
_COLUMN_FIRST = frozenset({None, "postgres", "mysql", "sqlite", "duckdb", "tsql", "spark", "snowflake"})


def _with_ctes(node: exp.Expr, scope: Scope) -> Scope:
    clause = node.args.get("with_")
    if clause is None:
        return scope
    if clause.args.get("recursive"):
        raise Unread("WITH RECURSIVE")
    ctes = dict(scope.ctes)
    for cte in clause.expressions:
        columns = tuple(c.name.lower() for c in cte.args["alias"].columns)
        ctes[cte.alias.lower()] = Cte(cte.this, columns, dict(ctes))
    return Scope(scope.parent, ctes, scope.entries, scope.merged, scope.aliases)


def _orders_by_aggregate(node: exp.Expr) -> bool:
    order = node.args.get("order")
    return order is not None and any(isinstance(k.this.unnest(), exp.AggFunc) for k in order.expressions)
