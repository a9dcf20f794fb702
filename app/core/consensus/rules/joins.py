"""Joins that keys and references prove to add or remove nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.core.consensus.rules.grouped import counts_duplicates
from app.core.consensus.rules.keys import BlockFacts, equalities, keys_of
from app.core.consensus.rules.merging import without
from app.core.consensus.terms import (
    TRUE,
    Block,
    Call,
    Col,
    Free,
    Full,
    Join,
    Source,
    Table,
    Term,
    block_terms,
    occurrences,
    rewrite_block,
    source_terms,
    subterms,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.core.consensus.context import Context
    from app.core.consensus.nulls import Nulls


def reads_of(block: Block, src: int, *, but_on: Join | None = None) -> set[Term]:
    """The columns of `src` that `block` reads anywhere, the join condition of `but_on` aside."""
    lefts = tuple(j for j in block.lefts if j is not but_on)
    shown = replace(block, lefts=lefts)
    terms = [
        *block_terms(shown),
        *[t for s in (*block.sources, *[j.source for j in block.lefts]) for t in source_terms(s)],
    ]
    found: set[Term] = set()
    for term in terms:
        for part in subterms(term):
            if getattr(part, "src", None) == src or (isinstance(part, Free) and src in part.srcs):
                found.add(part)
    return found


def drop_left(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """A left join that nothing reads is dropped where it cannot multiply rows: its condition fixes a key of the joined
    table, so each row meets one partner or none, or the block's result does not depend on how often a row comes."""
    for join in reversed(block.lefts):
        if isinstance(join.source.rel, Full) or reads_of(block, join.source.id, but_on=join):
            continue
        # The rows before the join are given; is its own row then fixed?
        bare = replace(block, lefts=(join,), where=())
        facts = BlockFacts(bare, ctx)
        given = [t for c in join.on for t in subterms(c) if isinstance(t, Col) and t.src != join.source.id]
        if join.source.id in facts.determined(given) or not counts_duplicates(block, ctx):
            return without(block, join.source.id)
    return block


def substituted(block: Block, change: dict[Term, Term]) -> Block:
    return rewrite_block(block, lambda t: change.get(t, t))


def merge_same_row(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """Two occurrences of one table that are equal on a key are the same row: one of them is enough.

    Equality on the key's columns finds at most that row, and finds it, as the row exists.
    """
    facts = BlockFacts(block, ctx)
    exact = facts.classes
    tables = [s for s in block.sources if isinstance(s.rel, Table)]
    for i, keep in enumerate(tables):
        for gone in tables[i + 1 :]:
            if gone.rel != keep.rel or not _same_key(block, keep, gone, exact.find, ctx):
                continue
            return moved_onto(without(block, gone.id), gone.id, keep.id)
        for join in block.lefts:
            if join.source.rel == keep.rel and _only_key(join, keep, ctx):
                return moved_onto(without(block, join.source.id), join.source.id, keep.id)
    return block


def _same_key(block: Block, keep: Source, gone: Source, find: Callable[[Term], Term], ctx: Context) -> bool:
    columns = {t for p in equalities(block.where) for t in p if isinstance(t, Col)}

    def column(src: int, name: str) -> Term | None:
        return next((c for c in columns if (c.src, c.name) == (src, name)), None)

    for key in keys_of(keep, ctx):
        pairs = [(column(keep.id, c), column(gone.id, c)) for c in key.columns]
        if all(a is not None and b is not None and find(a) == find(b) for a, b in pairs):
            kinds = {c.kind for p in pairs for c in p if isinstance(c, Col)}
            if all(ctx.identical(k, k) for k in kinds):
                return True
    return False


def _only_key(join: Join, keep: Source, ctx: Context) -> bool:
    """Whether the left join is on a never-NULL key of the kept row, and on nothing else: it then finds that row."""
    pairs = equalities(join.on)
    names = set()
    for left, right in pairs:
        if not (isinstance(left, Col) and isinstance(right, Col) and left.name == right.name and left.not_null):
            return False
        if {left.src, right.src} != {join.source.id, keep.id}:
            return False
        names.add(left.name)
    return len(pairs) == len(join.on) and any(set(k.columns) == names for k in keys_of(keep, ctx))


def moved_onto(block: Block, gone: int, keep: int) -> Block:
    """`block` reading occurrence `keep` wherever it read `gone`."""

    def change(term: Term) -> Term:
        if isinstance(term, Col) and term.src == gone:
            return replace(term, src=keep)
        if isinstance(term, Free) and gone in term.srcs:
            return replace(term, srcs=tuple(dict.fromkeys(keep if s == gone else s for s in term.srcs)))
        return term

    return rewrite_block(block, change)


def drop_referenced(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """An inner join to the row that a foreign key refers to, of which only the key is read, keeps just the rows whose
    foreign key is not NULL: the reference guarantees the partner, the key that there is one. A left join, likewise,
    gives the foreign key itself."""
    for source in block.sources:
        found = _referencing(block, source, block.where, ctx)
        if found is not None and _reads_only(block, source, found):
            rest = without(substituted(block, dict(found)), source.id)
            conditions = [c for c in rest.where if not (isinstance(c, Call) and c.op == "=" and c.args[0] == c.args[1])]
            present: list[Term] = [Call("not", (Call("isnull", (f,)),)) for f in found.values()]
            return replace(rest, where=(*conditions, *present))
    for join in block.lefts:
        found = _referencing(block, join.source, join.on, ctx)
        whole = found is not None and (
            len(found) == 1 or all(isinstance(f, Col) and f.not_null for f in found.values())
        )
        if found is not None and whole and len(join.on) == len(found) and _reads_only(block, join.source, found):
            return without(
                substituted(replace(block, lefts=tuple(j for j in block.lefts if j is not join)), dict(found)), -1
            )
    return block


def _referencing(block: Block, source: Source, on: tuple[Term, ...], ctx: Context) -> dict[Term, Term] | None:
    """The key columns of `source`, each with the foreign-key column of one other occurrence that equals it in `on`."""
    if not isinstance(source.rel, Table):
        return None
    pairs = [(a, b) for p in equalities(on) for a, b in (p, p[::-1]) if isinstance(a, Col) and isinstance(b, Col)]
    for other in (*block.sources, *[j.source for j in block.lefts]):
        info = ctx.schema.get(other.rel.name) if isinstance(other.rel, Table) else None
        if info is None or other.id == source.id:
            continue
        for reference in info.references:
            if reference.target != source.rel.name:
                continue
            wanted = dict(zip(reference.target_columns, reference.columns, strict=True))
            found: dict[Term, Term] = {
                mine: theirs
                for mine, theirs in pairs
                if mine.src == source.id and theirs.src == other.id and wanted.get(mine.name) == theirs.name
            }
            if len(found) == len(wanted) and all(ctx.identical(c.kind, c.kind) for c in found if isinstance(c, Col)):
                return found
    return None


def _reads_only(block: Block, source: Source, found: dict[Term, Term]) -> bool:
    return all(t in found for t in reads_of(block, source.id))


def reference_to_inner(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """A left join along a foreign key that is never NULL always finds its row, so it is an inner join."""
    for join in block.lefts:
        found = _referencing(block, join.source, join.on, ctx)
        if found is None or len(join.on) != len(found):
            continue
        inner = {i for s in block.sources for i in s.ids if not isinstance(s.rel, Full)}
        if all(isinstance(f, Col) and f.not_null and f.src in inner for f in found.values()):
            rest = without(block, join.source.id)
            return replace(rest, sources=(*rest.sources, join.source), where=(*rest.where, *join.on))
    return block


def fold_sources(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """Where duplicates do not count, an occurrence that asks no more than another one already gives is dropped.

    If every condition on `gone` also holds with `keep` in its place, the row of `keep` is always a partner; and
    nothing else reads `gone`. `keep.x = keep.x` holds where x is not NULL, which is then asked instead.
    """
    if counts_duplicates(block, ctx):
        return block
    for gone in block.sources:
        if not isinstance(gone.rel, Table):
            continue
        mine = [c for c in block.where if gone.id in occurrences(c)]
        rest = without(replace(block, where=tuple(c for c in block.where if c not in mine)), gone.id)
        if reads_of(rest, gone.id) or any(isinstance(t, Free) for c in mine for t in subterms(c)):
            continue
        for keep in rest.sources:
            if keep.rel != gone.rel:
                continue
            asked = moved_onto(Block(where=tuple(mine)), gone.id, keep.id).where
            kept = [_left_over(c, rest) for c in asked]
            if None not in kept:
                return replace(rest, where=(*rest.where, *[c for c in kept if c is not None and c != TRUE]))
    return block


def _left_over(condition: Term, block: Block) -> Term | None:
    """What `condition` still asks beside the block's own conditions: nothing (TRUE), that a term is not NULL, or more
    than is known (None)."""
    if condition in block.where:
        return TRUE
    match condition:
        case Call("=", (left, right)) if left == right:
            return Call("not", (Call("isnull", (left,)),))
        case Call("same?", (left, right)) if left == right:
            return TRUE
        case Call("=", (left, right)) if Call("=", (right, left)) in block.where:
            return TRUE
        case _:
            return None
