"""ORDER BY and LIMIT: which order counts, and when the rows it keeps are certain."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.core.consensus.rules.grouped import is_distinct, outputs_fixed
from app.core.consensus.rules.keys import BlockFacts
from app.core.consensus.terms import (
    ONE,
    Agg,
    Block,
    Call,
    Col,
    Lit,
    OrderKey,
    Over,
    Source,
    Term,
    has_window,
    rewrite,
    subterms,
    unique,
)

if TYPE_CHECKING:
    from app.core.consensus.context import Context
    from app.core.consensus.nulls import Nulls


def reduce_order(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """A sort key that the keys before it determine never decides."""
    if not block.order:
        return block
    kept: list[OrderKey] = []
    for key in block.order:
        if isinstance(key.term, Lit) or determined_by(block, [k.term for k in kept], key.term, ctx):
            continue
        kept.append(key)
    return replace(block, order=tuple(kept)) if len(kept) < len(block.order) else block


def determined_by(block: Block, given: list[Term], term: Term, ctx: Context) -> bool:
    """Whether rows of the result that agree on `given` agree on `term`."""
    if term in given:
        return True
    if block.sets:
        return False
    facts = BlockFacts(block, ctx)
    if block.group is not None and all(g in given or isinstance(g, Lit) for g in block.group):
        return True  # one row a group
    known, done = facts.closure(given)
    if isinstance(term, Col):
        return term.src in done or (facts.fixed(term, known, done) and ctx.identical(term.kind, term.kind))
    return block.group is None and facts.determines(given) and not has_window(term)


def total_order(block: Block, ctx: Context) -> bool:
    """Whether the order leaves no two different rows of the result in doubt: then a limit has one answer."""
    terms = [k.term for k in block.order]
    return all(isinstance(o, Lit) or determined_by(block, terms, o, ctx) for o in block.outputs)


def is_choice(block: Block, ctx: Context) -> bool:
    """Whether the block leaves a choice to the engine: a limit among ties, DISTINCT ON or a numbering that the order
    does not decide, a column that is neither grouped by nor determined by what is."""
    if block.limited and not block.ties and not total_order(block, ctx):
        return True
    if block.pick and not BlockFacts(block, ctx).determines([*block.pick, *[k.term for k in block.order]]):
        return True
    if block.group is not None and not block.sets and not outputs_fixed(block, ctx):
        return True
    return any(_undecided(t, block, ctx) for o in block.outputs for t in subterms(o) if isinstance(t, Over))


def _undecided(window: Over, block: Block, ctx: Context) -> bool:
    """Whether rows that tie in the window's order may get different values. Ranks and default frames treat peers
    alike; numbers, offsets and ROWS frames do not."""
    name = window.func.op.split(":")[0] if isinstance(window.func, Call) else ""
    peers_alike = (isinstance(window.func, Agg) and "rows" not in window.frame) or name in _RANKS
    if peers_alike or (isinstance(window.func, Agg) and not window.order):
        return False
    given = [*window.partition, *[k.term for k in window.order]]
    if block.group is not None:
        return not all(g in given or isinstance(g, Lit) for g in block.group)
    return not BlockFacts(block, ctx).determines(given)


_RANKS = frozenset({"rank", "denserank", "percentrank", "cumedist"})


def limit_one(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """The first row is the same with or without DISTINCT, when the order leaves only equal rows in doubt."""
    if block.limit != ONE or block.offset is not None or block.ties or not is_distinct(block, ctx):
        return block
    terms = [k.term for k in block.order]
    if all(o in terms for o in block.outputs) and all(t in (block.group or ()) for t in terms):
        return replace(block, group=None)
    return block


def limit_of_one_row(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """A limit above zero keeps the only row of an aggregate without GROUP BY."""
    one_row = block.group == () and not block.sets and block.offset is None
    if one_row and isinstance(block.limit, Lit) and block.limit.value.strip("0"):
        return replace(block, limit=None, ties=False, order=())
    return block


def pick_to_row_number(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """DISTINCT ON (k) … ORDER BY k, o keeps the first row by o of each k: ROW_NUMBER() OVER (PARTITION BY k ORDER BY
    o) = 1. Done where o decides; among ties both are free to keep different rows."""
    if not block.pick or block.group is not None or block.limited:
        return block
    head = block.order[: len(unique(block.pick))]
    rest = tuple(k for k in block.order if k.term not in block.pick)
    if {k.term for k in head} != set(block.pick):
        return block
    facts = BlockFacts(block, ctx)
    if not facts.determines([*block.pick, *[k.term for k in rest]]):
        return block
    number = Over(Call("rownumber:", ()), tuple(block.pick), rest, "")
    inner = replace(block, pick=(), order=(), outputs=(*block.outputs, number))
    src = ctx.fresh()
    columns = tuple(Col(src, str(i)) for i in range(len(inner.outputs)))
    return Block((Source(src, inner),), where=(Call("=", (columns[-1], ONE)),), outputs=columns[:-1])


def constant_total(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """An aggregate without GROUP BY that computes nothing from its rows is one constant row."""
    if block.group != () or block.having or block.sets or (not block.sources and not block.where):
        return block
    if all(isinstance(o, Lit) for o in block.outputs):
        return Block(outputs=block.outputs)
    return block


def window_keys(block: Block, ctx: Context, nulls: Nulls) -> Block:
    """Inside OVER, a sort key that repeats a partition key never decides."""

    def change(term: Term) -> Term:
        if isinstance(term, Over):
            kept = tuple(k for k in term.order if k.term not in term.partition and not isinstance(k.term, Lit))
            partition = unique(term.partition)
            if kept and (kept != term.order or partition != term.partition):
                return Over(term.func, partition, kept, term.frame)
        return term

    outputs = tuple([rewrite(o, change) for o in block.outputs])
    return replace(block, outputs=outputs) if outputs != block.outputs else block
