"""The last step before comparing: equal terms are written as one, so that it does not matter which of them was used."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.core.consensus.normalise import tidy_terms
from app.core.consensus.nulls import Nulls
from app.core.consensus.rules.env import in_order
from app.core.consensus.rules.keys import equalities, exact_classes, nullable_ids, proven_not_null
from app.core.consensus.rules.limits import is_choice, reduce_order
from app.core.consensus.terms import (
    Block,
    Call,
    Col,
    Full,
    Func,
    Join,
    Lit,
    Minus,
    Query,
    Same,
    Source,
    Sub,
    Table,
    Term,
    Union,
    rewrite,
    rewrite_block,
    unique,
)

if TYPE_CHECKING:
    from app.core.consensus.context import Context


def finish(query: Query, ctx: Context, nulls: Nulls | None = None) -> Query:
    """`query`, in normal form, with each class of equal columns written as one `Same`, or as its constant."""
    nulls = nulls or Nulls(quotient=ctx.null_quotient)
    match query:
        case Union():
            return Union(tuple([finish(b, ctx, nulls) for b in query.branches]))
        case Minus():
            return Minus(query.op, finish(query.left, ctx, nulls), finish(query.right, ctx, nulls))
        case Block():
            block = reduce_order(query, ctx, nulls)
            ctx.choice = ctx.choice or is_choice(block, ctx)
            for _ in range(3):  # a constant may make more terms equal
                block, again = tidy_terms(_classes_as_one(block, ctx), ctx, nulls), block
                if block == again:
                    break
            return _inside(block, ctx, nulls)


def _classes_as_one(block: Block, ctx: Context) -> Block:
    """Equal columns of the same exact kind are one value in every row that passes WHERE: any may stand for the rest."""
    leaves = (Col, Lit, Same)  # a `Same` is a class of the block around this one
    pairs = [(a, b) for a, b in equalities(block.where) if isinstance(a, leaves) and isinstance(b, leaves)]
    change: dict[Term, Term] = {}
    classes: list[Term] = []
    for group in exact_classes(pairs, ctx).groups():
        columns = [t for t in group if isinstance(t, (Col, Same))]
        constants = [t for t in group if isinstance(t, Lit)]
        if len(constants) > 1:
            continue
        one: Term = constants[0] if constants else Same(_members(columns))
        change.update({c: one for c in columns if isinstance(c, Col)})
        classes += [Call("=", in_order((c, one))) for c in columns] if constants else [Call("same", _members(columns))]
    if not change:
        return block
    rest = tuple(c for c in block.where if not _within(c, change))
    new = rewrite_block(replace(block, where=rest), lambda t: change.get(t, t))
    return replace(new, where=(*new.where, *classes))


def _members(terms: list[Col | Same]) -> tuple[Term, ...]:
    return in_order(unique([m for t in terms for m in (t.members if isinstance(t, Same) else (t,))]))


def _within(condition: Term, change: dict[Term, Term]) -> bool:
    """Whether `condition` is an equality inside one class, said by the class itself."""
    match condition:
        case Call("=", (left, right)):
            a, b = (change.get(t, t) for t in (left, right))
            return a == b or (isinstance(a, Same) and isinstance(b, Same) and set(a.members) & set(b.members) != set())
        case _:
            return False


def _inside(block: Block, ctx: Context, nulls: Nulls) -> Block:
    inner = nulls.with_nullable(nullable_ids(block)).with_known(proven_not_null(block.where))

    def sub(term: Term) -> Term:
        return Sub(term.op, finish(term.query, ctx, inner), term.args) if isinstance(term, Sub) else term

    def each(terms: tuple[Term, ...]) -> tuple[Term, ...]:
        return tuple([rewrite(t, sub) for t in terms])

    return replace(
        block,
        sources=tuple([_source(s, ctx, nulls) for s in block.sources]),
        lefts=tuple([Join(_source(j.source, ctx, nulls), each(j.on)) for j in block.lefts]),
        where=each(block.where),
        having=each(block.having),
        outputs=each(block.outputs),
    )


def _source(source: Source, ctx: Context, nulls: Nulls) -> Source:
    match source.rel:
        case Table() | Func():
            return source
        case Full(left, right, on):
            return Source(source.id, Full(_source(left, ctx, nulls), _source(right, ctx, nulls), on))
        case _:
            return Source(source.id, finish(source.rel, ctx, nulls))
