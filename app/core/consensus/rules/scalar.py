"""The rewrites of scalar terms, as one tuple, and conditions, of which only TRUE counts."""

from __future__ import annotations

from collections.abc import Callable

from app.core.consensus.nulls import kind_of
from app.core.consensus.rules.conditions import CONDITION_RULES, tidy_and
from app.core.consensus.rules.env import Env, conjunction, disjunction
from app.core.consensus.rules.literals import (
    cast_literal,
    date_range,
    drop_cast,
    fold_arithmetic,
    fold_comparison,
    fold_interval,
    join_text,
    null_operand,
    type_literals,
)
from app.core.consensus.rules.negation import push_not
from app.core.consensus.rules.ranges import merge_ranges
from app.core.consensus.rules.values import (
    absorb,
    commute,
    compare_truth,
    complement,
    counted_sum,
    factor,
    flatten_logic,
    is_null,
    merge_options,
    not_distinct,
    null_logic,
    simplify_case,
    simplify_coalesce,
)
from app.core.consensus.terms import FALSE, NULL, TRUE, Agg, Call, Ext, Lit, OrderKey, Over, Same, Sub, Term

Rule = Callable[[Call, Env], Term | None]

VALUE_RULES: tuple[Rule, ...] = (
    null_operand,
    cast_literal,
    drop_cast,
    type_literals,
    fold_interval,
    fold_arithmetic,
    join_text,
    date_range,
    fold_comparison,
    push_not,
    flatten_logic,
    absorb,
    merge_options,
    factor,
    complement,
    is_null,
    compare_truth,
    not_distinct,
    counted_sum,
    simplify_coalesce,
    simplify_case,
    null_logic,
    commute,
)
_ROUNDS = 20


def normal(term: Term, env: Env) -> Term:
    """`term` rewritten until no rule of `VALUE_RULES` changes it: the same value in every row, NULL included."""
    match term:
        case Call("case", args):
            new: Term = Call("case", tuple(
                condition(a, env) if i % 2 == 0 and i < len(args) - 1 else normal(a, env) for i, a in enumerate(args)
            ))  # fmt: skip
        case Call(op, args):
            new = Call(op, tuple([normal(a, env) for a in args]))
        case Agg(op, args, distinct, where):
            kept = condition(conjunction(where), env)
            new = Agg(op, tuple([normal(a, env) for a in args]), distinct, () if kept == TRUE else (kept,))
        case Over(func, partition, order, frame):
            keys = tuple(OrderKey(normal(k.term, env), k.desc, k.nulls_first) for k in order)
            new = Over(normal(func, env), tuple([normal(p, env) for p in partition]), keys, frame)
        case Ext(src, inner):
            new = Ext(src, normal(inner, env))
        case Sub(op, query, args):
            new = Sub(op, query, tuple([normal(a, env) for a in args]))
        case Same():
            new = term
        case _:
            return term
    return _settled(new, env)


def _settled(term: Term, env: Env) -> Term:
    for _ in range(_ROUNDS):
        if not isinstance(term, Call):
            return term
        changed = next((n for rule in VALUE_RULES if (n := rule(term, env)) is not None and n != term), None)
        if changed is None:
            return term
        env.ctx.tick()
        term = normal(changed, env) if isinstance(changed, Call) and changed.op != term.op else changed
        if isinstance(term, Call):
            term = Call(term.op, tuple([normal(a, env) if isinstance(a, Call) else a for a in term.args]))
    return term


def condition(term: Term, env: Env) -> Term:
    """`term` where only TRUE counts: UNKNOWN and FALSE are alike in WHERE, ON, HAVING, FILTER and WHEN.

    NOT has been pushed to the atoms, and AND and OR are monotone, so a rewrite that keeps TRUE in an atom keeps it in
    the whole.
    """
    term = normal(term, env)
    for _ in range(_ROUNDS):
        new = _true_only(term, env)
        if new == term:
            return new
        term = normal(new, env)
    return term


def _true_only(term: Term, env: Env) -> Term:
    env.ctx.tick()
    match term:
        case Call("and", args):
            return tidy_and([_true_only(a, env) for a in args], env)
        case Call("or", args):
            return disjunction([_true_only(a, env) for a in args])
        case Lit(_, "null"):
            return FALSE
        case Lit(value, "int"):
            return FALSE if value == "0" else TRUE
        case _:
            for rule in CONDITION_RULES:
                new = rule(term, env)
                if new is not None and new != term:
                    return new
            return merge_ranges([term])  # one form for `x > 5` and `x >= 6` over integers


__all__ = ["VALUE_RULES", "condition", "normal"]
_ = (NULL, kind_of)
