"""Outputs of derived tables that nothing reads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.core.consensus.rules.merging import all_terms, every_source
from app.core.consensus.terms import (
    Block,
    Col,
    Full,
    Join,
    Query,
    Source,
    Table,
    Term,
    Union,
    rewrite_block,
    subterms,
)

if TYPE_CHECKING:
    from app.core.consensus.context import Context
    from app.core.consensus.nulls import Nulls


def prune(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """Outputs of derived tables that nothing reads are dropped. Rows and their number stay: they never depend on what
    is selected, except under DISTINCT, which is a grouping here and keeps its keys."""
    for source in every_source(block):
        inner = source.rel
        if isinstance(inner, (Table, Full)) or not isinstance(inner, (Block, Union)):
            continue
        width = _width(inner)
        if width is None:
            continue
        read = {int(t.name) for c in all_terms(block) for t in subterms(c)
                if isinstance(t, Col) and t.src == source.id and t.name.isdigit()}  # fmt: skip
        full = [f for s in block.sources if isinstance(s.rel, Full) for f in (s.rel.left.id, s.rel.right.id)]
        if len(read) == width or source.id in full:
            continue
        keep = sorted(read)
        return _renumber(block, source.id, keep)
    return block


def _width(query: Query) -> int | None:
    match query:
        case Block():
            return len(query.outputs)
        case Union():
            widths = {_width(b) for b in query.branches}
            return widths.pop() if len(widths) == 1 else None
        case _:
            return None


def _select(query: Query, keep: list[int]) -> Query:
    match query:
        case Block():
            outputs = tuple(query.outputs[k] for k in keep)
            return replace(query, outputs=outputs)
        case Union():
            return Union(tuple([_select(b, keep) for b in query.branches]))
        case _:
            return query


def _renumber(block: Block, src: int, keep: list[int]) -> Block:
    place = {str(k): str(i) for i, k in enumerate(keep)}

    def change(term: Term) -> Term:
        if isinstance(term, Col) and term.src == src:
            return replace(term, name=place.get(term.name, term.name))
        return term

    new = rewrite_block(block, change)

    def narrowed(source: Source) -> Source:
        if source.id != src:
            return source
        assert isinstance(source.rel, (Block, Union))
        return Source(src, _select(source.rel, keep))

    return replace(
        new,
        sources=tuple([narrowed(s) for s in new.sources]),
        lefts=tuple([Join(narrowed(j.source), j.on) for j in new.lefts]),
    )
