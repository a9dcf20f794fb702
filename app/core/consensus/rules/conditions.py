"""Conditions, of which only TRUE counts: what may be rewritten there though its value changes from NULL to FALSE."""

from __future__ import annotations

from collections.abc import Callable

from app.core.consensus.nulls import COMPARISONS, never_true_when
from app.core.consensus.rules.env import Env, conjunction, disjunction
from app.core.consensus.rules.negation import negation
from app.core.consensus.rules.ranges import merge_ranges
from app.core.consensus.scope import columns_of
from app.core.consensus.terms import FALSE, TRUE, Block, Call, Col, Lit, Query, Source, Sub, Term, has_agg, has_window

ConditionRule = Callable[[Term, Env], Term | None]


def tidy_and(terms: list[Term], env: Env) -> Term:
    """A conjunction without what its other parts already say."""
    whole = conjunction(terms)
    if not (isinstance(whole, Call) and whole.op == "and"):
        return whole
    kept = _without_implied_not_null(list(whole.args))
    kept = _without_excluded(kept, env)
    return merge_ranges(kept)


def _without_implied_not_null(terms: list[Term]) -> list[Term]:
    """`x IS NOT NULL` beside a condition that cannot be TRUE for a NULL x says nothing."""
    kept = list(terms)
    for term in terms:
        match term:
            case Call("not", (Call("isnull", (inner,)),)):
                others = [t for t in kept if t != term]
                if any(never_true_when(o, lambda t, x=inner: t == x) for o in others):  # type: ignore[misc]  # mypy cannot type a default in a lambda
                    kept = others
            case _:
                pass
    return kept


def _without_excluded(terms: list[Term], env: Env) -> list[Term]:
    """`a AND (NOT a OR b)` is `a AND b`: where a is TRUE its negation is not. `a AND NOT a` is never TRUE."""
    opposites = {negation(t, env) for t in terms if not (isinstance(t, Call) and t.op == "or")}
    if any(t in opposites for t in terms):
        return [FALSE]
    kept = []
    for term in terms:
        if isinstance(term, Call) and term.op == "or":
            kept.append(disjunction([a for a in term.args if a not in opposites]))
        else:
            kept.append(term)
    return kept


def same_term(term: Term, env: Env) -> Term | None:
    """`x = x` is TRUE just where x is not NULL; `x <> x` and `x < x` are never TRUE."""
    match term:
        case Call("=" | "<=", (left, right)) if left == right:
            return negation(Call("isnull", (left,)), env)
        case Call("<>" | "<", (left, right)) if left == right:
            return FALSE
        case _:
            return None


def not_distinct_constant(term: Term, env: Env) -> Term | None:
    """`x IS NOT DISTINCT FROM c` is TRUE just where `x = c` is, if one side is never NULL."""
    match term:
        case Call("same?", (left, right)) if not env.nulls.possible(left) or not env.nulls.possible(right):
            return Call("=", (left, right))
        case _:
            return None


def distinct_from_constant(term: Term, env: Env) -> Term | None:
    """`x IS DISTINCT FROM c` is TRUE just where `x <> c` or x is NULL, if c is never NULL."""
    match term:
        case Call("not", (Call("same?", (left, right)),)):
            for never, other in ((left, right), (right, left)):
                if not env.nulls.possible(never):
                    return disjunction([Call("<>", (other, never)), Call("isnull", (other,))])
            return None
        case Call("not", (Call("case", (test, Lit("true", "bool"), Lit("false", "bool"))),)):
            return Call("nottrue", (test,))
        case _:
            return None


def case_condition(term: Term, env: Env) -> Term | None:
    """A CASE between TRUE and FALSE, as a condition, is its own condition, or says that this is not TRUE."""
    match term:
        case Call("case", (test, Lit("true", "bool"), Lit("false", "bool") | Lit(_, "null"))):
            return test
        case Call("case", (test, Lit("false", "bool") | Lit(_, "null"), Lit("true", "bool"))):
            return Call("nottrue", (test,))
        case _:
            return None


def coalesce_condition(term: Term, env: Env) -> Term | None:
    """`COALESCE(x, c) op d` over constants is `x op d`, or also `x IS NULL` where `c op d` holds.

    It is left alone when c and d are texts that a collation might call equal.
    """
    if not (isinstance(term, Call) and term.op in COMPARISONS):
        return None
    for at, arg in enumerate(term.args):
        other = term.args[1 - at]
        match arg:
            case Call("coalesce", (first, Lit() as default)) if isinstance(other, Lit):
                holds = _constant_holds(term.op, default, other, flipped=at == 1)
                if holds is None:
                    return None
                test = Call(term.op, (first, other) if at == 0 else (other, first))
                return disjunction([test, Call("isnull", (first,))]) if holds else test
            case _:
                pass
    return None


def _constant_holds(op: str, default: Lit, other: Lit, *, flipped: bool) -> bool | None:
    if default.kind == other.kind == "int":
        left, right = (int(other.value), int(default.value)) if flipped else (int(default.value), int(other.value))
        return {"=": left == right, "<>": left != right, "<": left < right, "<=": left <= right}[op]
    if default.kind == other.kind == "text" and op in ("=", "<>"):
        if default.value == other.value:
            return op == "="
        plain = all(v.isascii() and v.isalnum() for v in (default.value, other.value))
        if plain and default.value.lower() != other.value.lower():
            return op == "<>"
    return None


def not_true(term: Term, env: Env) -> Term | None:
    """`x is not TRUE` is `NOT x` where x is never NULL; for a comparison, its opposite or a NULL operand."""
    match term:
        case Call("not", (Call("nottrue", (twice,)),)) | Call("nottrue", (Call("nottrue", (twice,)),)):
            return twice
        case Call("nottrue", _):
            pass
        case _:
            return None
    (inner,) = term.args
    if not env.nulls.possible(inner):
        return negation(inner, env)
    match inner:
        case Col():
            return disjunction([negation(inner, env), Call("isnull", (inner,))])
        case Call(op, args) if op in COMPARISONS:
            return disjunction([negation(inner, env), *[Call("isnull", (a,)) for a in args]])
        case Call("and", args):
            return disjunction([Call("nottrue", (a,)) for a in args])
        case Call("or", args):
            return conjunction([Call("nottrue", (a,)) for a in args])
        case _:
            return None


def quantified(term: Term, env: Env) -> Term | None:
    """`x op ANY (q)` is TRUE just where q has a row for which `x op y` is; `x op ALL (q)` just where q has no row for
    which it is not TRUE. So both become EXISTS, whatever NULLs there are. `x IN (q)` is `= ANY`."""
    negated = False
    if isinstance(term, Call) and term.op == "not" and isinstance(term.args[0], Sub):
        negated, term = True, term.args[0]
        if len(term.args) < 2:
            return None
    if not isinstance(term, Sub) or term.op[:4] not in ("any:", "all:"):
        return None
    if any(has_agg(a) or has_window(a) for a in term.args):
        return None
    block = as_plain(term.query, env)
    if len(block.outputs) != len(term.args):
        return None
    op = term.op[4:]
    tests: list[Call] = [_compare(op, x, y) for x, y in zip(term.args, block.outputs, strict=True)]
    whole = conjunction(list(tests))
    if negated:  # NOT ((a, b) IN (q)): no row for which the row equality is TRUE or UNKNOWN
        possible = [disjunction([t, *[Call("isnull", (a,)) for a in t.args]]) for t in tests]
        return Call("not", (_exists(block, conjunction(possible)),))
    if term.op.startswith("any:"):
        return _exists(block, whole)
    return Call("not", (_exists(block, Call("nottrue", (whole,))),))


def _compare(op: str, left: Term, right: Term) -> Call:
    return Call({">": "<", ">=": "<="}[op], (right, left)) if op in (">", ">=") else Call(op, (left, right))


def _exists(block: Block, test: Term) -> Term:
    return Sub("exists", Block(block.sources, block.lefts, (*block.where, test), outputs=(TRUE,)))


def as_plain(query: Query, env: Env) -> Block:
    """`query` as a plain block: itself, or one that selects all from it."""
    if isinstance(query, Block) and query.plain:
        return query
    src = env.ctx.fresh()
    return Block((Source(src, query),), outputs=columns_of(src, query))


CONDITION_RULES: tuple[ConditionRule, ...] = (
    same_term,
    not_distinct_constant,
    distinct_from_constant,
    case_condition,
    coalesce_condition,
    not_true,
    quantified,
)
