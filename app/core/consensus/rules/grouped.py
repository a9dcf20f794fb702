"""What a grouped block computes and reads: its aggregates, and whether its keys fix the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.core.consensus.rules.keys import BlockFacts
from app.core.consensus.terms import (
    ONE,
    Agg,
    Block,
    Call,
    Col,
    Free,
    Lit,
    OrderKey,
    Over,
    Sub,
    Term,
    has_window,
    subterms,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.core.consensus.context import Context


def own_aggs(block: Block) -> list[Agg]:
    """The aggregates that `block` itself computes."""
    found: list[Agg] = []

    def look(term: Term) -> None:
        match term:
            case Agg():
                found.append(term)
            case Call(_, args) | Sub(_, _, args):
                for arg in args:
                    look(arg)
            case Over(func, partition, order, _):
                for arg in (
                    *(func.args if isinstance(func, (Agg, Call)) else ()),
                    *partition,
                    *(k.term for k in order),
                ):
                    look(arg)
            case _:
                pass

    for term in (*block.outputs, *block.having, *(k.term for k in block.order)):
        look(term)
    return found


def own_ids(block: Block) -> set[int]:
    """The occurrences whose rows the block puts together."""
    return {i for s in block.sources for i in s.ids} | {i for j in block.lefts for i in j.source.ids}


def counts_duplicates(block: Block, ctx: Context) -> bool:
    """Whether the block's result can change when a row of its product comes once more.

    It cannot when the block is grouped and computes nothing but minima, maxima and aggregates over DISTINCT values.
    """
    if block.group is None or not outputs_fixed(block, ctx):
        return True
    return any(
        not (a.op in ("min", "max") or (a.distinct and a.op in ("count", "sum", "avg"))) for a in own_aggs(block)
    )


def outputs_fixed(block: Block, ctx: Context) -> bool:
    """Whether the block reads outside its aggregates only what its group keys determine. Some dialects allow more, and
    pick a row of the group for it."""
    keys = block.group or ()
    bare = each_aggregate(block, lambda _: ONE)
    read = (*bare.outputs, *bare.having, *[k.term for k in bare.order])
    if all(over_keys(t, block) for t in read):
        return True
    facts = BlockFacts(block, ctx)
    known, done = facts.closure(keys)
    return all(
        t in keys or facts.fixed(t, known, done)
        for term in read
        for t in _leaves(term, keys)
    )  # fmt: skip


def _leaves(term: Term, keys: tuple[Term, ...]) -> list[Term]:
    """The columns of `term`, group keys taken whole."""
    if term in keys or isinstance(term, Lit):
        return []
    match term:
        case Call(_, args):
            return [leaf for a in args for leaf in _leaves(a, keys)]
        case Over(func, partition, order, _):
            return [leaf for t in (func, *partition, *(k.term for k in order)) for leaf in _leaves(t, keys)]
        case Agg(_, args, _, where):
            return [leaf for t in (*args, *where) for leaf in _leaves(t, keys)]
        case _:
            return [t for t in subterms(term) if isinstance(t, (Col, Free))]


def each_aggregate(block: Block, change: Callable[[Agg], Term]) -> Block:
    """`block` with `change` applied to its own aggregates, not to those of its subqueries."""

    def inside(term: Term) -> Term:
        match term:
            case Agg():
                return change(term)
            case Call(op, args):
                return Call(op, tuple([inside(a) for a in args]))
            case Sub(op, query, args):
                return Sub(op, query, tuple([inside(a) for a in args]))
            case Over(func, partition, order, frame):
                match func:
                    case Agg(op, args, distinct, where):
                        func = Agg(op, tuple([inside(a) for a in args]), distinct, where)
                    case _:
                        func = inside(func)
                keys = tuple(OrderKey(inside(k.term), k.desc, k.nulls_first) for k in order)
                return Over(func, tuple([inside(p) for p in partition]), keys, frame)
            case _:
                return term

    return replace(
        block,
        having=tuple([inside(h) for h in block.having]),
        outputs=tuple([inside(o) for o in block.outputs]),
        order=tuple([OrderKey(inside(k.term), k.desc, k.nulls_first) for k in block.order]),
    )


def over_keys(term: Term, block: Block) -> bool:
    """Whether `term` reads the block's own columns only through its group keys."""
    assert block.group is not None
    if term in block.group:
        return True
    own = own_ids(block)
    match term:
        case Col(src):
            return src not in own
        case Free(_, srcs):
            return not own.intersection(srcs)
        case Call(_, args):
            return all(over_keys(a, block) for a in args)
        case Lit():
            return True
        case Sub(_, _, args):
            inside = [t for t in subterms(term) if isinstance(t, (Col, Free)) and t not in args]
            return all(over_keys(t, block) for t in inside) and all(over_keys(a, block) for a in args)
        case _:
            return False


def is_distinct(block: Block, ctx: Context) -> bool:
    """Whether grouping is all that the block does besides selecting: it only removes duplicates."""
    bare = bool(block.group) and not block.sets and not block.having and not own_aggs(block)
    plain = bare and not block.pick and not any(map(has_window, block.outputs))
    return plain and outputs_fixed(block, ctx)
