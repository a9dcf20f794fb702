"""Grouping: keys that add nothing, groups of one row, conditions on keys, and aggregates said in two ways."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.core.consensus.nulls import Nulls, kind_of
from app.core.consensus.rules.env import conjunction
from app.core.consensus.rules.grouped import counts_duplicates, each_aggregate, is_distinct, over_keys, own_aggs
from app.core.consensus.rules.keys import BlockFacts, nullable_ids, proven_not_null
from app.core.consensus.terms import (
    FALSE,
    NULL,
    ONE,
    TRUE,
    Agg,
    Block,
    Call,
    Col,
    Free,
    Lit,
    Source,
    Table,
    Term,
    block_terms,
    has_agg,
    has_window,
    subterms,
)

if TYPE_CHECKING:
    from app.core.consensus.context import Context

ZERO = Lit("0", "int")


def name_aggregates(block: Block, ctx: Context, nulls: Nulls) -> Block:  # one branch for each kind  # noqa: C901  # one branch for each kind
    """Aggregates said in two ways: each as a count where it is one.

    COUNT(x) of what is never NULL counts rows. COUNT(CASE WHEN p THEN x END) and COUNT(x) FILTER (WHERE p) skip the
    same rows; so do SUM, MIN, MAX and AVG, which ignore NULL. In a group, which has a row, SUM(CASE WHEN p THEN 1 ELSE
    0 END) is the count of p; without GROUP BY there may be no row, and SUM is then NULL. MIN and MAX do not see
    duplicates. An aggregate over no rows at all is NULL, or 0 for COUNT.
    """
    if block.group is None:
        return block
    known = nulls.with_nullable(nullable_ids(block)).with_known(proven_not_null(block.where))
    grouped = bool(block.group) and not block.sets

    def change(agg: Agg) -> Term:
        match agg:
            case Agg("count", (Lit(_, "null"),)):
                return ZERO
            case Agg("min" | "max" as op, args, True, where):
                return Agg(op, args, where=where)
            case Agg(_, _, _, (Lit("false", _),)):
                return ZERO if agg.op == "count" else agg
            case Agg(op, (Call("case", (test, value, Lit(_, "null"))),), distinct, where) if op in _SKIP_NULL:
                return Agg(op, (value,), distinct, _both(where, test))
            case Agg("sum", (Call("case", (test, Lit("1", "int"), Lit("0", "int"))),), False, ()) if grouped:
                return Agg("count", (), where=_both((), test))
            case Agg("sum", (Lit("1", "int"),), False, ()) if grouped:
                return Agg("count", ())
            case Agg("count", (arg,), False, where) if not known.with_known(proven_not_null(where)).possible(arg):
                return Agg("count", (), where=where)
            case Agg("count", (arg,), False, where):
                # one way to count what is not NULL
                return agg
            case _:
                return agg

    return each_aggregate(block, change)


_SKIP_NULL = ("count", "sum", "min", "max", "avg")


def _both(where: tuple[Term, ...], test: Term) -> tuple[Term, ...]:
    whole = conjunction([*where, test])
    return () if whole == TRUE else (whole,)


def distinct_inside(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """DISTINCT inside an aggregate says nothing where no two rows of a group share the value."""
    if block.group is None or block.sets or not any(a.distinct for a in own_aggs(block)):
        return block
    facts = BlockFacts(block, ctx)

    def change(agg: Agg) -> Term:
        if agg.distinct and agg.op in ("count", "sum", "avg") and facts.determines([*(block.group or ()), *agg.args]):
            # a value that determines the row comes once; NULL, which is ignored either way, may come often
            return replace(agg, distinct=False)
        return agg

    return each_aggregate(block, change)


def having_to_where(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """A condition on group keys alone takes whole groups, so it may be asked of the rows, before grouping.

    Not so without GROUP BY, where the one group exists even without rows, nor under ROLLUP, which makes keys NULL.
    """
    if not block.group or block.sets:
        return block
    moved = [h for h in block.having if not has_agg(h) and not has_window(h) and over_keys(h, block)]
    if not moved:
        return block
    return replace(block, having=tuple(h for h in block.having if h not in moved), where=(*block.where, *moved))


def reduce_keys(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """A group key that the others determine splits no group: a constant, an equal column, a column of a row whose key
    is grouped by. One key stays, since without any there would be a group even over no rows."""
    if not block.group or block.sets:
        return block
    keys = list(dict.fromkeys(block.group))
    facts = BlockFacts(block, ctx)
    for key in sorted(keys, key=lambda k: _weight(k, block, ctx), reverse=True):
        others = [k for k in keys if k != key]
        roots, done = facts.closure(others)
        if facts.fixed(key, roots, done) and _exactly_fixed(key, others, facts, ctx, done):
            keys = others
    kept: tuple[Term, ...] = tuple(keys) or (ONE,)
    return replace(block, group=kept) if kept != block.group else block


def _exactly_fixed(key: Term, others: list[Term], facts: BlockFacts, ctx: Context, done: set[int]) -> bool:
    """Whether the value itself is fixed, not just what it compares equal to."""
    if isinstance(key, Lit):
        return True
    columns = [t for t in subterms(key) if isinstance(t, Col) and t.src in facts.own]
    free = [c for c in columns if c.src not in done and c not in others]
    return all(ctx.identical(c.kind, c.kind) and _equal_kinds(c, facts) for c in free)


def _equal_kinds(column: Col, facts: BlockFacts) -> bool:
    root = facts.classes.find(column)
    members = [t for t in facts.equated if facts.classes.find(t) == root]
    return all(kind_of(m) == column.kind for m in members)


def _weight(key: Term, block: Block, ctx: Context) -> tuple[int, str]:
    """Which key to try to drop first: expressions, then plain columns, then those of a table's key."""
    if not isinstance(key, Col):
        return (3, type(key).__name__)
    for source in (*block.sources, *[j.source for j in block.lefts]):
        if source.id == key.src and isinstance(source.rel, Table):
            info = ctx.schema.get(source.rel.name)
            in_key = info is not None and any(key.name in k for k in info.keys)
            return (1 if in_key else 2, key.name)
    return (2, key.name)


def single_row_groups(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """Where the group keys determine the row, each group is one row: an aggregate of it is a matter of that row, and
    DISTINCT or GROUP BY on a key does nothing."""
    if not block.group or block.sets:
        return block
    aggs = own_aggs(block)
    if any(a.op not in ("count", "sum", "min", "max") for a in aggs):
        return block
    if any(a.op == "sum" and kind_of(a.args[0]) not in ("int", "decimal", "float") for a in aggs):
        return block
    if any(a.op == "count" and len(a.args) > 1 for a in aggs) or not BlockFacts(block, ctx).determines(block.group):
        return block

    def change(agg: Agg) -> Term:
        tests = list(agg.where)
        if agg.op == "count":
            tests += [Call("not", (Call("isnull", (a,)),)) for a in agg.args]
            return Call("case", (conjunction(tests), ONE, ZERO)) if tests else ONE
        return Call("case", (conjunction(tests), agg.args[0], NULL)) if tests else agg.args[0]

    flat = each_aggregate(block, change)
    return replace(flat, group=None, having=(), where=(*flat.where, *flat.having))


def strip_inner_distinct(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """Where duplicates do not count, a derived table need not remove them: a DISTINCT inside is dropped, and of a UNION
    only the gathering is left."""
    if counts_duplicates(block, ctx):
        return block
    sources = []
    for source in block.sources:
        inner = source.rel
        if isinstance(inner, Block) and is_distinct(inner, ctx) and not inner.limited:
            sources.append(Source(source.id, replace(inner, group=None)))
        else:
            sources.append(source)
    return replace(block, sources=tuple(sources)) if tuple(sources) != block.sources else block


def false_where(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """Without a row that passes, what stands in FROM does not matter."""
    empty = FALSE in block.where or (FALSE in block.having and block.group is not None)
    if not empty or (block.group == () and FALSE not in block.having):
        if FALSE in block.where and block.group == () and block.sources:
            return replace(block, sources=(), lefts=(), where=(FALSE,)) if _no_columns(block) else block
        return block
    if not block.sources and block.group is None and not block.having:
        return block
    return Block(where=(FALSE,), outputs=tuple(NULL for _ in block.outputs))


def _no_columns(block: Block) -> bool:
    return not any(isinstance(t, (Col, Free)) for c in block_terms(block) for t in subterms(c))
