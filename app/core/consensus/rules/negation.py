"""NOT pushed inward, as three-valued logic allows everywhere: NOT of UNKNOWN is UNKNOWN on both sides of each rule."""

from __future__ import annotations

from app.core.consensus.nulls import kind_of
from app.core.consensus.rules.env import Env, conjunction, disjunction
from app.core.consensus.terms import FALSE, NULL, TRUE, Call, Lit, Sub, Term

# Dialects whose NaN compares false with everything: NOT (x < 5) holds for it, x >= 5 does not.
_LOOSE_NAN = frozenset({"bigquery", "presto", "trino", "athena", "clickhouse"})
_QUANTIFIED = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def negation(term: Term, env: Env) -> Term:  # one branch for each kind  # noqa: C901, PLR0912  # one branch for each kind
    """NOT `term`, with the NOT as far inside as it goes.

    De Morgan holds in three-valued logic; a comparison and its opposite are UNKNOWN for the same operands; and
    NOT (x = ANY q) is x <> ALL q by definition.
    """
    match term:
        case Lit("true", _):
            return FALSE
        case Lit("false", _):
            return TRUE
        case Lit(_, "null"):
            return NULL
        case Call("and", args):
            return disjunction([negation(a, env) for a in args])
        case Call("or", args):
            return conjunction([negation(a, env) for a in args])
        case Call("not", (inner,)):
            return inner
        case Call("=", args):
            return Call("<>", args)
        case Call("<>", args):
            return Call("=", args)
        case Call("<" | "<=" as op, (left, right)):
            if env.ctx.dialect in _LOOSE_NAN and {kind_of(left), kind_of(right)} & {"float", "unknown"}:
                return Call("not", (term,))
            return Call("<=" if op == "<" else "<", (right, left))
        case Call("in", (left, *options)):
            return conjunction([Call("<>", (left, o)) for o in options])
        case Sub(op, query, args) if op[:4] in ("any:", "all:"):
            other = "all:" if op.startswith("any:") else "any:"
            return Sub(other + _QUANTIFIED[op[4:]], query, args) if len(args) == 1 else Call("not", (term,))
        case _:
            return Call("not", (term,))


def push_not(term: Call, env: Env) -> Term | None:
    """`NOT (…)` is replaced by the negation of what is inside."""
    return negation(term.args[0], env) if term.op == "not" else None
