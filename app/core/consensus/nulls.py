"""Kinds, and where NULL can come from: the two questions that most rewrites ask of a term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.core.consensus.terms import FALSE, Agg, Block, Call, Col, Ext, Free, Kind, Lit, Over, Same, Sub, Term

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from collections.abc import Set as AbstractSet

# NULL as soon as one argument is.
STRICT = frozenset({"=", "<>", "<", "<=", "+", "*", "-", "/", "neg", "%", "||", "like", "ilike", "lower", "upper",
                    "length", "abs", "trim", "substring", "extract", "round", "floor", "ceil",
                    "datetrunc"})  # fmt: skip
COMPARISONS = frozenset({"=", "<>", "<", "<="})
_ALWAYS_KNOWN = frozenset({"isnull", "same?", "nottrue"})
BOOLEAN = COMPARISONS | _ALWAYS_KNOWN | {"and", "or", "not", "in", "like", "ilike"}
# Operators that give a value for every value.
_TOTAL = COMPARISONS | {"+", "*", "-", "neg", "||", "like", "ilike", "lower", "upper", "length", "abs", "and", "or",
                        "not", "in"}  # fmt: skip
_NUMBERS: tuple[Kind, ...] = ("int", "decimal", "float")


def kind_of(term: Term) -> Kind:  # one branch for each kind  # noqa: C901  # one branch for each kind
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
            if op in ("min", "max") and args:
                return kind_of(args[0])
            # A sum of integers is wider than they are, in some dialects a decimal: it is not folded like one.
            return (
                {"int": "decimal", "decimal": "decimal", "float": "float"}.get(  # type: ignore[return-value]
                    kind_of(args[0]), "unknown"
                )
                if op == "sum" and args
                else "unknown"
            )
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


@dataclass(frozen=True)
class Nulls:
    """What is known of NULLs at one place of a statement.

    `nullable`: occurrences that an outer join may fill with NULLs; `known`: terms that are never NULL here;
    `quotient`: whether dividing by zero gives NULL.
    """

    nullable: frozenset[int] = frozenset()
    known: frozenset[Term] = frozenset()
    quotient: bool = True

    def possible(self, term: Term) -> bool:
        """Whether some row can make `term` NULL."""
        if term in self.known:
            return False
        match term:
            case Col(src, _, _, not_null):
                return not not_null or src in self.nullable
            case Lit(_, kind):
                return kind == "null"
            case Same():
                return False  # its members are equal, and NULL equals nothing
            case Ext(src, inner):
                return src in self.nullable or self.possible(inner)
            case Sub(op):
                return op != "exists"
            case Agg(op):
                return op != "count"
            case Call(op, args):
                return self._possible_call(op.split(":", 1)[0], args)
            case Over() | Free():
                return True

    def _possible_call(self, op: str, args: tuple[Term, ...]) -> bool:
        if op in _ALWAYS_KNOWN:
            return False
        if op == "coalesce":
            return all(map(self.possible, args))
        if op == "case":
            return any(map(self.possible, (*args[1:-1:2], args[-1])))
        if op in ("/", "%"):
            return self.quotient or any(map(self.possible, args))
        if op in _TOTAL:
            return any(map(self.possible, args))
        return True  # a function may return NULL for anything

    def with_nullable(self, srcs: Iterable[int]) -> Nulls:
        return Nulls(self.nullable | frozenset(srcs), self.known, self.quotient)

    def with_known(self, terms: Iterable[Term]) -> Nulls:
        return Nulls(self.nullable, self.known | frozenset(terms), self.quotient)


def null_when(term: Term, gone: Callable[[Term], bool]) -> bool:
    """Whether `term` is NULL in every row where all terms that `gone` names are."""
    if gone(term):
        return True
    match term:
        case Lit(_, kind):
            return kind == "null"
        case Ext(_, inner):
            return null_when(inner, gone)
        case Same(members):
            return any(null_when(m, gone) for m in members)
        case Call(op, args):
            name = op.split(":", 1)[0]
            if name in STRICT or name == "cast":
                return any(null_when(a, gone) for a in args)
            if name in ("in", "not"):
                return null_when(args[0], gone)
            if name in ("coalesce", "and", "or"):
                return all(null_when(a, gone) for a in args)
            if name == "case":
                taken = [v for c, v in zip(args[:-1:2], args[1:-1:2], strict=True) if not never_true_when(c, gone)]
                return all(null_when(v, gone) for v in (*taken, args[-1]))
            return False
        case _:
            return False


def never_true_when(term: Term, gone: Callable[[Term], bool]) -> bool:
    """Whether the condition `term` cannot be true in a row where all terms that `gone` names are NULL."""
    if null_when(term, gone) or term == FALSE:
        return True
    match term:
        case Call("and", args):
            return any(never_true_when(a, gone) for a in args)
        case Call("or", args):
            return all(never_true_when(a, gone) for a in args)
        case Call("not", (Call("isnull", (inner,)),)):
            return null_when(inner, gone)
        case Sub("exists", Block() as block, _) if block.group != () and not block.limited:
            return any(never_true_when(c, gone) for c in block.where)
        case Sub(op, _, args):
            # x = ANY (…) with x NULL is never true; x <> ALL over no rows is.
            return op.startswith("any:") and any(null_when(a, gone) for a in args)
        case _:
            return False


def of(srcs: AbstractSet[int]) -> Callable[[Term], bool]:
    """The columns of `srcs`, as the terms that are gone."""
    return lambda term: isinstance(term, (Col, Ext)) and term.src in srcs
