"""What a statement asks for, axis by axis, in canonical SQL."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from sqlglot import exp

from app.core.consensus.render import Names, render, render_all, render_order
from app.core.consensus.rules.grouped import is_distinct
from app.core.consensus.terms import (
    Block,
    Call,
    Full,
    Func,
    Lit,
    Minus,
    Over,
    Query,
    Source,
    Sub,
    Table,
    Term,
    Union,
    block_terms,
    has_agg,
    has_window,
    occurrences,
    subterms,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.core.consensus.context import Context

Axis = Literal[
    "tables", "joins", "filters", "aggregates", "grouping", "distinct", "having", "windows", "set_operations",
    "outputs", "ordering", "limit", "undetermined",
]  # fmt: skip
AXES: tuple[Axis, ...] = get_args(Axis)


@dataclass(frozen=True)
class Difference:
    """What only one of two statements asks for, on one axis, in canonical SQL.

    On the axis `undetermined` nothing tells them apart, but that they are equal is not proven.
    """

    axis: Axis
    left: tuple[str, ...]
    right: tuple[str, ...]


@dataclass
class Facts:
    """Facts by axis; one that holds twice is counted twice.

    What holds inside a derived table that stayed one (it groups, limits or numbers its rows) is marked so: filtering
    before a limit is not filtering after it.
    """

    by_axis: dict[Axis, Counter[str]] = field(default_factory=lambda: {a: Counter() for a in AXES})
    depth: int = 0
    ctx: Context | None = None

    def add(self, axis: Axis, items: Iterable[str]) -> None:
        inside = " (in a derived table)" if self.depth and axis != "tables" else ""
        self.by_axis[axis].update(f"{item}{inside}" for item in items)

    def listed(self) -> dict[str, tuple[str, ...]]:
        return {a: tuple(sorted(c.elements())) for a, c in self.by_axis.items() if c}


def differences(left: Facts, right: Facts) -> tuple[Difference, ...]:
    """Where two statements' facts differ, in the order of the axes."""
    found = []
    for axis in AXES:
        a, b = left.by_axis[axis], right.by_axis[axis]
        if a != b:
            found.append(Difference(axis, tuple(sorted((a - b).elements())), tuple(sorted((b - a).elements()))))
    return tuple(found)


def facts_of(query: Query, names: Names, ctx: Context) -> Facts:
    """The facts of a query in normal form."""
    facts = Facts(ctx=ctx)
    _query(query, names, facts, top=True)
    return facts


def _query(query: Query, names: Names, facts: Facts, *, top: bool = False) -> None:
    match query:
        case Union():
            facts.add("set_operations", ["UNION ALL"] * (len(query.branches) - 1))
            for branch in query.branches:
                _query(branch, names, facts, top=top)
        case Minus():
            facts.add("set_operations", [query.op.upper()])
            _query(query.left, names, facts, top=top)
            _query(query.right, names, facts)
        case Block():
            _block(query, names, facts, top=top)


def _block(block: Block, names: Names, facts: Facts, *, top: bool) -> None:  # one line for each axis  # noqa: C901  # one branch for each kind
    for source in block.sources:
        _source(source, names, facts)
    for join in block.lefts:
        _source(join.source, names, facts)
        target = names.tables.get(join.source.id, "(subquery)")
        facts.add("joins", [f"LEFT JOIN {target} ON {render_all(join.on, names) or 'TRUE'}"])
    tested = block.where if block.group != () or block.sources else ()
    for condition in tested:
        facts.add("joins" if _is_join(condition) else "filters", [_joined(condition, names)])
    facts.add("joins", _crossed(block, names))
    _grouping(block, names, facts)
    facts.add("having", [render(h, names) for h in block.having])
    for output in block.outputs if top or block.group is not None else ():
        _output(output, names, facts, top=top)
    if block.pick:
        facts.add("distinct", [f"DISTINCT ON ({', '.join(render(p, names) for p in block.pick)})"])
    if block.order and (top or block.limited):
        facts.add("ordering", [f"ORDER BY {render_order(block.order, names)}"])
    if block.limit is not None:
        facts.add("limit", [f"LIMIT {render(block.limit, names)}{' WITH TIES' if block.ties else ''}"])
    if block.offset is not None:
        facts.add("limit", [f"OFFSET {render(block.offset, names)}"])
    for term in block_terms(block):
        for part in subterms(term):
            if isinstance(part, Sub):
                _tables(part.query, names, facts)


def _grouping(block: Block, names: Names, facts: Facts) -> None:
    if facts.ctx is not None and is_distinct(block, facts.ctx):
        over_union = any(isinstance(s.rel, Union) for s in block.sources)
        if over_union:
            facts.add("set_operations", ["UNION"])
        facts.add("distinct", [f"DISTINCT {', '.join(sorted(render(g, names) for g in block.group or ()))}"])
    elif block.group is not None:
        facts.add("grouping", [render(g, names) for g in block.group if not isinstance(g, Lit)])
        facts.add("grouping", [render(s, names) for s in block.sets])


def _output(output: Term, names: Names, facts: Facts, *, top: bool) -> None:
    if any(isinstance(t, Over) for t in subterms(output)) and has_window(output):
        facts.add("windows", [render(output, names)])
    elif has_agg(output):
        facts.add("aggregates", [render(output, names)])
    elif top:
        facts.add("outputs", [render(output, names)])


def _is_join(condition: Term) -> bool:
    """Whether a condition ties table occurrences to each other by equality."""
    match condition:
        case Call("same", _):
            return len(occurrences(condition)) > 1
        case Call("=", (left, right)):
            columns = not any(isinstance(t, Sub) for t in (*subterms(left), *subterms(right)))
            return columns and len(occurrences(condition)) > 1 and bool(occurrences(left)) and bool(occurrences(right))
        case _:
            return False


def _crossed(block: Block, names: Names) -> list[str]:
    """The tables of a product that no equality ties to another."""
    if len(block.sources) < 2:
        return []
    tied = {i for c in block.where if _is_join(c) for i in occurrences(c)}
    loose = [s for s in block.sources if isinstance(s.rel, Table) and s.id not in tied]
    return [f"CROSS JOIN {names.tables.get(s.id, '')}" for s in loose]


def _joined(condition: Term, names: Names) -> str:
    text = render(condition, names)
    return f"JOIN ON {text}" if _is_join(condition) else text


def _source(source: Source, names: Names, facts: Facts) -> None:
    match source.rel:
        case Table(name):
            facts.add("tables", [name])
        case Func(op, args):
            facts.add("tables", [f"{op.upper()}({', '.join(render(a, names) for a in args)})"])
        case Full(left, right, on):
            _source(left, names, facts)
            _source(right, names, facts)
            facts.add("joins", [f"FULL JOIN ON {render_all(on, names) or 'TRUE'}"])
        case Union():
            _query(source.rel, names, facts)
        case _:
            facts.depth += 1
            _query(source.rel, names, facts)
            facts.depth -= 1


def _tables(query: Query, names: Names, facts: Facts) -> None:
    """The tables that a subquery inside a term reads; its conditions are part of that term."""
    match query:
        case Union():
            for branch in query.branches:
                _tables(branch, names, facts)
        case Minus():
            _tables(query.left, names, facts)
            _tables(query.right, names, facts)
        case Block():
            for source in (*query.sources, *[j.source for j in query.lefts]):
                if isinstance(source.rel, Table):
                    facts.add("tables", [source.rel.name])
                elif isinstance(source.rel, (Block, Union, Minus)):
                    _tables(source.rel, names, facts)


def written_facts(statement: exp.Expr) -> Facts:
    """The facts of a statement that has no normal form, from the tree as it was written."""
    facts = Facts()
    facts.add("tables", [t.name.lower() for t in statement.find_all(exp.Table)])
    for join in statement.find_all(exp.Join):
        facts.add("joins", [join.sql(comments=False)])
    clauses: tuple[tuple[Axis, type[exp.Expr]], ...] = (
        ("filters", exp.Where), ("grouping", exp.Group), ("having", exp.Having), ("windows", exp.Window),
        ("set_operations", exp.SetOperation), ("aggregates", exp.AggFunc), ("ordering", exp.Order),
        ("limit", exp.Limit), ("limit", exp.Fetch), ("distinct", exp.Distinct),
    )  # fmt: skip
    for axis, kind in clauses:
        for node in statement.find_all(kind):
            text = node.key.upper() if kind is exp.SetOperation else node.sql(comments=False)
            facts.add(axis, [text])
    facts.add("outputs", [e.unalias().sql(comments=False) for e in getattr(statement, "expressions", ())])
    return facts
