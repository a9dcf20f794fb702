"""One statement, read: its canonical key, its facts, or why it has none."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlglot import exp

from app.core.consensus.context import Context, OutOfTime, Unread
from app.core.consensus.facts import Facts, facts_of, written_facts
from app.core.consensus.finish import finish
from app.core.consensus.label import label
from app.core.consensus.normalise import SPELLING_RULES, normalise
from app.core.consensus.read_query import read_query
from app.core.consensus.render import names_of
from app.core.sql import SqlRefused, parse_sql

if TYPE_CHECKING:
    from app.core.consensus.schema import Schema

Status = Literal["read", "undetermined", "invalid"]
MAX_LENGTH = 100_000
"""Characters; sqlglot takes about a tenth of a second for so many, and reading cannot be interrupted."""
_WRITES = (
    exp.Insert,
    exp.Update,
    exp.Delete,
    exp.Merge,
    exp.Create,
    exp.Drop,
    exp.Alter,
    exp.Into,
    exp.Copy,
    exp.TruncateTable,
)


@dataclass(frozen=True)
class Canonical:
    """`key` is equal just for statements called equivalent; an invalid one has none. `nodes` counts its tree."""

    status: Status
    reason: str | None
    key: str | None
    facts: Facts
    nodes: int
    tables: tuple[str, ...] = ()
    """The tables as written, before joins that change nothing were dropped."""


def canonical(sql: str, schema: Schema, *, dialect: str | None, ordered: bool, seconds: float) -> Canonical:
    """Reads one statement. Never raises: what cannot be read or proven in time says so in `status` and `reason`."""
    if len(sql) > MAX_LENGTH:
        return Canonical("undetermined", "too_long", f"text {sql.strip()}", Facts(), len(sql))
    try:
        statements = parse_sql(sql, dialect)
    except SqlRefused as refused:
        if refused.reason in ("too_long", "too_deep"):
            return Canonical("undetermined", refused.reason, f"text {sql.strip()}", Facts(), len(sql))
        return Canonical("invalid", refused.reason, None, Facts(), 0)
    reason = _not_one_select(statements)
    if reason is not None:
        return Canonical("invalid", reason, None, Facts(), 0)
    return _normal_form(sql, statements[0], Context(schema, dialect, time.thread_time() + seconds), ordered=ordered)


def _not_one_select(statements: list[exp.Expr]) -> str | None:
    if len(statements) != 1:
        return "several statements"
    if next(statements[0].find_all(*_WRITES), None) is not None:
        return "it writes"
    return None if isinstance(statements[0], exp.Query) else "not a SELECT"


def _normal_form(sql: str, statement: exp.Expr, ctx: Context, *, ordered: bool) -> Canonical:
    nodes = sum(1 for _ in statement.walk())
    tables = tuple(sorted(t.name.lower() for t in statement.find_all(exp.Table)))
    try:
        spelled = normalise(read_query(statement, ctx), ctx, rules=SPELLING_RULES)
        full = finish(normalise(spelled, ctx), ctx)
        choice = ctx.choice
        key = label(full, ctx, ordered=ordered)
        shown = finish(spelled, ctx)
        ctx.choice = choice
        as_spelled = label(shown, ctx, ordered=ordered)  # also numbers its occurrences, for their names
        if choice:
            key = f"choice {as_spelled} {_shape(statement)}"
        return Canonical("read", None, key, facts_of(shown, names_of(shown, ctx), ctx), nodes, tables)
    except Unread as unread:
        reason = str(unread)
    except OutOfTime:
        reason = "out of time"
    except RecursionError:
        reason = "too_deep"
    except Exception as fault:  # total by contract: a fault of ours must read as unproven, never as a verdict  # noqa: BLE001  # total by contract: a fault of ours must read as unproven, never as a verdict
        reason = f"fault: {type(fault).__name__}"
    try:
        return Canonical("undetermined", reason, _as_written(statement), written_facts(statement), nodes, tables)
    except RecursionError:  # too deep even to write down
        return Canonical("undetermined", reason, f"text {sql.strip()}", Facts(), nodes, tables)


def _shape(statement: exp.Expr) -> str:
    """The tables and the inner orders of a statement that leaves a choice to the engine, which chooses by its plan:
    such a statement is compared as spelled, and nothing is called equal that reads other tables or sorts before."""
    tables = sorted(t.name.lower() for t in statement.find_all(exp.Table))
    orders = sorted(o.sql(comments=False).lower() for o in statement.find_all(exp.Order) if o.parent is not statement)
    return ",".join([*tables, *(o for o in orders if "over (" not in o)])


def _as_written(statement: exp.Expr) -> str:
    """The statement as a tree, less comments and case, with its aliases renamed in order of appearance.

    Only names that are declared as an alias or a CTE, and are no table's name, are renamed, each to one new name: so
    two statements get one text only if they differ in such names alone.
    """
    tree = statement.copy()
    declared = [a.this.name.lower() for a in tree.find_all(exp.TableAlias) if isinstance(a.this, exp.Identifier)]
    ctes = {c.alias.lower() for c in tree.find_all(exp.CTE)}
    bases = {t.name.lower() for t in tree.find_all(exp.Table)} - ctes
    once = Counter(declared)
    renamed = {n: f"a{i}" for i, n in enumerate(dict.fromkeys(n for n in declared if n not in bases and once[n] == 1))}
    taken = {i.name.lower() for i in tree.find_all(exp.Identifier)}
    if any(new in taken for new in renamed.values()):
        renamed = {}
    for node in tree.walk():
        node.comments = None
    for identifier in list(tree.find_all(exp.Identifier)):
        role = identifier.parent
        is_table = isinstance(role, (exp.TableAlias, exp.Table)) or (
            isinstance(role, exp.Column) and role.args.get("table") is identifier
        )
        if (
            is_table
            and identifier.name.lower() in renamed
            and not (isinstance(role, exp.Table) and identifier.name.lower() not in ctes)
        ):
            identifier.set("this", renamed[identifier.name.lower()])
        elif not identifier.args.get("quoted"):
            identifier.set("this", identifier.name.lower())
    return f"tree {tree!r}"
