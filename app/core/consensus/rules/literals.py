"""Constants: folded arithmetic, and literals read as the type of what they are compared with."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING

from app.core.consensus.nulls import COMPARISONS, STRICT, kind_of
from app.core.consensus.rules.env import Env, conjunction, in_order, parts
from app.core.consensus.terms import FALSE, NULL, TRUE, Call, Kind, Lit, Term

if TYPE_CHECKING:
    from collections.abc import Callable

_MOMENTS: tuple[Kind, ...] = ("date", "timestamp", "timestamptz")


def moment(text: str, kind: Kind) -> Lit | None:
    """The literal for a date or a time written in ISO form; None for any other text, or one with an offset.

    >>> moment("2024-01-01", "timestamp")
    Lit(value='2024-01-01 00:00:00', kind='timestamp')
    """
    try:
        parsed = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if parsed.tzinfo is not None or len(text.strip()) < len("2024-01-01"):
        return None
    if kind == "date":
        return Lit(parsed.date().isoformat(), "date") if parsed == dt.datetime.combine(parsed, dt.time()) else None
    return Lit(parsed.isoformat(" "), kind)


def type_literals(term: Call, env: Env) -> Term | None:
    """A literal beside a column is read as the column's type.

    That is how each dialect compares them: an untyped literal takes the type of the other side, and a DATE is
    midnight of its day. SQLite is left out for dates, which it compares as text.
    """
    if term.op not in COMPARISONS and term.op != "in":
        return None
    kinds = {kind_of(a) for a in term.args if not isinstance(a, Lit)}
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    args = tuple([_as_kind(a, kind, env) if isinstance(a, Lit) else a for a in term.args])
    return Call(term.op, args) if args != term.args else None


def _as_kind(literal: Lit, kind: Kind, env: Env) -> Lit:
    if kind in _MOMENTS and env.ctx.typed_literals and literal.kind in ("text", *_MOMENTS):
        return moment(literal.value, kind) or literal
    if kind == "int" and literal.kind == "text" and literal.value.isdecimal() and literal.value.isascii():
        return Lit(str(int(literal.value)) if len(literal.value) < 19 else literal.value, "int")
    if kind in ("int", "decimal", "float") and literal.kind == "decimal" and literal.value.endswith(".0"):
        return Lit(literal.value[:-2], "int")
    if kind == "text" and literal.kind == "int" and env.ctx.dialect == "sqlite":
        return Lit(literal.value, "text")  # SQLite applies the column's text affinity to the number
    return literal


def cast_literal(term: Call, env: Env) -> Term | None:
    """A cast of a date's or time's text is that date or time."""
    if not term.op.startswith("cast:") or not isinstance(term.args[0], Lit):
        return None
    kind = kind_of(term)
    literal = term.args[0]
    if literal.kind == "null":
        return NULL
    if kind in _MOMENTS and literal.kind in ("text", *_MOMENTS) and env.ctx.typed_literals and "(" not in term.op:
        return moment(literal.value, kind)
    return None


def drop_cast(term: Call, env: Env) -> Term | None:
    """A cast to the kind that the value already has changes nothing, unless it names a size to cut or round to."""
    if not term.op.startswith("cast:") or "(" in term.op:
        return None
    kind = kind_of(term.args[0])
    if kind != kind_of(term):
        return None
    match kind:
        case "int":
            # To a narrower type it is an error, or wraps; which columns are wide is known of the whole schema only.
            whole = term.op.split(":", 2)[2] in _WIDE or not (
                env.ctx.schema.wide or "int" not in term.op.split(":", 2)[2]
            )
            kept = whole and not re.search(r"tiny|small|medium|byte|int[12]\b", term.op.split(":", 2)[2])
        case "date" | "timestamptz":
            kept = env.ctx.typed_literals
        case "timestamp":
            kept = env.ctx.typed_literals and env.ctx.dialect not in ("mysql", "mariadb")  # there it cuts fractions
        case "bool" | "text":
            kept = True
        case _:
            kept = False
    return term.args[0] if kept else None


_WIDE = frozenset({"bigint", "int8", "int64", "long", "signed", "hugeint", "int128"})


_FOLDED: dict[str, Callable[[int, int], int]] = {"+": lambda a, b: a + b, "*": lambda a, b: a * b}


def fold_arithmetic(term: Call, env: Env) -> Term | None:
    """Integer sums and products are flattened, their constants added up: exact, in any order.

    Only over integers: sums of floats depend on the order. Overflow is an error in one order and not in another;
    it never gives other rows.
    """
    match term:
        case Call("-", (left, right)) if kind_of(left) == kind_of(right) == "int":
            return Call("+", (left, Call("neg", (right,))))
        case Call("neg", (Lit(value, "int" | "decimal" as kind),)):
            return Lit(value[1:] if value.startswith("-") else value if value == "0" else f"-{value}", kind)
        case Call("neg", (Call("neg", (inner,)),)):
            return inner
        case Call("+" | "*" as op, args) if kind_of(term) == "int":
            flat = tuple(p for a in args for p in parts(op, a))
            numbers = [int(a.value) for a in flat if isinstance(a, Lit) and a.kind == "int" and len(a.value) < 30]
            rest = tuple(a for a in flat if not (isinstance(a, Lit) and a.kind == "int" and len(a.value) < 30))
            neutral = 0 if op == "+" else 1
            total = neutral
            for number in numbers:
                total = _FOLDED[op](total, number)
            kept = rest if total == neutral and rest else (*rest, Lit(str(total), "int"))
            return kept[0] if len(kept) == 1 else Call(op, in_order(kept))
        case Call("+" | "*" as op, args):
            return Call(op, in_order(args))
        case _:
            return None


_DATE_SUM_IS_TIME = frozenset({"postgres", "duckdb", "redshift"})


def fold_interval(term: Call, env: Env) -> Term | None:
    """A constant time, plus or minus a number of days, months or years, is a constant time; so is a constant date, in
    dialects where that sum is a time.

    Months and years only from days that every month has: how others are clipped is the dialect's matter.
    """
    if term.op not in ("+", "-") or not env.ctx.typed_literals or len(term.args) != 2:
        return None
    for start, span in (term.args, term.args[::-1]):
        match start, span:
            case Lit(text, "date" | "timestamp" as kind), Call(op, (Lit(count, _),)) if op.startswith("interval:"):
                if kind == "date" and env.ctx.dialect not in _DATE_SUM_IS_TIME:
                    return None
                if term.op == "-" and start is not term.args[0]:
                    return None
                return _moved(text, int(count) if count.isdecimal() else None, op, -1 if term.op == "-" else 1)
            case _:
                pass
    return None


def _moved(text: str, count: int | None, op: str, sign: int) -> Term | None:
    unit = op.rpartition("unit=")[2].rstrip("s")
    start = dt.datetime.fromisoformat(text)
    if count is None or count > 10_000 or unit not in ("day", "month", "year") or (unit != "day" and start.day > 28):
        return None
    try:
        if unit == "day":
            moved = start + dt.timedelta(days=sign * count)
        else:
            months = start.year * 12 + start.month - 1 + sign * count * (12 if unit == "year" else 1)
            moved = start.replace(year=months // 12, month=months % 12 + 1)
    except (ValueError, OverflowError):
        return None
    return moment(moved.isoformat(), "timestamp")


def fold_comparison(term: Call, env: Env) -> Term | None:
    """A comparison of two constants is its answer: numbers by value, texts only where no collation can matter."""
    if term.op not in COMPARISONS or not all(isinstance(a, Lit) for a in term.args):
        return None
    left, right = (a for a in term.args if isinstance(a, Lit))
    if "null" in (left.kind, right.kind):
        return NULL
    order = _compared(left, right)
    if order is None:
        return None
    holds = {"=": order == 0, "<>": order != 0, "<": order < 0, "<=": order <= 0}[term.op]
    return TRUE if holds else FALSE


def _compared(left: Lit, right: Lit) -> int | None:
    if left.kind == right.kind == "int":
        a, b = int(left.value), int(right.value)
        return (a > b) - (a < b)
    if left.kind == right.kind and left.kind in ("date", "timestamp"):
        return (left.value > right.value) - (left.value < right.value)
    return None


def null_operand(term: Call, env: Env) -> Term | None:
    """An operator that is NULL for a NULL operand is NULL when the operand is the constant NULL."""
    return NULL if term.op.split(":")[0] in STRICT and NULL in term.args else None


def join_text(term: Call, env: Env) -> Term | None:
    """CONCAT inside CONCAT is one CONCAT, and neighbouring constants in it are one: joining text is associative."""
    if not term.op.startswith("concat:") and term.op != "||":
        return None
    flat = [p for a in term.args for p in (a.args if isinstance(a, Call) and a.op == term.op else (a,))]
    merged: list[Term] = []
    for part in flat:
        last = merged[-1] if merged else None
        if isinstance(part, Lit) and isinstance(last, Lit) and part.kind == last.kind == "text":
            merged[-1] = Lit(last.value + part.value, "text")
        else:
            merged.append(part)
    return Call(term.op, tuple(merged)) if tuple(merged) != term.args else None


def date_range(term: Call, env: Env) -> Term | None:
    """A year, a month or a day cut out of a date or a time without zone, compared, is a range of it.

    EXTRACT(YEAR FROM t) = 2024 holds just for the moments of that year, and is NULL just where t is. With a time zone
    both sides depend on the session; those are left alone.
    """
    if term.op not in COMPARISONS:
        return None
    for at, literal in enumerate(term.args):
        part = term.args[1 - at]
        if isinstance(literal, Lit) and isinstance(part, Call) and len(part.args) == 1:
            span = _span(part, literal, env)
            if span is not None:
                return _within(part.args[0], span, term.op, flipped=at == 0)
    return None


def _span(part: Call, literal: Lit, env: Env) -> tuple[Lit, Lit] | None:
    kind = kind_of(part.args[0])
    if kind not in ("date", "timestamp") or not env.ctx.typed_literals:
        return None
    if part.op == "extract:year" and literal.kind == "int" and len(literal.value) == 4:
        start = dt.date(int(literal.value), 1, 1) if int(literal.value) else None
        unit = "year"
    elif part.op.startswith("datetrunc:") or (kind == "timestamp" and part.op in ("cast:date:date", "fn date")):
        unit = part.op.split(":")[1] if part.op.startswith("datetrunc:") else "day"
        read = moment(literal.value, "date") if literal.kind in ("text", *_MOMENTS) else None
        start = dt.date.fromisoformat(read.value) if read is not None else None
        if start is not None and (
            (unit == "month" and start.day != 1) or (unit == "year" and start.timetuple().tm_yday != 1)
        ):
            return None
    else:
        return None
    end = _next(start, unit) if start is not None else None
    low = moment(start.isoformat(), kind) if start is not None else None
    high = moment(end.isoformat(), kind) if end is not None else None
    return (low, high) if low is not None and high is not None else None


def _next(start: dt.date, unit: str) -> dt.date | None:
    try:
        match unit:
            case "day":
                return start + dt.timedelta(days=1)
            case "month":
                return dt.date(start.year + start.month // 12, start.month % 12 + 1, 1)
            case "year":
                return dt.date(start.year + 1, 1, 1)
            case _:
                return None
    except (ValueError, OverflowError):
        return None


def _within(value: Term, span: tuple[Lit, Lit], op: str, *, flipped: bool) -> Term | None:
    """`cut(value) op literal` as a condition on `value`; `flipped` when the literal stands left."""
    low, high = span
    match op, flipped:
        case "=", _:
            return conjunction([Call("<=", (low, value)), Call("<", (value, high))])
        case "<", False:
            return Call("<", (value, low))
        case "<=", False:
            return Call("<", (value, high))
        case "<", True:
            return Call("<=", (high, value))
        case "<=", True:
            return Call("<=", (low, value))
        case _:
            return None
