"""Derived tables: put into the block around them where that keeps every row and its count."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.core.consensus.nulls import Nulls, never_true_when, null_when, of
from app.core.consensus.rules.keys import nullable_ids
from app.core.consensus.terms import (
    TRUE,
    Block,
    Col,
    Ext,
    Full,
    Join,
    Source,
    Sub,
    Term,
    block_terms,
    has_window,
    occurrences,
    rewrite_block,
    source_terms,
    subterms,
)

if TYPE_CHECKING:
    from app.core.consensus.context import Context


def put(block: Block, src: int, outputs: tuple[Term, ...]) -> Block:
    """`block` with the columns of `src` replaced by the terms they stand for."""

    def change(term: Term) -> Term:
        if isinstance(term, Col) and term.src == src and term.name.isdigit():
            return outputs[int(term.name)]
        return term

    return rewrite_block(block, change)


def without(block: Block, src: int) -> Block:
    """`block` less the source or left join numbered `src`."""
    return replace(
        block,
        sources=tuple(s for s in block.sources if s.id != src),
        lefts=tuple(j for j in block.lefts if j.source.id != src),
    )


def merge_source(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """A plain derived table in the product is its own product, left joins and conditions.

    `σ_p(A ⟕ B) × C` is `σ_p((A × C) ⟕ B)`. A window function inside sees the rows of the derived table alone, so such
    a table is merged only into a block that neither filters, joins, groups nor limits.
    """
    for source in block.sources:
        inner = source.rel
        if not isinstance(inner, Block) or inner.group is not None or inner.limited or inner.pick:
            continue
        if any(map(has_window, inner.outputs)) and not _only_projects(block):
            continue
        merged = put(block, source.id, inner.outputs)
        kept = [s for s in merged.sources if s.id != source.id]
        at = [s.id for s in block.sources].index(source.id)
        return replace(
            merged,
            sources=(*kept[:at], *inner.sources, *kept[at:]),
            lefts=(*inner.lefts, *merged.lefts),
            where=(*inner.where, *merged.where),
        )
    return block


def _only_projects(block: Block) -> bool:
    alone = len(block.sources) == 1 and not block.lefts and not block.where
    return alone and block.plain and not any(isinstance(t, Sub) for o in block.outputs for t in subterms(o))


def merge_projection(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """A block that only filters and projects a grouped one is that block, with the filter in HAVING.

    Its rows are the groups; selecting among groups is what HAVING does.
    """
    if not (len(block.sources) == 1 and not block.lefts and block.group is None and not block.pick):
        return block
    inner = block.sources[0].rel
    if not isinstance(inner, Block) or inner.group is None or inner.limited or inner.pick or inner.sets:
        return block
    if any(map(has_window, (*block.outputs, *block.where, *inner.outputs))):
        return block
    merged = put(block, block.sources[0].id, inner.outputs)
    if inner.group != () and any(isinstance(t, Sub) for c in block_terms(merged) for t in subterms(c)):
        pass
    return replace(
        inner,
        having=(*inner.having, *merged.where),
        outputs=merged.outputs,
        order=merged.order,
        limit=merged.limit,
        offset=merged.offset,
        ties=merged.ties,
    )


def merge_left(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """A left-joined derived table over one source is that source, its filter part of the join condition.

    `A ⟕_p σ_f(B)` is `A ⟕_{p∧f} B`. An output that is not NULL for an unmatched row by itself (a constant, a COALESCE)
    is kept NULL there by `Ext`; without it the anti-join `WHERE flag IS NULL` would be lost.
    """
    for at, join in enumerate(block.lefts):
        inner = join.source.rel
        if not isinstance(inner, Block) or not inner.plain or len(inner.sources) != 1:
            continue
        only = inner.sources[0]
        if isinstance(only.rel, Full) or not _follow(inner, only):
            continue
        own = set(only.ids) | {i for j in inner.lefts for i in j.source.ids}
        outputs = tuple([_extended(o, only.id, own) for o in inner.outputs])
        raw = put(Block(where=join.on), join.source.id, inner.outputs).where
        before = tuple(replace(block, lefts=block.lefts[:at]).lefts)
        rest = put(replace(block, lefts=block.lefts[at + 1 :]), join.source.id, outputs)
        return replace(rest, lefts=(*before, Join(only, (*raw, *inner.where)), *inner.lefts, *rest.lefts))
    return block


def _follow(inner: Block, only: Source) -> bool:
    """Whether the left joins inside may follow outside: `A ⟕ (B ⟕_q C)` is `(A ⟕ B) ⟕_q C` if q rejects a NULL B."""
    if any(i in occurrences(c) for c in inner.where for j in inner.lefts for i in j.source.ids):
        return False
    gone = of(set(only.ids))
    return all(any(never_true_when(c, gone) for c in j.on) for j in inner.lefts)


def _extended(output: Term, src: int, own: set[int]) -> Term:
    return output if null_when(output, of(own)) else Ext(src, output)


def drop_ext(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """`Ext` is its term where the term is NULL for an unmatched row anyway, or where no row is unmatched."""
    nullable = nullable_ids(block) | nulls.nullable
    own = nullable | {i for s in block.sources for i in s.ids}

    def change(term: Term) -> Term:
        if (
            isinstance(term, Ext)
            and term.src in own
            and (term.src not in nullable or null_when(term.term, of({term.src})))
        ):
            return term.term
        return term

    if not any(isinstance(t, Ext) for c in all_terms(block) for t in subterms(c)):
        return block
    return rewrite_block(block, change)


def all_terms(block: Block) -> list[Term]:
    return [*block_terms(block), *[t for s in every_source(block) for t in source_terms(s)]]


def every_source(block: Block) -> list[Source]:
    return [*block.sources, *[j.source for j in block.lefts]]


def outer_to_inner(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """A left join whose unmatched rows some condition rejects is an inner join; a full join likewise, side by side.

    A condition that cannot be TRUE when the joined columns are NULL removes just the rows without a partner. That is
    also so for the ON of an inner join, which is part of WHERE here.
    """
    for at, join in enumerate(block.lefts):
        if any(never_true_when(c, of(set(join.source.ids))) for c in block.where):
            lefts = block.lefts[:at] + block.lefts[at + 1 :]
            return replace(block, sources=(*block.sources, join.source), lefts=lefts, where=(*block.where, *join.on))
    for source in block.sources:
        if isinstance(source.rel, Full):
            left, right, on = source.rel.left, source.rel.right, source.rel.on
            rest = tuple(s for s in block.sources if s.id != source.id)
            for kept, optional in ((left, right), (right, left)):
                if any(never_true_when(c, of(set(kept.ids))) for c in block.where):
                    return replace(block, sources=(*rest, kept), lefts=(Join(optional, on), *block.lefts))
    return block


def merge_inside_full(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """A side of a full join that is a derived table of bare columns over one unfiltered source is that source."""
    for at, source in enumerate(block.sources):
        if not isinstance(source.rel, Full):
            continue
        for side in (source.rel.left, source.rel.right):
            inner = side.rel
            if (
                isinstance(inner, Block)
                and inner.plain
                and len(inner.sources) == 1
                and not inner.lefts
                and not inner.where
                and not isinstance(inner.sources[0].rel, Full)
                and all(isinstance(o, Col) for o in inner.outputs)
            ):
                new = inner.sources[0]
                merged = put(block, side.id, inner.outputs)
                rel = merged.sources[at].rel
                assert isinstance(rel, Full)
                sides = (new, rel.right) if side is source.rel.left else (rel.left, new)
                sources = list(merged.sources)
                sources[at] = Source(source.id, Full(*sides, rel.on))
                return replace(merged, sources=tuple(sources))
    return block


def one_row_source(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """A derived table that always has one row, an aggregate without GROUP BY and HAVING, is a scalar subquery for each
    of its columns; a left join to it is one too, if its condition is TRUE."""
    joined = list(block.sources) + [j.source for j in block.lefts if all(c == TRUE for c in j.on)]
    for source in joined:
        inner = source.rel
        if not isinstance(inner, Block) or inner.group != () or inner.having or inner.limited or inner.sets:
            continue
        if len(block.sources) == 1 and source in block.sources:
            continue  # it is what the block selects from: `merge_projection` takes it
        outputs = tuple(Sub("scalar", replace(inner, outputs=(o,), order=())) for o in inner.outputs)
        return without(put(block, source.id, outputs), source.id)
    return block


def scalar_to_term(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """`(SELECT x)` without FROM and WHERE is x."""

    def change(term: Term) -> Term:
        match term:
            case Sub("scalar", Block() as inner) if inner.plain and not inner.sources and not inner.where:
                return inner.outputs[0]
            case _:
                return term

    if not any(isinstance(t, Sub) for c in block_terms(block) for t in subterms(c)):
        return block
    return rewrite_block(block, change)
