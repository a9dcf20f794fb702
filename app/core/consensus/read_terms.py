"""Scalar expressions: from a parsed expression to a term, its columns resolved.

One handler for each kind of expression, which all call each other: hence the length.

What has no form here raises `Unread`; the statement is then compared as it was written. That is also the answer to
functions that may change from row to row, and to unknown ones, which may be aggregates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from app.core.consensus.context import Context, Unread
from app.core.consensus.schema import kind_of_type
from app.core.consensus.terms import FALSE, NULL, TRUE, Agg, Call, Lit, OrderKey, Over, Sub, Term

if TYPE_CHECKING:
    from app.core.consensus.scope import Read, Scope


class QueryReader(Protocol):
    ctx: Context

    def query(self, node: exp.Expr, scope: Scope) -> Read: ...


_BINARY: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.Add: "+", exp.Mul: "*", exp.Sub: "-",
    exp.DPipe: "||", exp.Like: "like", exp.ILike: "ilike",
}  # fmt: skip
_FLIPPED: dict[type[exp.Expr], str] = {exp.GT: "<", exp.GTE: "<="}
_NEGATED = {"=": "<>", "<>": "=", "<": "<=", "<=": "<"}
_VOLATILE = (exp.Rand, exp.Randn, exp.Uuid, exp.NextValueFor)
_SIMPLE: dict[type[exp.Expr], str] = {
    exp.Lower: "lower", exp.Upper: "upper", exp.Length: "length", exp.Abs: "abs", exp.Neg: "neg",
}  # fmt: skip
# Functions sqlglot does not model, known to be scalar and to depend on their arguments alone.
_PLAIN_FUNCTIONS = frozenset({
    "date", "strftime", "julianday", "time", "instr", "substr", "printf", "to_char", "to_date", "to_timestamp", "age",
    "datediff", "date_format", "left", "right", "replace", "ltrim", "rtrim", "lpad", "rpad", "make_date", "char_length",
    "date_part", "unix_timestamp", "typeof", "json_extract", "regexp_replace", "split_part", "position", "locate",
    "mod",
})  # fmt: skip
_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max",
}  # fmt: skip
_OPTION_NODES = (exp.Var, exp.DataType, exp.Identifier, exp.IntervalSpan, exp.WindowSpec)


def read_term(node: exp.Expr, scope: Scope, reader: QueryReader) -> Term:
    """The term for `node` among the names of `scope`. Raises `Unread`."""
    reader.ctx.tick()
    expect(node, _ARGUMENTS.get(type(node)))

    def sub(inner: exp.Expr) -> Term:
        return read_term(inner, scope, reader)

    kind = type(node)
    if kind in _BINARY:
        return _comparison(_BINARY[kind], node.this, node.expression, sub, scope, reader)
    if kind in _FLIPPED:
        return _comparison(_FLIPPED[kind], node.expression, node.this, sub, scope, reader)
    if kind in _SIMPLE:
        return Call(_SIMPLE[kind], (sub(node.this),))
    if isinstance(node, (exp.And, exp.Or)):
        return Call(node.key, tuple([sub(n) for n in node.flatten()]))
    handler = _HANDLERS.get(kind)
    if handler is not None:
        return handler(node, sub, scope, reader)
    if isinstance(node, exp.AggFunc):
        return _aggregate(node, sub, scope, reader)
    return _generic(node, sub)


Sub_ = Callable[[exp.Expr], Term]


def expect(node: exp.Expr, arguments: str | None) -> None:
    """Raises `Unread` when `node` has an argument besides those named: a new sqlglot may keep part of a meaning there,
    as it did with the NOT of `IS NOT NULL`, and what is not looked at must not be lost. None allows all."""
    if arguments is not None and any(v and k not in arguments.split() for k, v in node.args.items()):
        raise Unread(f"an option of {node.key}")


def _comparison(  # noqa: PLR0913, PLR0917  # all that it is about
    op: str, left: exp.Expr, right: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader
) -> Term:  # a handler takes what all of them take
    for here, there, flip in ((left, right, False), (right, left, True)):
        if isinstance(there, (exp.Any, exp.All)):
            name = "any" if isinstance(there, exp.Any) else "all"
            inner = there.this
            if isinstance(inner.unnest(), exp.Array) and (name, op) in (("any", "="), ("all", "<>")):
                tests = tuple([Call(op, (sub(here), sub(e))) for e in inner.unnest().expressions])
                return Call("or" if name == "any" else "and", tests)
            if not isinstance(inner.unnest(), exp.Query):
                raise Unread("a quantified comparison over an array")
            sign = {"<": ">", "<=": ">="}.get(op, op) if flip else op
            return Sub(f"{name}:{sign}", reader.query(inner, scope).query, (sub(here),))
    left_term, right_term = _row(left, sub), _row(right, sub)
    if len(left_term) != len(right_term):
        raise Unread("rows of different width")
    if len(left_term) == 1:
        return Call(op, (left_term[0], right_term[0]))
    pairs = tuple([Call(op, pair) for pair in zip(left_term, right_term, strict=True)])
    if op not in ("=", "<>"):
        raise Unread("an order of rows")
    return Call("and" if op == "=" else "or", pairs)


def _row(node: exp.Expr, sub: Sub_) -> tuple[Term, ...]:
    node = node.unnest()
    if isinstance(node, exp.Tuple):
        return tuple([sub(n) for n in node.expressions])
    return (sub(node),)


def _column(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    assert isinstance(node, exp.Column)
    if isinstance(node.this, exp.Star):
        raise Unread("a star inside an expression")
    name = node.name.lower()
    if node.table:
        return scope.qualified(node.table.lower(), name)
    found = scope.bare(name)
    if found is None:
        found = scope.aliases.get(name)
    if found is None and node.this.args.get("quoted") and reader.ctx.dialect in ("sqlite", None):
        return Lit(node.name, "text")  # SQLite reads "x" as text when no column has that name
    if found is None:
        raise Unread("unknown column")
    return found


def number(text: str) -> Lit:
    """The literal for a number's text: `1.50` and `1.5` are the same decimal, `1` is an integer.

    >>> number("1.50"), number("007").kind
    (Lit(value='1.5', kind='decimal'), 'int')
    """
    if text.isdigit():
        return Lit(str(int(text)) if len(text) < 400 else text, "int")
    if text.replace(".", "", 1).isdigit():
        whole, _, part = text.partition(".")
        return Lit(f"{whole.lstrip('0') or '0'}.{part.rstrip('0') or '0'}", "decimal")
    return Lit(text.lower(), "float")


def _literal(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    return Lit(node.name, "text") if node.args.get("is_string") else number(node.name)


def _in(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    assert isinstance(node, exp.In)
    row = _row(node.this, sub)
    query = node.args.get("query")
    if query is not None:
        return Sub("any:=", reader.query(query, scope).query, row)
    if node.args.get("unnest") is not None or node.args.get("field") is not None:
        raise Unread("IN over an array")
    options = [_row(e, sub) for e in node.expressions]
    if any(len(o) != len(row) for o in options):
        raise Unread("rows of different width")
    tests = [Call("and", tuple([Call("=", p) for p in zip(row, o, strict=True)])) for o in options]
    return Call("or", tuple(t if len(row) > 1 else t.args[0] for t in tests))


def _between(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    if node.args.get("symmetric"):
        raise Unread("BETWEEN SYMMETRIC")
    this = sub(node.this)
    return Call("and", (Call("<=", (sub(node.args["low"]), this)), Call("<=", (this, sub(node.args["high"])))))


def _is(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    left, right = sub(node.this), sub(node.expression)
    test = Call("isnull", (left,)) if right == NULL else Call("same?", (left, right))
    return Call("not", (test,)) if node.args.get("negate") else test


def _case(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    """CASE as `cond, value, …, else`; the short form's operand is compared in each condition."""
    args: list[Term] = []
    operand = node.args.get("this")
    for branch in node.args["ifs"]:
        test = sub(branch.this)
        args += [Call("=", (sub(operand), test)) if operand is not None else test, sub(branch.args["true"])]
    default = node.args.get("default")
    return Call("case", (*args, sub(default) if default is not None else NULL))


def _if(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    other = node.args.get("false")
    return Call("case", (sub(node.this), sub(node.args["true"]), sub(other) if other is not None else NULL))


def _coalesce(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    return Call("coalesce", (sub(node.this), *[sub(e) for e in node.expressions]))


def _nullif(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    left = sub(node.this)
    return Call("case", (Call("=", (left, sub(node.expression))), NULL, left))


def _cast(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    if node.args.get("format") is not None:
        return _generic(node, sub)
    name = node.args["to"].sql().lower()
    return Call(f"cast:{kind_of_type(name)}:{name}", (sub(node.this),))


def _extract(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    return Call(f"extract:{node.name.lower()}", (sub(node.expression),))


def _part(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    inner = node.this
    while isinstance(inner, (exp.TsOrDsToDate, exp.TsOrDsToTimestamp)):
        inner = inner.this
    return Call(f"extract:{node.key}", (sub(inner),))


def _trunc(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    if any(v is not None for k, v in node.args.items() if k not in ("this", "unit", "input_type_preserved")):
        return _generic(node, sub)
    return Call(f"datetrunc:{node.args['unit'].name.lower()}", (sub(node.this),))


def _filter(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    inner = sub(node.this)
    if not isinstance(inner, Agg):
        raise Unread("FILTER on what is no aggregate")
    return Agg(inner.op, inner.args, inner.distinct, (*inner.where, sub(node.expression.this)))


def _aggregate(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    op = _AGGREGATES.get(type(node))
    if op is None:
        call = _generic(node, sub)
        assert isinstance(call, Call)
        return Agg(call.op, call.args)
    this, distinct = node.this, False
    if any(v for k, v in node.args.items() if k not in ("this", "big_int", "expressions")):
        raise Unread("an aggregate with options")
    args = [this, *node.expressions] if this is not None else list(node.expressions)
    if isinstance(this, exp.Distinct):
        if this.args.get("on") is not None:
            raise Unread("an aggregate with options")
        args, distinct = list(this.expressions), True
    if args and isinstance(args[0], exp.Star):
        args = []
    terms = tuple([sub(a) for a in args])
    if op == "count" and len(terms) == 1 and isinstance(terms[0], Call) and terms[0].op.startswith("tuple"):
        return Agg("count row", terms[0].args, distinct)
    if len(terms) > 1 and not distinct:
        raise Unread("an aggregate of several arguments")
    return Agg(op, terms, distinct)


def _window(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    if node.args.get("alias") is not None or node.args.get("first") is not None:
        raise Unread("a named window")
    order = node.args.get("order")
    spec = node.args.get("spec")
    return Over(
        sub(node.this),
        tuple([sub(p) for p in node.args.get("partition_by") or ()]),
        read_order(order.expressions, sub) if order is not None else (),
        spec.sql().lower() if spec is not None else "",
    )


def read_order(nodes: list[exp.Expr], sub: Sub_) -> tuple[OrderKey, ...]:
    """Sort keys; sqlglot has already written the dialect's default place of NULLs into them."""
    keys = []
    for node in nodes:
        if not isinstance(node, exp.Ordered):
            raise Unread("an order that is none")
        expect(node, _ARGUMENTS[exp.Ordered])
        keys.append(OrderKey(sub(node.this), bool(node.args.get("desc")), bool(node.args.get("nulls_first"))))
    return tuple(keys)


def _scalar(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    return Sub("scalar", reader.query(node, scope).query)


def _exists(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    if not isinstance(node.this.unnest(), exp.Query):
        raise Unread("EXISTS over an array")
    return Sub("exists", reader.query(node.this, scope).query)


def _function(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    name = node.name.lower()
    if name not in _PLAIN_FUNCTIONS:
        raise Unread("an unknown function")
    return Call(f"fn {name}", tuple([sub(e) for e in node.expressions]))


def _concat(node: exp.Expr, sub: Sub_, scope: Scope, reader: QueryReader) -> Term:
    options = ",".join(k for k in ("safe", "coalesce") if node.args.get(k))
    return Call(f"concat:{options}", tuple([sub(e) for e in node.expressions]))


def _generic(node: exp.Expr, sub: Sub_) -> Term:
    """Any other operator or modelled function: its name, its options as text, its arguments as terms."""
    if isinstance(node, _VOLATILE) or not isinstance(
        node, (exp.Func, exp.Binary, exp.Unary, exp.Interval, exp.Tuple, exp.AtTimeZone, exp.Order, exp.Ordered)
    ):
        raise Unread(f"an expression of the kind {node.key}")
    options: list[str] = []
    args: list[Term] = []
    for name, value in sorted(node.args.items(), key=lambda i: (i[0] != "this", i[0] != "expression", i[0])):
        for item in value if isinstance(value, list) else [value]:
            if item is None or item is False:
                continue
            if isinstance(item, _OPTION_NODES):
                options.append(f"{name}={item.sql().lower()}")
            elif isinstance(item, exp.Expr):
                options.append(name)
                args.append(sub(item))
            else:
                options.append(f"{name}={item}")
    op = {"div": "/", "mod": "%"}.get(node.key, node.key)
    return Call(f"{op}:{','.join(options)}", tuple(args))


_PAIR = "this expression"
_ARGUMENTS: dict[type[exp.Expr], str] = {
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Add, exp.Mul, exp.Sub), _PAIR),
    **dict.fromkeys((exp.Like, exp.ILike, exp.And, exp.Or, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Extract), _PAIR),
    **dict.fromkeys((exp.Lower, exp.Upper, exp.Abs, exp.Neg, exp.Paren, exp.Not, exp.Year, exp.Month, exp.Day), "this"),
    exp.DPipe: "this expression safe",
    exp.Length: "this",
    exp.Is: "this expression negate",
    exp.Column: "this table db catalog",
    exp.Literal: "this is_string",
    exp.In: "this expressions query unnest field is_global",
    exp.Between: "this low high symmetric",
    exp.Case: "this ifs default",
    exp.If: "this true false",
    exp.Coalesce: "this expressions is_nvl is_null",
    exp.Cast: "this to format",
    exp.Filter: _PAIR,
    exp.Nullif: _PAIR,
    exp.Window: "this partition_by order spec alias first over",
    exp.Exists: "this",
    exp.Anonymous: "this expressions",
    exp.Ordered: "this desc nulls_first",
}

_HANDLERS: dict[type[exp.Expr], Callable[[exp.Expr, Sub_, Scope, QueryReader], Term]] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: lambda node, *_: TRUE if node.this else FALSE,
    exp.Null: lambda *_: NULL,
    exp.Paren: lambda node, sub, *_: sub(node.this),
    exp.Not: lambda node, sub, *_: Call("not", (sub(node.this),)),
    exp.NullSafeEQ: lambda node, sub, *_: Call("same?", (sub(node.this), sub(node.expression))),
    exp.NullSafeNEQ: lambda node, sub, *_: Call("not", (Call("same?", (sub(node.this), sub(node.expression))),)),
    exp.In: _in,
    exp.Between: _between,
    exp.Is: _is,
    exp.Case: _case,
    exp.If: _if,
    exp.Coalesce: _coalesce,
    exp.Cast: _cast,
    exp.Nullif: _nullif,
    exp.Extract: _extract,
    exp.Year: _part,
    exp.Month: _part,
    exp.Day: _part,
    exp.TimestampTrunc: _trunc,
    exp.DateTrunc: _trunc,
    exp.Filter: _filter,
    exp.Window: _window,
    exp.Subquery: _scalar,
    exp.Select: _scalar,
    exp.Union: _scalar,
    exp.Exists: _exists,
    exp.Anonymous: _function,
    exp.Concat: _concat,
}
