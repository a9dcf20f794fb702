"""Semi-joins and anti-joins: EXISTS and NOT EXISTS, and the joins and groupings that say the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.core.consensus.nulls import Nulls, kind_of, never_true_when, of
from app.core.consensus.rules.grouped import is_distinct
from app.core.consensus.rules.joins import moved_onto, reads_of, substituted
from app.core.consensus.rules.keys import BlockFacts, equalities, exact_classes, keys_of
from app.core.consensus.rules.merging import without
from app.core.consensus.terms import (
    NULL,
    TRUE,
    Block,
    Call,
    Col,
    Ext,
    Free,
    Full,
    Join,
    Lit,
    Rewrite,
    Source,
    Sub,
    Table,
    Term,
    block_terms,
    occurrences,
    rewrite,
    subterms,
)

if TYPE_CHECKING:
    from app.core.consensus.context import Context


def anti_join(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """A left join of which only the rows without a partner are kept is NOT EXISTS.

    `x IS NULL` keeps just these rows when x is never NULL in a row with a partner: a NOT NULL column, a constant, or
    a column that the join condition rejects when NULL. All other columns of the joined table are NULL there.
    """
    for join in block.lefts:
        if isinstance(join.source.rel, Full):
            continue
        for condition in block.where:
            match condition:
                case Call("isnull", (tested,)) if _marks_match(tested, join, nulls):
                    pass
                case _:
                    continue
            rest = without(replace(block, where=tuple(c for c in block.where if c != condition)), join.source.id)
            gone: dict[Term, Term] = {t: NULL for t in reads_of(rest, join.source.id) if isinstance(t, (Col, Ext))}
            if any(isinstance(t, Free) for t in reads_of(rest, join.source.id)):
                continue
            inner = Block((join.source,), where=join.on, outputs=(TRUE,))
            absent = Call("not", (Sub("exists", inner),))
            changed = substituted(rest, gone)
            return replace(changed, where=(*changed.where, absent))
    return block


def _marks_match(tested: Term, join: Join, nulls: Nulls) -> bool:
    match tested:
        case Ext(src, inner):
            return src == join.source.id and not nulls.possible(inner)
        case Col(src, _, _, not_null):
            rejected = any(never_true_when(c, lambda t: t == tested) for c in join.on)
            return src == join.source.id and (not_null or rejected)
        case _:
            return False


def one_match_mark(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """Whether a left join found a partner is asked in one way: by the table's first NOT NULL column."""
    marks: dict[int, Col] = {}
    for join in block.lefts:
        info = ctx.schema.get(join.source.rel.name) if isinstance(join.source.rel, Table) else None
        first = next((c for c in info.columns if c.not_null), None) if info is not None else None
        if first is not None:
            marks[join.source.id] = Col(join.source.id, first.name, first.kind, not_null=True)
    if not marks:
        return block

    def change(term: Term) -> Term:
        match term:
            case Call("isnull", (Ext(src, inner),)) if src in marks and not nulls.possible(inner):
                return Call("isnull", (marks[src],))
            case Call("isnull", (Col(src, _, _, True),)) if src in marks:
                return Call("isnull", (marks[src],))
            case _:
                return term

    def outside(terms: tuple[Term, ...]) -> tuple[Term, ...]:
        return rewrite_terms(terms, change)

    return replace(block, where=outside(block.where), outputs=outside(block.outputs), having=outside(block.having))


def rewrite_terms(terms: tuple[Term, ...], change: Rewrite) -> tuple[Term, ...]:
    return tuple([rewrite(t, change) for t in terms])


def lift_conditions(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """A condition inside EXISTS on what equals a term outside is a condition on that term, asked once, outside.

    If there is a row with `y = x AND p(y)` then `p(x)`, where equal values are the same value. And what reads nothing
    of the subquery's own rows holds for all of them or for none.
    """
    where = list(block.where)
    for at, condition in enumerate(where):
        if not (isinstance(condition, Sub) and condition.op == "exists" and isinstance(condition.query, Block)):
            continue
        inner = condition.query
        if inner.group is not None or inner.limited:
            continue
        own = {i for s in inner.sources for i in s.ids} | {i for j in inner.lefts for i in j.source.ids}
        change = _equal_outside(inner, own, ctx)
        kept, lifted = [], []
        for test in inner.where:
            moved = substituted(Block(where=(test,)), change).where[0]
            if own.isdisjoint(occurrences(moved)) and not any(isinstance(t, Free) for t in subterms(test)):
                if not own.isdisjoint(occurrences(test)) and test in _pairs_used(inner, change):
                    kept.append(test)
                    continue
                lifted.append(moved)
            else:
                kept.append(test)
        if lifted:
            where[at] = Sub("exists", replace(inner, where=tuple(kept)))
            return replace(block, where=(*where, *lifted))
    return block


def _equal_outside(inner: Block, own: set[int], ctx: Context) -> dict[Term, Term]:
    """Columns of the subquery's own rows, each with a term from outside that is the same value."""
    pairs = [p for p in equalities(inner.where) if all(isinstance(t, (Col, Lit)) for t in p)]
    change: dict[Term, Term] = {}
    for group in exact_classes(pairs, ctx).groups():
        outside = [t for t in group if isinstance(t, Col) and t.src not in own]
        if outside:
            change.update({t: outside[0] for t in group if isinstance(t, Col) and t.src in own})
    return change


def _pairs_used(inner: Block, change: dict[Term, Term]) -> list[Term]:
    """The equalities that tie the subquery to the outside: they stay."""
    return [c for c in inner.where if isinstance(c, Call) and c.op == "=" and any(a in change for a in c.args)]


def distinct_to_exists(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """DISTINCT over a join, on a key of some of the tables, asks of the others only whether there is a partner.

    The keys' rows are then unique by themselves: the rest becomes EXISTS, and the grouping goes.
    """
    if not is_distinct(block, ctx) or block.lefts or block.limited:
        return block
    facts = BlockFacts(block, ctx)
    done = facts.determined(block.group or ())
    rest = [s for s in block.sources if not set(s.ids) <= done]
    kept = [s for s in block.sources if set(s.ids) <= done]
    if not rest or not kept:
        return block
    gone = {i for s in rest for i in s.ids}
    moved = [c for c in block.where if not gone.isdisjoint(occurrences(c))]
    stay = tuple(c for c in block.where if c not in moved)
    alone = replace(block, sources=tuple(kept), where=stay)
    if any(not gone.isdisjoint(occurrences(t)) for t in block_terms(alone)):
        return block
    if not BlockFacts(alone, ctx).determines(block.group or ()) or any(
        isinstance(t, Free) for c in moved for t in subterms(c)
    ):
        return block
    exists = tuple(Sub("exists", Block(tuple(s), where=tuple(w), outputs=(TRUE,))) for s, w in _components(rest, moved))
    return replace(alone, group=None, where=(*stay, *exists))


def _components(sources: list[Source], conditions: list[Term]) -> list[tuple[list[Source], list[Term]]]:
    """The sources grouped by what joins them to each other: each group is an EXISTS of its own."""
    groups: list[tuple[list[Source], list[Term]]] = []
    for source in sources:
        mine = [c for c in conditions if not set(source.ids).isdisjoint(occurrences(c))]
        touching = [g for g in groups if any(c in g[1] for c in mine)]
        merged = (
            [source, *[s for g in touching for s in g[0]]],
            list(dict.fromkeys([*mine, *[c for g in touching for c in g[1]]])),
        )
        groups = [g for g in groups if g not in touching] + [merged]
    return groups


def same_row_outside(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """Inside EXISTS, an occurrence equal on a key to a row of the same table outside is that row."""
    tables = {s.id: s.rel for s in block.sources if isinstance(s.rel, Table)}
    for at, condition in enumerate(block.where):
        if not (isinstance(condition, Sub) and condition.op == "exists" and isinstance(condition.query, Block)):
            continue
        inner = condition.query
        if not inner.plain:
            continue
        for source in inner.sources:
            for outer, table in tables.items():
                if source.rel == table and _tied(inner, source, outer, ctx):
                    new = without(inner, source.id)
                    exists = Sub("exists", moved_onto(new, source.id, outer))
                    return replace(block, where=(*block.where[:at], exists, *block.where[at + 1 :]))
    return block


def _tied(inner: Block, source: Source, outer: int, ctx: Context) -> bool:
    if any(isinstance(t, Free) for c in block_terms(inner) for t in subterms(c)):
        return False
    equal = set()
    for pair in equalities(inner.where):
        for mine, other in (pair, pair[::-1]):
            if not (isinstance(mine, Col) and isinstance(other, Col) and mine.src == source.id and other.src == outer):
                continue
            if mine.name == other.name and ctx.identical(kind_of(mine), kind_of(other)):
                equal.add(mine.name)
    return any(set(k.columns) <= equal for k in keys_of(source, ctx))


def empty_exists(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """EXISTS over no table is its condition."""

    def change(term: Term) -> Term:
        match term:
            case Sub("exists", Block() as inner, _) if not inner.sources and not inner.lefts and inner.plain:
                return Call(
                    "nottrue",
                    (
                        Call(
                            "nottrue",
                            (
                                Call("and", inner.where)
                                if len(inner.where) > 1
                                else inner.where[0]
                                if inner.where
                                else TRUE,
                            ),
                        ),
                    ),
                )
            case _:
                return term

    where = rewrite_terms(block.where, change)
    return replace(block, where=where) if where != block.where else block


_ = of
