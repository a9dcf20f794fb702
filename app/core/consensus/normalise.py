"""A query to its normal form: the rewrites in one visible order, applied inside out until nothing changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.core.consensus.context import Context
from app.core.consensus.nulls import Nulls
from app.core.consensus.rules.aggregates import (
    aggregate_of_key,
    distinct_source_to_aggregate,
    filter_to_where,
    merge_grouped,
    never_empty_group,
    not_null_of_total,
)
from app.core.consensus.rules.env import Env, conjunction, parts
from app.core.consensus.rules.groups import (
    distinct_inside,
    false_where,
    having_to_where,
    name_aggregates,
    reduce_keys,
    single_row_groups,
    strip_inner_distinct,
)
from app.core.consensus.rules.joins import (
    drop_left,
    drop_referenced,
    fold_sources,
    merge_same_row,
    reference_to_inner,
)
from app.core.consensus.rules.keys import left_ids, nullable_ids, proven_not_null
from app.core.consensus.rules.limits import (
    constant_total,
    limit_of_one_row,
    limit_one,
    pick_to_row_number,
    window_keys,
)
from app.core.consensus.rules.merging import (
    drop_ext,
    merge_inside_full,
    merge_left,
    merge_projection,
    merge_source,
    one_row_source,
    outer_to_inner,
    scalar_to_term,
)
from app.core.consensus.rules.pruning import prune
from app.core.consensus.rules.scalar import condition, normal
from app.core.consensus.rules.semi import (
    anti_join,
    distinct_to_exists,
    empty_exists,
    lift_conditions,
    one_match_mark,
    same_row_outside,
)
from app.core.consensus.rules.subqueries import (
    clean_exists,
    distinct_join_to_exists,
    exists_to_join,
    flatten_scalar,
    keyed_group_to_scalar,
)
from app.core.consensus.rules.unions import distribute, flatten_union
from app.core.consensus.terms import (
    TRUE,
    Block,
    Full,
    Func,
    Join,
    Minus,
    OrderKey,
    Query,
    Source,
    Sub,
    Table,
    Term,
    Union,
    rewrite,
    subterms,
)

BlockRule = Callable[[Block, Context, Nulls], Block]


def tidy_terms(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """Every term in its scalar normal form; conditions as sets of conjuncts. See `rules.scalar`."""
    inside = nulls.with_nullable(nullable_ids(block))
    env = Env(ctx, inside)
    where = conjuncts(block.where, env)
    seen = Env(ctx, inside.with_known(proven_not_null(where)))
    lefts = []
    for at, join in enumerate(block.lefts):
        earlier = left_ids(block.lefts[:at]) | (nullable_ids(block) - left_ids(block.lefts))
        lefts.append(Join(join.source, conjuncts(join.on, Env(ctx, nulls.with_nullable(earlier)))))
    return replace(
        block,
        lefts=tuple(lefts),
        where=where,
        group=None if block.group is None else tuple(dict.fromkeys(normal(g, seen) for g in block.group)),
        sets=tuple([normal(s, Env(ctx, Nulls())) for s in block.sets]),
        having=conjuncts(block.having, Env(ctx, inside) if block.sets else seen),
        outputs=tuple(
            [normal(o, seen if not block.sets else Env(ctx, Nulls(nullable_all(block)))) for o in block.outputs]
        ),
        order=tuple([OrderKey(normal(k.term, seen), k.desc, k.nulls_first) for k in block.order]),
    )


def nullable_all(block: Block) -> frozenset[int]:
    """Under ROLLUP every column may be NULL."""
    return frozenset(i for s in block.sources for i in s.ids) | left_ids(block.lefts)


def conjuncts(terms: tuple[Term, ...], env: Env) -> tuple[Term, ...]:
    whole = condition(conjunction(list(terms)), env)
    return () if whole == TRUE else parts("and", whole)


BLOCK_RULES: tuple[BlockRule, ...] = (
    tidy_terms,
    drop_ext,
    merge_source,
    merge_left,
    merge_inside_full,
    merge_projection,
    scalar_to_term,
    one_match_mark,
    outer_to_inner,
    anti_join,
    having_to_where,
    clean_exists,
    empty_exists,
    one_row_source,
    name_aggregates,
    aggregate_of_key,
    never_empty_group,
    filter_to_where,
    not_null_of_total,
    distinct_source_to_aggregate,
    distinct_inside,
    strip_inner_distinct,
    merge_grouped,
    merge_same_row,
    single_row_groups,
    reduce_keys,
    distinct_to_exists,
    same_row_outside,
    lift_conditions,
    exists_to_join,
    distinct_join_to_exists,
    reference_to_inner,
    drop_left,
    drop_referenced,
    fold_sources,
    flatten_scalar,
    keyed_group_to_scalar,
    prune,
    limit_one,
    limit_of_one_row,
    pick_to_row_number,
    window_keys,
    constant_total,
    false_where,
)
SPELLING_RULES: tuple[BlockRule, ...] = (
    tidy_terms,
    drop_ext,
    merge_source,
    merge_left,
    merge_inside_full,
    merge_projection,
    scalar_to_term,
    outer_to_inner,
    having_to_where,
    clean_exists,
    name_aggregates,
    prune,
    window_keys,
)
"""The rules after which a statement still joins, filters and groups as its author wrote it: facts are read from here.
What keys prove superfluous is still there to be named."""
_ROUNDS = 60


def normalise(
    query: Query, ctx: Context, nulls: Nulls | None = None, rules: tuple[BlockRule, ...] = BLOCK_RULES
) -> Query:
    """The normal form of `query`, which has the same rows as it on every database. Raises `OutOfTime`.

    `nulls` is what is known of the occurrences around a subquery; `rules` are tried in their order, again and again.
    """
    nulls = nulls or Nulls(quotient=ctx.null_quotient)
    ctx.tick()
    match query:
        case Union():
            return flatten_union(Union(tuple([normalise(b, ctx, nulls, rules) for b in query.branches])))
        case Minus():
            return Minus(query.op, *[normalise(q, ctx, nulls, rules) for q in (query.left, query.right)])
        case Block():
            return _normalised_block(query, ctx, nulls, rules)


def _normalised_block(block: Block, ctx: Context, nulls: Nulls, rules: tuple[BlockRule, ...]) -> Query:
    if (block, nulls, rules) in ctx.settled:
        return block
    for _ in range(_ROUNDS):
        ctx.tick()
        block = _children(block, ctx, nulls, rules)
        changed = next((new for rule in rules if (new := rule(block, ctx, nulls)) != block), None)
        if changed is None:
            ctx.settled.add((block, nulls, rules))
            break
        block = changed
    query = distribute(block)
    if isinstance(query, Union):
        return normalise(query, ctx, nulls, rules)
    return query


def _children(block: Block, ctx: Context, nulls: Nulls, rules: tuple[BlockRule, ...]) -> Block:
    """`block` with its derived tables and subqueries in normal form; their order counts only beside a limit."""
    inside = nulls.with_nullable(nullable_ids(block)).with_known(proven_not_null(block.where))

    def sub(term: Term) -> Term:
        if isinstance(term, Sub):
            query = _unordered(normalise(term.query, ctx, inside, rules))
            return Sub(term.op, query, term.args) if query != term.query else term
        return term

    def each(terms: tuple[Term, ...]) -> tuple[Term, ...]:
        return tuple([_top_subs(t, sub) for t in terms])

    return replace(
        block,
        sources=tuple([_child(s, ctx, nulls, rules) for s in block.sources]),
        lefts=tuple([Join(_child(j.source, ctx, nulls, rules), each(j.on)) for j in block.lefts]),
        where=each(block.where),
        group=None if block.group is None else each(block.group),
        having=each(block.having),
        outputs=each(block.outputs),
        order=tuple([OrderKey(_top_subs(k.term, sub), k.desc, k.nulls_first) for k in block.order]),
    )


def _top_subs(term: Term, change: Callable[[Term], Term]) -> Term:
    return rewrite(term, change) if any(isinstance(t, Sub) for t in _shallow(term)) else term


def _shallow(term: Term) -> list[Term]:
    return list(subterms(term))


def _child(source: Source, ctx: Context, nulls: Nulls, rules: tuple[BlockRule, ...]) -> Source:
    match source.rel:
        case Table() | Func():
            return source
        case Full(left, right, on):
            return Source(source.id, Full(_child(left, ctx, nulls, rules), _child(right, ctx, nulls, rules), on))
        case _:
            return Source(source.id, _unordered(normalise(source.rel, ctx, nulls, rules)))


def _unordered(query: Query) -> Query:
    if isinstance(query, Block) and query.order and not query.limited and not query.pick:
        return replace(query, order=())
    return query
