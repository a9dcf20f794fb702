"""Aggregates of what is known of a group, and aggregates over groups that are themselves grouped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.core.consensus.nulls import Nulls, kind_of, null_when
from app.core.consensus.rules.grouped import each_aggregate, is_distinct, own_aggs
from app.core.consensus.rules.keys import nullable_ids
from app.core.consensus.terms import (
    ONE,
    Agg,
    Block,
    Call,
    Col,
    Lit,
    Source,
    Term,
    Union,
    has_window,
    occurrences,
    subterms,
)

if TYPE_CHECKING:
    from app.core.consensus.context import Context

ZERO = Lit("0", "int")


def aggregate_of_key(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """In a group all rows share the keys: MIN, MAX and SUM(DISTINCT) of a key are the key, COUNT(DISTINCT) of it is 1
    if it is not NULL."""
    if not block.group or block.sets:
        return block

    def change(agg: Agg) -> Term:
        match agg:
            case Agg("min" | "max", (key,), _, ()) if key in (block.group or ()):
                return key
            case Agg("sum", (key,), True, ()) if key in (block.group or ()) and kind_of(key) in (
                "int",
                "decimal",
                "float",
            ):
                return key
            case Agg("count", (key,), True, ()) if key in (block.group or ()):
                return Call("case", (Call("isnull", (key,)), ZERO, ONE))
            case _:
                return agg

    return each_aggregate(block, change)


def never_empty_group(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """A group has a row, so `COUNT(*) >= 1` is TRUE of it; not so of the one group without GROUP BY."""
    if not block.group or block.sets:
        return block
    count = Agg("count", ())
    always = {Call("<", (ZERO, count)), Call("<=", (ONE, count)), Call("<=", (ZERO, count))}
    kept = tuple(h for h in block.having if h not in always)
    return replace(block, having=kept) if kept != block.having else block


def not_null_of_total(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """Without GROUP BY, `x IS NOT NULL` keeps rows away from aggregates that ignore them anyway."""
    if block.group != () or block.sets:
        return block
    aggs = own_aggs(block)
    for condition in block.where:
        match condition:
            case Call("not", (Call("isnull", (tested,)),)):
                pass
            case _:
                continue
        gone = lambda t, x=tested: t == x  # the term of this round  # noqa: E731  # one line, for this place only
        ignored = all(a.op in _IGNORE_NULL and a.args and all(null_when(x, gone) for x in a.args[:1]) for a in aggs)
        if aggs and ignored and not _reads_rows(block):
            return replace(block, where=tuple(c for c in block.where if c != condition))
    return block


_IGNORE_NULL = ("count", "sum", "min", "max", "avg")


def _reads_rows(block: Block) -> bool:
    """Whether the block reads a column outside its aggregates: a row that the dialect picks."""
    own = {i for s in block.sources for i in s.ids} | {i for j in block.lefts for i in j.source.ids}
    bare = each_aggregate(block, lambda _: ONE)
    return any(not own.isdisjoint(occurrences(t)) for t in (*bare.outputs, *bare.having))


def filter_to_where(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """Without GROUP BY, a filter that all aggregates share is one of the rows: there is one row of result anyway."""
    aggs = own_aggs(block)
    if block.group != () or block.sets or not aggs or _reads_rows(block):
        return block
    shared = [c for c in aggs[0].where if all(c in a.where for a in aggs)]
    if not shared:
        return block

    def change(agg: Agg) -> Term:
        return replace(agg, where=tuple(c for c in agg.where if c not in shared))

    return replace(each_aggregate(block, change), where=(*block.where, *shared))


def distinct_source_to_aggregate(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """Aggregating the only column of a DISTINCT derived table is aggregating DISTINCT values of it; so is counting its
    rows, where the column is never NULL."""
    if block.group != () or len(block.sources) != 1 or block.lefts or block.sets or block.limited:
        return block
    source = block.sources[0]
    inner = source.rel
    if not isinstance(inner, Block) or not is_distinct(inner, ctx) or inner.limited or len(inner.group or ()) != 1:
        return block
    key = (inner.group or ())[0]
    if isinstance(key, Lit) or key not in inner.outputs:
        return block
    column = next((t for c in _columns(block) for t in subterms(c) if isinstance(t, Col) and t.src == source.id), None)
    position = inner.outputs.index(key)
    mine = column if column is not None else Col(source.id, str(position))
    if inner.outputs[int(mine.name)] != key or any(w for a in own_aggs(block) for w in a.where):
        return block
    never_null = not nulls.with_nullable(nullable_ids(inner)).possible(key)
    aggs = own_aggs(block)
    if not aggs or any(not (a.args == (mine,) or (a.op == "count" and not a.args and never_null)) for a in aggs):
        return block
    if any(a.op not in _IGNORE_NULL for a in aggs) or _reads_rows(block):
        return block

    def change(agg: Agg) -> Term:
        return agg if agg.op in ("min", "max") else Agg(agg.op, (mine,), distinct=True)

    flat = each_aggregate(block, change)
    return replace(flat, sources=(Source(source.id, replace(inner, group=None)),))


def _columns(block: Block) -> tuple[Term, ...]:
    return (*block.where, *block.having, *block.outputs)


def merge_grouped(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """Aggregates over the groups of a finer grouping are aggregates over the rows: SUM of SUMs is the SUM, SUM of
    COUNTs the COUNT, MIN of MINs the MIN. NULL sums of all-NULL groups are ignored in both.

    With GROUP BY outside, so that there is a row; over none, SUM of COUNTs would be NULL and the COUNT 0. Also when
    the groups come from the branches of a UNION ALL, each grouped by the same columns.
    """
    if not block.group or block.sets or block.lefts or len(block.sources) != 1 or (block.having and block.limited):
        return block
    source = block.sources[0]
    branches = source.rel.branches if isinstance(source.rel, Union) else (source.rel,)
    blocks = [b for b in branches if isinstance(b, Block) and _mergeable(b)]
    if len(blocks) != len(branches) or not own_aggs(block) or any(map(has_window, block.outputs)):
        return block
    width = len(blocks[0].outputs)
    kinds = [_column_kind(i, blocks) for i in range(width)]
    if any(k is None for k in kinds) or not _composable(block, source.id, kinds):
        return block
    flat = tuple([_rows_of(b, kinds) for b in blocks])

    def change(agg: Agg) -> Term:
        (column,) = agg.args
        assert isinstance(column, Col)
        kind = kinds[int(column.name)]
        if kind == "count *":
            return Agg("count", ())
        return Agg("count", (column,)) if kind == "count" else agg

    merged = each_aggregate(block, change)
    rel = flat[0] if len(flat) == 1 and not isinstance(source.rel, Union) else Union(flat)
    return replace(merged, sources=(Source(source.id, rel),))


def _mergeable(inner: Block) -> bool:
    plain = bool(inner.group) and not inner.sets and not inner.having and not inner.limited and not inner.pick
    return plain and not any(map(has_window, inner.outputs))


def _column_kind(position: int, blocks: list[Block]) -> str | None:
    """What a column of the grouped tables is: a key, or one plain aggregate; None for anything else."""
    found = set()
    for block in blocks:
        match block.outputs[position]:
            case Agg("count", (), False, ()):
                found.add("count *")
            case Agg(op, (_,), False, ()) if op in ("sum", "min", "max", "count"):
                found.add(op)
            case term if term in (block.group or ()) or isinstance(term, Lit):
                found.add("key")
            case _:
                return None
    return found.pop() if len(found) == 1 else None


def _composable(block: Block, src: int, kinds: list[str | None]) -> bool:
    compose = {"sum": {"sum", "count", "count *"}, "min": {"min"}, "max": {"max"}}
    for agg in own_aggs(block):
        match agg:
            case Agg(op, (Col(source, name),), False, ()) if source == src and kinds[int(name)] in compose.get(op, ()):
                pass
            case _:
                return False
    bare = each_aggregate(block, lambda _: ONE)
    outside = (*bare.where, *(bare.group or ()), *bare.having, *bare.outputs, *[k.term for k in bare.order])
    columns = [t for c in outside for t in subterms(c) if isinstance(t, Col) and t.src == src]
    return all(kinds[int(c.name)] == "key" for c in columns)


def _rows_of(inner: Block, kinds: list[str | None]) -> Block:
    outputs = []
    for term, kind in zip(inner.outputs, kinds, strict=True):
        outputs.append(term if kind == "key" or not isinstance(term, Agg) else term.args[0] if term.args else ONE)
    return replace(inner, group=None, outputs=tuple(outputs))
