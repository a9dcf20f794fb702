"""CASE, COALESCE, IS NULL, comparisons with TRUE: rewrites that keep a term's value, NULL included."""

from __future__ import annotations

from app.core.consensus.nulls import COMPARISONS, kind_of
from app.core.consensus.rules.env import Env, conjunction, disjunction, in_order
from app.core.consensus.rules.negation import negation
from app.core.consensus.terms import FALSE, NULL, TRUE, Agg, Call, Lit, Term, unique


def commute(term: Call, env: Env) -> Term | None:
    """`a = b` is `b = a`, and AND, OR and IN keep their value in any order."""
    match term:
        case Call("=" | "<>" | "same?" as op, args):
            return Call(op, in_order(args))
        case Call("in", (left, *options)):
            return Call("in", (left, *in_order(unique(options))))
        case _:
            return None


def flatten_logic(term: Call, env: Env) -> Term | None:
    """AND and OR are associative and idempotent in three-valued logic; TRUE and FALSE are their neutral elements."""
    match term:
        case Call("and", args):
            return conjunction(args)
        case Call("or", args):
            return disjunction(args)
        case _:
            return None


def absorb(term: Call, env: Env) -> Term | None:
    """`a AND (a OR b)` is `a`, and `a OR (a AND b)` is `a`: AND is the minimum and OR the maximum of truth values."""
    if term.op not in ("and", "or"):
        return None
    inner = "or" if term.op == "and" else "and"
    sets = {a: frozenset(a.args if isinstance(a, Call) and a.op == inner else (a,)) for a in term.args}
    kept = [a for a in term.args if not any(sets[b] < sets[a] for b in term.args)]
    build = conjunction if term.op == "and" else disjunction
    return build(kept) if len(kept) < len(term.args) else None


def factor(term: Call, env: Env) -> Term | None:
    """`(a AND b) OR (a AND c)` is `a AND (b OR c)`: the distributive law of minimum and maximum."""
    if term.op != "or":
        return None
    sets = [tuple(a.args) if isinstance(a, Call) and a.op == "and" else (a,) for a in term.args]
    common = [t for t in sets[0] if all(t in s for s in sets[1:])]
    if not common:
        return None
    rest = [conjunction([t for t in s if t not in common]) for s in sets]
    return conjunction([*common, disjunction(rest)])


def merge_options(term: Call, env: Env) -> Term | None:
    """`x = 1 OR x = 2` is `x IN (1, 2)`, which is defined as that."""
    if term.op != "or":
        return None
    options: dict[Term, list[Term]] = {}
    rest: list[Term] = []
    for arg in term.args:
        match arg:
            case Call("=", (Lit() as literal, other)) | Call("=", (other, Lit() as literal)):
                options.setdefault(other, []).append(literal)
            case Call("in", (other, *literals)):
                options.setdefault(other, []).extend(literals)
            case _:
                rest.append(arg)
    if sum(map(len, options.values())) + len(rest) == len(options) + len(rest):
        return None
    merged = [_one_of(left, tuple(literals)) for left, literals in options.items()]
    result = disjunction([*rest, *merged])
    return result if result != term else None


def _one_of(left: Term, literals: tuple[Term, ...]) -> Term:
    kept = in_order(unique(literals))
    return Call("=", in_order((left, kept[0]))) if len(kept) == 1 else Call("in", (left, *kept))


def complement(term: Call, env: Env) -> Term | None:
    """`x OR (NOT x AND y)` is `x OR y` where x is never NULL: with two truth values left it is the law of cases."""
    if term.op != "or":
        return None
    for first in term.args:
        if env.nulls.possible(first):
            continue
        opposite = negation(first, env)
        if opposite in term.args:
            return TRUE
        for other in term.args:
            if isinstance(other, Call) and other.op == "and" and opposite in other.args:
                rest = conjunction([a for a in other.args if a != opposite])
                return disjunction([rest if t == other else t for t in term.args])
    return None


def is_null(term: Call, env: Env) -> Term | None:
    """IS NULL of what is never NULL is FALSE; of a strict operator, it is IS NULL of one of its operands."""
    if term.op != "isnull":
        return None
    (inner,) = term.args
    if inner == NULL:
        return TRUE
    if not env.nulls.possible(inner):
        return FALSE
    match inner:
        case Call(op, args) if op in COMPARISONS or op in ("+", "*", "-", "neg"):
            return disjunction([Call("isnull", (a,)) for a in args])
        case _:
            return None


def compare_truth(term: Call, env: Env) -> Term | None:
    """`p = TRUE` is `p`, `p = FALSE` is `NOT p` for a boolean p; and of one never-NULL term with itself, TRUE."""
    match term:
        case Call("=" | "<>" | "<" | "<=" as op, (left, right)) if left == right and not env.nulls.possible(left):
            return TRUE if op in ("=", "<=") else FALSE
        case Call("=" | "<>" as op, (left, right)):
            for literal, other in ((left, right), (right, left)):
                if literal in (TRUE, FALSE) and kind_of(other) == "bool":
                    return other if (literal == TRUE) == (op == "=") else negation(other, env)
            return None
        case _:
            return None


def not_distinct(term: Call, env: Env) -> Term | None:
    """IS NOT DISTINCT FROM between terms that are never NULL is `=`; with NULL it is IS NULL."""
    if term.op != "same?":
        return None
    left, right = term.args
    if left == right:
        return TRUE
    if NULL in term.args:
        return Call("isnull", (right if left == NULL else left,))
    if not env.nulls.possible(left) and not env.nulls.possible(right):
        return Call("=", term.args)
    for literal, other in ((left, right), (right, left)):
        if literal == TRUE and kind_of(other) == "bool":
            return Call("case", (other, TRUE, FALSE))
    return None


def simplify_coalesce(term: Call, env: Env) -> Term | None:
    """COALESCE is flat, skips NULL, and never gets past an argument that is never NULL."""
    if term.op != "coalesce":
        return None
    args: list[Term] = []
    for arg in (p for a in term.args for p in (a.args if isinstance(a, Call) and a.op == "coalesce" else (a,))):
        if arg == NULL or arg in args:
            continue
        args.append(arg)
        if not env.nulls.possible(arg):
            break
    if not args:
        return NULL
    return args[0] if len(args) == 1 else Call("coalesce", tuple(args)) if tuple(args) != term.args else None


def counted_sum(term: Call, env: Env) -> Term | None:
    """`COALESCE(SUM(CASE WHEN p THEN 1 ELSE 0 END), 0)` counts the rows of p, over no rows as well."""
    match term:
        case Call(
            "coalesce",
            (Agg("sum", (Call("case", (test, Lit("1", "int"), Lit("0", "int"))),), False, ()), Lit("0", "int")),
        ):
            return Agg("count", (), where=(test,))
        case _:
            return None


def simplify_case(term: Call, env: Env) -> Term | None:  # one branch for each kind  # noqa: C901  # one branch for each kind
    """Branches never or always taken, branches all alike, and the CASE forms of COALESCE and of a condition."""
    if term.op != "case":
        return None
    *pairs, default = term.args
    args: list[Term] = []
    for condition, value in zip(pairs[::2], pairs[1::2], strict=True):
        if condition in (FALSE, NULL):
            continue
        if condition == TRUE:
            default = value
            break
        args += [condition, value]
    while args and args[-1] == default:
        args = args[:-2]
    if not args:
        return default
    match args, default:
        case [Call("isnull", (tested,)), value], _ if tested == default:
            return Call("coalesce", (tested, value))
        case [Call("not", (Call("isnull", (tested,)),)), value], _ if tested == value:
            return Call("coalesce", (tested, default)) if default != NULL else tested
        case [condition, Lit("true", "bool")], Lit("false", "bool") if not env.nulls.possible(condition):
            return condition
        case [condition, Lit("false", "bool")], Lit("true", "bool") if not env.nulls.possible(condition):
            return negation(condition, env)
        case _:
            return Call("case", (*args, default)) if (*args, default) != term.args else None


def null_logic(term: Call, env: Env) -> Term | None:
    """`CASE WHEN p THEN FALSE ELSE NULL END` is `NOT p AND NULL` for a p that is never NULL."""
    match term:
        case Call("case", (condition, Lit("false", "bool"), Lit(_, "null"))) if not env.nulls.possible(condition):
            return conjunction([negation(condition, env), NULL])
        case Call("case", (condition, Lit("true", "bool"), Lit(_, "null"))) if not env.nulls.possible(condition):
            return disjunction([condition, NULL])
        case _:
            return None
