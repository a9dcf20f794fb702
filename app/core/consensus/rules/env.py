"""What a rewrite of a term may rely on, and a stable order for terms whose order does not matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.core.consensus.terms import FALSE, TRUE, Call, Term, unique

if TYPE_CHECKING:
    from app.core.consensus.context import Context
    from app.core.consensus.nulls import Nulls


@dataclass(frozen=True)
class Env:
    ctx: Context
    nulls: Nulls


def sort_key(term: Term) -> str:
    """A text to sort terms by: the same for equal terms of one statement, and nothing more."""
    known = term.__dict__.get("_sort_key")
    if known is None:
        known = repr(term)
        object.__setattr__(term, "_sort_key", known)
    return str(known)


def in_order(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    return tuple(sorted(terms, key=sort_key))


def parts(op: str, term: Term) -> tuple[Term, ...]:
    """The operands of a chain of `op`: `a AND (b AND c)` has three."""
    if isinstance(term, Call) and term.op == op:
        return tuple(p for a in term.args for p in parts(op, a))
    return (term,)


def conjunction(terms: tuple[Term, ...] | list[Term]) -> Term:
    """AND over any number of conditions; TRUE over none."""
    kept = unique([p for t in terms for p in parts("and", t) if p != TRUE])
    if FALSE in kept:
        return FALSE
    return kept[0] if len(kept) == 1 else Call("and", in_order(kept)) if kept else TRUE


def disjunction(terms: tuple[Term, ...] | list[Term]) -> Term:
    """OR over any number of conditions; FALSE over none."""
    kept = unique([p for t in terms for p in parts("or", t) if p != FALSE])
    if TRUE in kept:
        return TRUE
    return kept[0] if len(kept) == 1 else Call("or", in_order(kept)) if kept else FALSE
