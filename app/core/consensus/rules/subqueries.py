"""Subqueries in conditions: EXISTS, and the joins that say the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.core.consensus.nulls import Nulls, kind_of
from app.core.consensus.rules.conditions import as_plain
from app.core.consensus.rules.env import Env
from app.core.consensus.rules.grouped import counts_duplicates, is_distinct, own_aggs
from app.core.consensus.rules.joins import reads_of, substituted
from app.core.consensus.rules.keys import BlockFacts, equalities
from app.core.consensus.rules.merging import without
from app.core.consensus.terms import (
    TRUE,
    Agg,
    Block,
    Call,
    Col,
    Ext,
    Join,
    Lit,
    Source,
    Sub,
    Table,
    Term,
    block_terms,
    occurrences,
    rewrite,
    rewrite_block,
    subterms,
)

if TYPE_CHECKING:
    from app.core.consensus.context import Context


def clean_exists(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """What EXISTS asks is whether there is a row: its outputs, order, DISTINCT and a limit above zero say nothing, a
    grouping by keys has a group just where there is a row, and an aggregate without GROUP BY always has its row."""

    def change(term: Term) -> Term:
        match term:
            case Sub("exists", Block() as inner, _):
                if inner.group == () and not inner.having and not inner.limited:
                    return TRUE
                kept = replace(inner, outputs=(TRUE,), order=(), pick=())
                if inner.offset is None and isinstance(inner.limit, Lit) and inner.limit.value != "0":
                    kept = replace(kept, limit=None, ties=False)
                if inner.group and not inner.sets and not inner.having and not kept.limited:
                    kept = replace(kept, group=None)
                if inner.limited and kept.limited:
                    return term
                return Sub("exists", kept)
            case Call("isnull", (Sub("scalar", Block() as inner, _),)) if _constant_row(inner):
                return Call("not", (Sub("exists", replace(inner, limit=None, order=(), outputs=(TRUE,))),))
            case _:
                return term

    if not any(isinstance(t, Sub) for c in block_terms(block) for t in subterms(c)):
        return block
    return rewrite_block(block, change)


def _constant_row(inner: Block) -> bool:
    """Whether a scalar subquery is a constant where it has a row: then it is NULL just where it has none."""
    one = inner.limit == Lit("1", "int") and inner.offset is None and not inner.ties
    return one and inner.group is None and isinstance(inner.outputs[0], Lit) and inner.outputs[0].kind != "null"


def exists_to_join(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """EXISTS over rows of which at most one can match is an inner join to that row; where duplicates do not count,
    every EXISTS is a join. Left joins of the subquery follow, as they are after the product anyway."""
    for condition in block.where:
        if not (isinstance(condition, Sub) and condition.op == "exists" and isinstance(condition.query, Block)):
            continue
        inner = condition.query
        if not inner.plain:
            inner = as_plain(inner, Env(ctx, nulls))
            if isinstance(condition.query, Block) and condition.query.limited:
                continue
        if not counts_duplicates(block, ctx) or BlockFacts(inner, ctx).determines(()):
            rest = tuple(c for c in block.where if c != condition)
            return replace(
                block,
                sources=(*block.sources, *inner.sources),
                lefts=(*block.lefts, *inner.lefts),
                where=(*rest, *inner.where),
            )
    return block


def distinct_join_to_exists(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """A join to a DISTINCT derived table on all its columns asks only whether there is a row with these values.

    At most one row matches, and what is read of it equals what it is joined to.
    """
    for source in block.sources:
        inner = source.rel
        if not isinstance(inner, Block) or not is_distinct(inner, ctx) or inner.limited or len(block.sources) == 1:
            continue
        equal: dict[Term, Term] = {}
        for pair in equalities(block.where):
            for mine, other in (pair, pair[::-1]):
                if isinstance(mine, Col) and mine.src == source.id and source.id not in occurrences(other):
                    equal.setdefault(mine, other)
        rest = without(block, source.id)
        if not BlockFacts(block, ctx).ctx or not _keyed(inner, equal):
            continue
        tests = [c for c in block.where if source.id in occurrences(c)]
        outside = replace(rest, where=tuple(c for c in block.where if c not in tests))
        read = reads_of(outside, source.id)
        if any(t not in equal or not ctx.identical(kind_of(t), kind_of(equal[t])) for t in read):
            continue
        changed = substituted(outside, {t: equal[t] for t in read})
        plain = replace(inner, group=None)
        exists = Sub("exists", Block((Source(source.id, plain),), where=tuple(tests), outputs=(TRUE,)))
        return replace(changed, where=(*changed.where, exists))
    return block


def _keyed(inner: Block, equal: dict[Term, Term]) -> bool:
    """Whether every group key of `inner` is an output that is equated."""
    positions = {int(m.name) for m in equal if isinstance(m, Col)}
    given = {inner.outputs[p] for p in positions}
    return all(isinstance(k, Lit) or k in given for k in inner.group or ())


def flatten_scalar(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """A scalar subquery that finds its row by a key is a left join: one row or none, and NULL for none.

    That it never has several rows is what the key proves; otherwise it would be an error, which no join gives.
    """
    if block.group is not None or block.limited:
        return block
    inside = {i for s in block.sources for i in s.ids} | {i for j in block.lefts for i in j.source.ids}
    for term in (t for c in (*block.outputs, *block.where) for t in _visible(c)):
        match term:
            case Sub("scalar", Block() as inner, _) if inner.plain and len(inner.sources) == 1 and not inner.lefts:
                only = inner.sources[0]
                if isinstance(only.rel, Table) and inside and BlockFacts(inner, ctx).determines(()):
                    if any(isinstance(t, Sub) for c in inner.where for t in subterms(c)):
                        continue
                    change: dict[Term, Term] = {term: Ext(only.id, inner.outputs[0])}
                    return replace(
                        block,
                        lefts=(*block.lefts, Join(only, inner.where)),
                        outputs=tuple([rewrite(o, lambda t, ch=change: ch.get(t, t)) for o in block.outputs]),  # type: ignore[misc]  # as above
                        where=tuple([rewrite(o, lambda t, ch=change: ch.get(t, t)) for o in block.where]),  # type: ignore[misc]
                    )
            case _:
                pass
    return block


def _visible(term: Term) -> list[Term]:
    """`term` and its parts, subqueries taken whole."""
    match term:
        case Call(_, args):
            return [term, *[t for a in args for t in _visible(a)]]
        case Sub(_, _, args):
            return [term, *[t for a in args for t in _visible(a)]]
        case _:
            return [term]


def keyed_group_to_scalar(block: Block, ctx: Context, nulls: Nulls) -> Block:  # one condition after the other  # noqa: C901  # one condition after the other
    """A left join to a derived table on all that it is grouped by is, for each of its columns, the aggregate over the
    rows with these values: a scalar subquery. Over no rows the aggregate is NULL, as the unmatched join is; COUNT is 0
    there, so it is made NULL."""
    for join in block.lefts:
        inner = join.source.rel
        if not isinstance(inner, Block) or not inner.group or inner.sets or inner.having or inner.limited:
            continue
        equal: dict[int, Term] = {}
        for pair in equalities(join.on):
            for mine, other in (pair, pair[::-1]):
                if isinstance(mine, Col) and mine.src == join.source.id and join.source.id not in occurrences(other):
                    equal[int(mine.name)] = other
        if len(equal) != len(join.on) or not own_aggs(inner):
            continue
        given = {inner.outputs[p]: t for p, t in equal.items()}
        if any(not isinstance(k, Lit) and k not in given for k in inner.group):
            continue
        read = reads_of(block, join.source.id, but_on=join)
        aggregates = {t for t in read if isinstance(t, Col) and inner.outputs[int(t.name)] not in inner.group}
        if read - aggregates or any(
            _reads_keys(inner.outputs[int(t.name)], inner) for t in aggregates if isinstance(t, Col)
        ):
            continue
        change: dict[Term, Term] = {}
        tests = tuple(Call("=", (k, t)) for k, t in given.items())
        for column in aggregates:
            assert isinstance(column, Col)
            term = inner.outputs[int(column.name)]
            each = replace(inner, group=(), where=(*inner.where, *tests), order=())
            scalar = Sub("scalar", replace(each, outputs=(term,)))
            if not _null_over_none(term):
                some = Sub("exists", replace(each, group=None, outputs=(TRUE,)))
                change[column] = Call("case", (some, scalar, Lit("null", "null")))
            else:
                change[column] = scalar
        return without(substituted(block, change), join.source.id)
    return block


def _reads_keys(term: Term, inner: Block) -> bool:
    match term:
        case Agg():
            return False
        case Call(_, args):
            return any(_reads_keys(a, inner) for a in args)
        case Lit():
            return False
        case _:
            return True


def _null_over_none(term: Term) -> bool:
    return isinstance(term, Agg) and term.op in ("sum", "min", "max", "avg")
