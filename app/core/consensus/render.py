"""Terms and queries as SQL for a person to read: table names for aliases, one spelling for each thing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.core.consensus.terms import (
    Agg,
    Block,
    Call,
    Col,
    Ext,
    Free,
    Full,
    Func,
    Lit,
    Minus,
    OrderKey,
    Over,
    Query,
    Same,
    Source,
    Sub,
    Table,
    Term,
    Union,
    query_terms,
    subterms,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.core.consensus.context import Context

_INFIX = {"=": "=", "<>": "<>", "<": "<", "<=": "<=", "+": "+", "*": "*", "-": "-", "||": "||",
          "like": "LIKE", "ilike": "ILIKE", "and": "AND", "or": "OR", "same?": "IS NOT DISTINCT FROM", "same": "=",
          "/": "/", "%": "%"}  # fmt: skip
_MIRRORED = {"<": ">", "<=": ">="}


@dataclass
class Names:
    """What each occurrence is called, and what each column of a derived table is."""

    tables: dict[int, str] = field(default_factory=dict)
    derived: dict[int, Query] = field(default_factory=dict)


def names_of(query: Query, ctx: Context) -> Names:  # one branch for each kind  # noqa: C901  # one branch for each kind
    """Names for all occurrences of `query`: the table's own, numbered from the second on in canonical order."""
    names = Names()
    found: list[tuple[tuple[int, int], int, str]] = []

    def source(item: Source) -> None:
        match item.rel:
            case Table(name):
                found.append((ctx.numbers.get(item.id, (9, item.id)), item.id, name))
            case Func(op, _):
                found.append((ctx.numbers.get(item.id, (9, item.id)), item.id, op))
            case Full(left, right, _):
                source(left)
                source(right)
            case _:
                names.derived[item.id] = item.rel
                inside(item.rel)

    def inside(inner: Query) -> None:
        match inner:
            case Union():
                for branch in inner.branches:
                    inside(branch)
            case Minus():
                inside(inner.left)
                inside(inner.right)
            case Block():
                for item in (*inner.sources, *[j.source for j in inner.lefts]):
                    source(item)
        for term in query_terms(inner):
            for part in subterms(term):
                if isinstance(part, Sub):
                    inside(part.query)

    inside(query)
    seen: Counter[str] = Counter()
    for _, src, name in sorted(dict.fromkeys(found)):
        if src not in names.tables:
            seen[name] += 1
            names.tables[src] = name if seen[name] == 1 else f"{name}_{seen[name]}"
    return names


def render(term: Term, names: Names) -> str:  # one branch for each kind  # noqa: C901  # one branch for each kind
    """`term` as SQL."""

    def show(inner: Term) -> str:
        return render(inner, names)

    match term:
        case Col(src, name):
            return _column(src, name, names)
        case Free(name, _):
            return name.split("/", 1)[0]
        case Lit():
            return _literal(term)
        case Same(members):
            return min(show(m) for m in members)
        case Ext(_, inner):
            return show(inner)
        case Call():
            return _call(term, names)
        case Agg(op, args, distinct, where):
            shown = ", ".join(map(show, args)) or "*"
            kept = f" FILTER (WHERE {render_all(where, names)})" if where else ""
            shown, name = (f"({shown})", "COUNT") if op == "count row" else (shown, op.split(":")[0].upper())
            return f"{name}({'DISTINCT ' if distinct else ''}{shown}){kept}"
        case Over(func, partition, order, frame):
            spec = [f"PARTITION BY {', '.join(sorted(map(show, partition)))}"] if partition else []
            spec += [f"ORDER BY {render_order(order, names)}"] if order else []
            spec += [frame.upper()] if frame else []
            return f"{show(func)} OVER ({' '.join(spec)})"
        case Sub(op, query, args):
            inner_sql = f"({render_query(query, names)})"
            if op == "scalar":
                return inner_sql
            if op == "exists":
                return f"EXISTS {inner_sql}"
            left = ", ".join(map(show, args))
            left = f"({left})" if len(args) > 1 else left
            kind, sign = op.split(":", 1)
            return f"{left} IN {inner_sql}" if op == "any:=" else f"{left} {sign} {kind.upper()} {inner_sql}"


def _column(src: int, name: str, names: Names) -> str:
    query = names.derived.get(src)
    if query is None:
        return f"{names.tables.get(src, 't')}.{name}" if name != "*" else names.tables.get(src, "t")
    while isinstance(query, (Union, Minus)):
        query = query.branches[0] if isinstance(query, Union) else query.left
    return render(query.outputs[int(name)], names) if name.isdigit() and int(name) < len(query.outputs) else name


def _literal(literal: Lit) -> str:
    match literal.kind:
        case "int" | "decimal" | "float":
            return literal.value
        case "null" | "bool":
            return literal.value.upper()
        case "date" | "timestamp" | "timestamptz":
            return f"{literal.kind.upper()} '{literal.value}'"
        case _:
            return "'" + literal.value.replace("'", "''") + "'"


def _call(term: Call, names: Names) -> str:  # one branch for each kind
    def show(inner: Term) -> str:
        text = render(inner, names)
        loose = isinstance(inner, Call) and inner.op.split(":")[0] in {*_INFIX, "not", "in", "isnull"}
        return f"({text})" if loose else text

    op, args = term.op.split(":", 1)[0], term.args
    if op in ("and", "or", "+", "*", "=", "<>", "same?", "same"):
        shown = (
            sorted(map(show, args), key=lambda t: (t[:1] in "'0123456789(", t))
            if op in ("=", "<>")
            else sorted(map(show, args))
        )
        return f" {_INFIX[op]} ".join(shown)
    if op in _MIRRORED and isinstance(args[0], Lit):
        return f"{show(args[1])} {_MIRRORED[op]} {show(args[0])}"
    if op in _INFIX:
        return f" {_INFIX[op]} ".join(map(show, args))
    if op == "not" and isinstance(args[0], Call) and args[0].op == "isnull":
        return f"{show(args[0].args[0])} IS NOT NULL"
    return _named(term, op, show, names)


def _named(term: Call, op: str, show: Callable[[Term], str], names: Names) -> str:  # one branch for each kind  # noqa: C901, PLR0912  # one branch for each kind
    """Operators and functions that are not written between their operands."""
    args = term.args
    match op:
        case "not":
            return f"NOT {show(args[0])}"
        case "neg":
            return f"-{show(args[0])}"
        case "isnull":
            return f"{show(args[0])} IS NULL"
        case "nottrue":
            return f"{show(args[0])} IS NOT TRUE"
        case "in":
            return f"{show(args[0])} IN ({', '.join(sorted(map(show, args[1:])))})"
        case "case":
            pairs = zip(args[:-1:2], args[1:-1:2], strict=True)
            whens = " ".join(f"WHEN {render(c, names)} THEN {render(v, names)}" for c, v in pairs)
            return f"CASE {whens} ELSE {render(args[-1], names)} END"
        case "cast":
            return f"CAST({render(args[0], names)} AS {term.op.split(':', 2)[2].upper()})"
        case "extract":
            return f"EXTRACT({term.op.split(':')[1].upper()} FROM {render(args[0], names)})"
        case "datetrunc":
            return f"DATE_TRUNC('{term.op.split(':')[1]}', {render(args[0], names)})"
        case "star":
            return f"{render(args[0], names)}.*"
        case "set" | "tuple" | "row":
            return f"({', '.join(render(a, names) for a in args)})"
        case "interval":
            return f"INTERVAL {' '.join([*(render(a, names) for a in args), *_options(term.op)])}"
        case _:
            name = {"rownumber": "ROW_NUMBER", "denserank": "DENSE_RANK"}.get(op, op.removeprefix("fn ").upper())
            return f"{name}({', '.join([*(render(a, names) for a in args), *_options(term.op)])})"


def _options(op: str) -> list[str]:
    """The options of a generic operator, which stand in its name as `unit=day`."""
    return [o.split("=", 1)[1].upper() for o in op.partition(":")[2].split(",") if "=" in o]


def render_all(terms: tuple[Term, ...], names: Names) -> str:
    return " AND ".join(sorted(render(t, names) for t in terms))


def render_order(keys: tuple[OrderKey, ...], names: Names) -> str:
    return ", ".join(f"{render(k.term, names)}{' DESC' if k.desc else ''}" for k in keys)


def render_query(query: Query, names: Names) -> str:
    """`query` as SQL."""
    match query:
        case Union():
            return " UNION ALL ".join(sorted(render_query(b, names) for b in query.branches))
        case Minus():
            return f"{render_query(query.left, names)} {query.op.upper()} {render_query(query.right, names)}"
        case Block():
            found = ["SELECT " + (", ".join(sorted(render(o, names) for o in query.outputs)) or "1")]
            if query.sources or query.lefts:
                tables = sorted(_source(s, names) for s in query.sources)
                lefts = [
                    f" LEFT JOIN {_source(j.source, names)} ON {render_all(j.on, names) or 'TRUE'}" for j in query.lefts
                ]
                found.append(f"FROM {', '.join(tables)}{''.join(sorted(lefts))}")
            found += [f"WHERE {render_all(query.where, names)}"] if query.where else []
            found += [f"GROUP BY {', '.join(sorted(render(g, names) for g in query.group))}"] if query.group else []
            found += [f"HAVING {render_all(query.having, names)}"] if query.having else []
            found += [f"ORDER BY {render_order(query.order, names)}"] if query.order and query.limited else []
            found += [f"LIMIT {render(query.limit, names)}"] if query.limit is not None else []
            found += [f"OFFSET {render(query.offset, names)}"] if query.offset is not None else []
            return " ".join(found)


def _source(source: Source, names: Names) -> str:
    match source.rel:
        case Table() | Func():
            return names.tables.get(source.id, "t")
        case Full(left, right, on):
            return f"{_source(left, names)} FULL JOIN {_source(right, names)} ON {render_all(on, names) or 'TRUE'}"
        case _:
            return f"({render_query(source.rel, names)})"
