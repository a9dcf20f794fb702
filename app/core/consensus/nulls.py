"""Kinds, and where NULL can come from: the two questions that most rewrites ask of a term."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from app.core.consensus.terms import Agg, Call, Col, Ext, Free, Kind, Lit, Over, Same, Sub, Term

# NULL as soon as one argument is.
STRICT = frozenset({"=", "<>", "<", "<=", "+", "*", "-", "/", "neg", "%", "||", "like", "ilike", "lower", "upper",
                    "length", "abs", "trim", "substring", "extract", "round", "floor", "ceil", "datetrunc"})  # fmt: skip
COMPARISONS = frozenset({"=", "<>", "<", "<="})
_ALWAYS_KNOWN = frozenset({"isnull", "same?", "nottrue"})
BOOLEAN = COMPARISONS | _ALWAYS_KNOWN | {"and", "or", "not", "in", "like", "ilike"}
_NUMBERS: tuple[Kind, ...] = ("int", "decimal", "float")


def kind_of(term: Term) -> Kind:
    """The kind of the term's values, `unknown` where it cannot be told."""
    match term:
        case Col() | Lit():
            return term.kind
        case Same(members):
            return kind_of(members[0])
        case Ext(_, inner):
            return kind_of(inner)
        case Sub(op, query, _):
            if op != "scalar":
                return "bool"
            outputs = getattr(query, "outputs", ())
            return kind_of(outputs[0]) if outputs else "unknown"
        case Agg(op, args):
            if op == "count":
                return "int"
            return kind_of(args[0]) if op in ("min", "max") and args else "unknown"
        case Call():
            return _kind_of_call(term)
        case Over() | Free():
            return "unknown"


def _kind_of_call(call: Call) -> Kind:
    op = call.op.split(":", 1)[0]
    if op in BOOLEAN:
        return "bool"
    if op == "cast":
        return call.op.split(":", 2)[1]  # type: ignore[return-value]  # the reader writes a Kind there
    if op in ("+", "*", "-", "neg"):
        kinds = {kind_of(a) for a in call.args}
        if kinds <= {"int"}:
            return "int"
        return "decimal" if kinds <= {"int", "decimal"} else ("float" if kinds <= set(_NUMBERS) else "unknown")
    if op == "case":
        values = {kind_of(v) for v in (*call.args[1::2], *call.args[-1:])} - {"null"}
        return values.pop() if len(values) == 1 else "unknown"
    if op == "coalesce":
        kinds = {kind_of(a) for a in call.args} - {"null"}
        return kinds.pop() if len(kinds) == 1 else "unknown"
    if op in ("||", "lower", "upper", "trim", "substring"):
        return "text"
    return "int" if op in ("extract", "length") else "unknown"


def may_be_null(term: Term, nullable: AbstractSet[int], null_quotient: bool = True, known: AbstractSet[Term] = frozenset()) -> bool:  # noqa: E501, FBT001, FBT002  # one question, four facts
    """Whether some row can make `term` NULL.

    `nullable` are the occurrences that an outer join may fill with NULLs; `known`, terms proven never NULL here.
    """
    if term in known:
        return False

    def null(inner: Term) -> bool:
        return may_be_null(inner, nullable, null_quotient, known)

    match term:
        case Col(src, _, _, not_null):
            return not not_null or src in nullable
        case Lit(_, kind):
            return kind == "null"
        case Same():
            return False
        case Ext(src, inner):
            return src in nullable or null(inner)
        case Sub(op):
            return op != "exists"
        case Agg(op):
            return op != "count"
        case Call(op, args):
            return _call_may_be_null(op.split(":", 1)[0], args, null, null_quotient)
        case Over() | Free():
            return True


def _call_may_be_null(op: str, args: tuple[Term, ...], null: object, null_quotient: bool) -> bool:  # noqa: FBT001
    test = null
    assert callable(test)
    if op in _ALWAYS_KNOWN:
        return False
    if op == "coalesce":
        return all(test(a) for a in args)
    if op == "case":
        values = [*args[1:-1:2], args[-1]]
        return any(test(v) for v in values)
    if op in ("/", "%"):
        return null_quotient or any(test(a) for a in args)
    if op in STRICT or op in ("and", "or", "not", "in"):
        # A known operator over known values has a value; an unknown function may return NULL for anything.
        return op in ("substring", "extract", "datetrunc") or any(test(a) for a in args)
    return True


def null_on(term: Term, srcs: AbstractSet[int]) -> bool:
    """Whether `term` is NULL in every row where all columns of `srcs` are."""
    match term:
        case Col(src):
            return src in srcs
        case Lit(_, kind):
            return kind == "null"
        case Ext(src, inner):
            return src in srcs or null_on(inner, srcs)
        case Same(members):
            return any(null_on(m, srcs) for m in members)
        case Call(op, args):
            name = op.split(":", 1)[0]
            if name in STRICT or name == "cast":
                return any(null_on(a, srcs) for a in args)
            if name == "in":
                return null_on(args[0], srcs)
            if name == "not":
                return null_on(args[0], srcs)
            if name in ("coalesce", "and", "or"):
                return all(null_on(a, srcs) for a in args)
            return False
        case Sub() | Agg() | Over() | Free():
            return False


def never_true_on(term: Term, srcs: AbstractSet[int]) -> bool:
    """Whether the condition `term` cannot be true in a row where all columns of `srcs` are NULL."""
    if null_on(term, srcs) or (isinstance(term, Lit) and term.value == "false"):
        return True
    match term:
        case Call("and", args):
            return any(never_true_on(a, srcs) for a in args)
        case Call("or", args):
            return all(never_true_on(a, srcs) for a in args)
        case Call("not", (Call("isnull", (inner,)),)):
            return null_on(inner, srcs)
        case Sub("exists", query, _):
            where = getattr(query, "where", ())
            grand = getattr(query, "group", None) == ()
            return not grand and any(never_true_on(c, srcs) for c in where)
        case Sub(op, _, args):
            # x = ANY (…) with x NULL is never true; x <> ALL over no rows is.
            return op.startswith("any:") and any(null_on(a, srcs) for a in args)
        case _:
            return False
