"""UNION ALL: flat, without empty branches, and with what is asked of it asked of each branch."""

from __future__ import annotations

from app.core.consensus.rules.merging import put
from app.core.consensus.scope import columns_of
from app.core.consensus.terms import FALSE, Block, Col, Query, Source, Union, has_window


def distribute(block: Block) -> Query:
    """Selecting, projecting from a UNION ALL is doing it in each branch: each row comes from one branch."""
    if len(block.sources) != 1 or block.lefts or not block.plain:
        return block
    source = block.sources[0]
    if not isinstance(source.rel, Union):
        return block
    if "unknown" in {c.kind for c in columns_of(source.id, source.rel)} and (
        block.where or not all(isinstance(o, Col) for o in block.outputs)
    ):
        return block  # branches of different types: a column has another type outside than in its branch
    return Union(tuple([_over(block, source, branch) for branch in source.rel.branches]))


def _over(block: Block, source: Source, branch: Query) -> Block:
    inner = branch if isinstance(branch, Block) else None
    if inner is not None and inner.plain and not any(map(has_window, inner.outputs)):
        merged = put(block, source.id, inner.outputs)
        return Block(inner.sources, inner.lefts, (*inner.where, *merged.where), outputs=merged.outputs)
    return Block((Source(source.id, branch),), where=block.where, outputs=block.outputs)


def flatten_union(union: Union) -> Query:
    """UNION ALL is associative; a branch without rows adds none; one branch alone is itself."""
    branches: list[Query] = []
    for branch in union.branches:
        branches += branch.branches if isinstance(branch, Union) else [branch]
    kept = [b for b in branches if not is_empty(b)]
    if not kept:
        return branches[0]
    return kept[0] if len(kept) == 1 else Union(tuple(kept))


def is_empty(query: Query) -> bool:
    return isinstance(query, Block) and query.group != () and FALSE in query.where
