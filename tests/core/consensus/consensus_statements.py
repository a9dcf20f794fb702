"""Random statements over a world, and mutations of them: some keep the meaning, most do not."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp

if TYPE_CHECKING:
    from consensus_worlds import Table, World

DIALECT = "duckdb"


class Writer:
    """Writes random SELECTs over the tables of a world."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self.world, self.rng = world, rng
        self.count = 0

    def alias(self) -> str:
        self.count += 1
        return f"q{self.count}"

    def statement(self) -> str:
        kind = self.rng.random()
        if kind < 0.12:
            column = self.rng.choice(("ints", "texts"))
            op = self.rng.choice(("UNION", "UNION ALL", "INTERSECT", "EXCEPT"))
            return f"{self.one_column(column)} {op} {self.one_column(column)}"
        if kind < 0.22:
            return self.over_derived()
        if kind < 0.34:
            return self.outer_derived()
        if kind < 0.42:
            return self.numbered()
        return self.select()

    def one_column(self, kind: str) -> str:
        scope, source = self.source()
        columns = [f"{a}.{c}" for a, t in scope for c in getattr(t, kind)]
        distinct = self.rng.choice(("", "", "DISTINCT "))
        return f"SELECT {distinct}{self.rng.choice(columns)} FROM {source}{self.where(scope)}"

    def source(self) -> tuple[list[tuple[str, Table]], str]:
        rng = self.rng
        scope = [(self.alias(), rng.choice(self.world.tables))]
        text = f"{scope[0][1].name} AS {scope[0][0]}"
        for _ in range(rng.choice((0, 0, 1, 1, 1, 2))):
            alias, table = self.alias(), rng.choice(self.world.tables)
            join = rng.choice(("JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
            other = rng.choice(scope)
            on = f"{self.link(other)} = {self.link((alias, table))}"
            if join in ("JOIN", "LEFT JOIN") and rng.random() < 0.3:
                on += f" AND {self.condition([*scope, (alias, table)], 0)}"
            inner = f"{table.name} AS {alias}"
            if rng.random() < 0.15:
                inner = f"(SELECT * FROM {table.name} AS {alias}i WHERE {self.condition([(alias + 'i', table)], 0)}) AS {alias}"
            text += f" {join} {inner} ON {on}"
            scope.append((alias, table))
        return scope, text

    def link(self, item: tuple[str, Table]) -> str:
        alias, table = item
        likely = [c for c in (*table.key, "r_id", "x") if c in table.ints]
        return f"{alias}.{self.rng.choice(likely or list(table.ints))}"

    def column(self, scope: list[tuple[str, Table]], kind: str = "ints") -> str:
        alias, table = self.rng.choice(scope)
        return f"{alias}.{self.rng.choice(getattr(table, kind))}"

    def condition(self, scope: list[tuple[str, Table]], depth: int = 2) -> str:
        rng = self.rng
        number = self.column(scope)
        text = self.column(scope, "texts")
        simple: list[Callable[[], str]] = [
            lambda: f"{number} {rng.choice(('=', '<>', '<', '<=', '>', '>='))} {rng.randrange(4)}",
            lambda: f"{number} {rng.choice(('=', '<', '<='))} {self.column(scope)}",
            lambda: f"{text} = '{rng.choice('abc')}'",
            lambda: f"{number} IS {rng.choice(('', 'NOT '))}NULL",
            lambda: f"{number} IN ({rng.randrange(3)}, {rng.randrange(4)})",
            lambda: f"{number} NOT IN ({rng.randrange(3)}, {rng.randrange(4)})",
            lambda: f"{number} BETWEEN {rng.randrange(3)} AND {rng.randrange(2, 4)}",
            lambda: f"COALESCE({number}, {rng.randrange(3)}) = {rng.randrange(3)}",
            lambda: f"CASE WHEN {number} > 1 THEN TRUE ELSE FALSE END",
            lambda: f"{number} IS NOT DISTINCT FROM {self.column(scope)}",
            lambda: f"{number} IS DISTINCT FROM {rng.randrange(3)}",
            lambda: f"({number} > {rng.randrange(3)}) IS {rng.choice(('', 'NOT '))}TRUE",
            lambda: f"NULLIF({number}, {rng.randrange(3)}) {rng.choice(('IS NULL', '= 1', '<> 2'))}",
            lambda: f"{number} = ANY (ARRAY[{rng.randrange(3)}, {rng.randrange(3)}])",
        ]
        if depth <= 0 or rng.random() < 0.5:
            return rng.choice(simple)()
        deep: list[Callable[[], str]] = [
            lambda: f"({self.condition(scope, depth - 1)} AND {self.condition(scope, depth - 1)})",
            lambda: f"({self.condition(scope, depth - 1)} OR {self.condition(scope, depth - 1)})",
            lambda: f"NOT ({self.condition(scope, depth - 1)})",
            lambda: self.membership(scope, depth),
            lambda: self.existence(scope, depth),
            lambda: self.scalar(scope, depth),
            lambda: self.quantified(scope),
        ]
        return rng.choice(deep)()

    def membership(self, scope: list[tuple[str, Table]], depth: int) -> str:
        alias, table = self.alias(), self.rng.choice(self.world.tables)
        inner = self.link((alias, table))
        where = f" WHERE {self.condition([(alias, table)], depth - 2)}" if self.rng.random() < 0.6 else ""
        negated = self.rng.choice(("", "", "NOT "))
        return f"{self.link(self.rng.choice(scope))} {negated}IN (SELECT {inner} FROM {table.name} AS {alias}{where})"

    def existence(self, scope: list[tuple[str, Table]], depth: int) -> str:
        alias, table = self.alias(), self.rng.choice(self.world.tables)
        tie = f"{self.link((alias, table))} = {self.link(self.rng.choice(scope))}"
        extra = f" AND {self.condition([(alias, table)], depth - 2)}" if self.rng.random() < 0.5 else ""
        return f"{self.rng.choice(('', '', 'NOT '))}EXISTS (SELECT 1 FROM {table.name} AS {alias} WHERE {tie}{extra})"

    def scalar(self, scope: list[tuple[str, Table]], depth: int) -> str:
        alias, table = self.alias(), self.rng.choice(self.world.tables)
        agg = self.rng.choice(("MAX", "MIN", "COUNT", "SUM"))
        column = f"{alias}.{self.rng.choice(table.ints)}"
        tie = (
            f" WHERE {self.link((alias, table))} = {self.link(self.rng.choice(scope))}"
            if self.rng.random() < 0.6
            else ""
        )
        return f"{self.column(scope)} {self.rng.choice(('=', '<', '>='))} (SELECT {agg}({column}) FROM {table.name} AS {alias}{tie})"

    def quantified(self, scope: list[tuple[str, Table]]) -> str:
        alias, table = self.alias(), self.rng.choice(self.world.tables)
        op, word = self.rng.choice(("=", "<>", "<", ">=")), self.rng.choice(("ANY", "ALL"))
        return f"{self.column(scope)} {op} {word} (SELECT {alias}.{table.ints[-1]} FROM {table.name} AS {alias} WHERE {self.condition([(alias, table)], 0)})"

    def joined(self) -> str:
        """A derived table of a join, with a constant and an expression among its columns."""
        scope, source = self.source()
        key = self.link(self.rng.choice(scope))
        return f"SELECT {key} AS k, {self.value(scope)} AS v, 1 AS f FROM {source}{self.where(scope)}"

    def outer_derived(self) -> str:
        """An outer join to a derived table, of which it is asked whether it matched."""
        rng = self.rng
        table = rng.choice(self.world.tables)
        side = rng.choice(("LEFT", "LEFT", "RIGHT", "FULL", "INNER"))
        inner = rng.choice(
            (
                self.joined(),
                f"SELECT z.{table.ints[0]} AS k, 2 AS v, COALESCE(z.{table.ints[1]}, 1) AS f FROM {table.name} AS z",
            )
        )
        test = rng.choice(
            (
                "",
                " WHERE d.f IS NULL",
                " WHERE d.f IS NOT NULL",
                " WHERE d.k IS NULL",
                " WHERE d.v > 0 OR d.f = 1",
                f" WHERE w.{table.ints[0]} = d.v",
            )
        )
        shown = rng.choice(
            (
                f"w.{table.ints[0]}, d.f",
                "d.k, d.v",
                f"w.{table.ints[-1]}",
                "COUNT(*), COUNT(d.f), SUM(d.v)",
                "CASE WHEN d.f IS NULL THEN 0 ELSE 1 END AS m",
            )
        )
        return (
            f"SELECT {shown} FROM {table.name} AS w {side} JOIN ({inner}) AS d ON d.k = {self.link(('w', table))}{test}"
        )

    def numbered(self) -> str:
        """A window function, filtered before or after, over an order that decides."""
        rng = self.rng
        table = self.world.tables[0]
        function = rng.choice(("ROW_NUMBER()", "RANK()", "SUM(w.a)", "COUNT(*)", "MAX(w.id)"))
        over = rng.choice(("PARTITION BY w.a ORDER BY w.id", "ORDER BY w.id", "PARTITION BY w.s ORDER BY w.b, w.id"))
        inner = f"SELECT w.id, w.a, {function} OVER ({over}) AS n FROM {table.name} AS w"
        return rng.choice((
            inner, f"{inner} WHERE {self.condition([('w', table)], 1)}", f"SELECT d.id, d.n FROM ({inner}) AS d WHERE d.n = 1",
            f"SELECT d.id FROM ({inner}) AS d WHERE d.a > 1", f"SELECT DISTINCT d.n FROM ({inner}) AS d",
            f"SELECT DISTINCT ON (w.a) w.a, w.id FROM {table.name} AS w ORDER BY w.a, w.id",
            f"SELECT w.a, w.id FROM {table.name} AS w ORDER BY w.id LIMIT 2",
            f"SELECT d.id FROM (SELECT w.id, w.a FROM {table.name} AS w ORDER BY w.id LIMIT 3) AS d WHERE d.a <> 1",
            f"SELECT COUNT(*) FROM (SELECT DISTINCT w.s FROM {table.name} AS w) AS d",
            f"SELECT COUNT(DISTINCT w.s) FROM {table.name} AS w",
            f"SELECT w.id, x.n FROM {table.name} AS w, LATERAL (SELECT COUNT(*) AS n FROM s WHERE s.r_id = w.id) AS x",
            f"SELECT w.id, (SELECT COUNT(*) FROM s WHERE s.r_id = w.id) AS n FROM {table.name} AS w",
            f"SELECT w.id, COUNT(s.id) AS n FROM {table.name} AS w LEFT JOIN s ON s.r_id = w.id GROUP BY w.id",
            f"SELECT w.id, COALESCE(x.n, 0) AS n FROM {table.name} AS w LEFT JOIN (SELECT r_id, COUNT(*) AS n FROM s GROUP BY r_id) AS x ON x.r_id = w.id",
        ))  # fmt: skip

    def where(self, scope: list[tuple[str, Table]]) -> str:
        return f" WHERE {self.condition(scope)}" if self.rng.random() < 0.65 else ""

    def value(self, scope: list[tuple[str, Table]]) -> str:
        rng = self.rng
        return rng.choice((
            self.column(scope), self.column(scope), self.column(scope, "texts"), f"{self.column(scope)} + {self.column(scope)}",
            f"COALESCE({self.column(scope)}, 0)", f"{self.column(scope)} // 2", f"{self.column(scope)} * 2",
            f"CASE WHEN {self.condition(scope, 0)} THEN {self.column(scope)} ELSE {rng.randrange(2)} END",
            f"(SELECT MAX(k.y) FROM u AS k WHERE k.x = {self.column(scope)})",
        ))  # fmt: skip

    def aggregate(self, scope: list[tuple[str, Table]]) -> str:
        rng = self.rng
        column = self.column(scope)
        return rng.choice((
            "COUNT(*)", f"COUNT({column})", f"COUNT(DISTINCT {column})", f"SUM({column})", f"MIN({column})", f"MAX({column})",
            f"SUM(CASE WHEN {self.condition(scope, 0)} THEN 1 ELSE 0 END)", f"COUNT(*) FILTER (WHERE {self.condition(scope, 0)})",
            f"COALESCE(SUM(CASE WHEN {self.condition(scope, 0)} THEN 1 ELSE 0 END), 0)", f"SUM(DISTINCT {column})", f"COUNT(CASE WHEN {self.condition(scope, 0)} THEN {column} END)",
        ))  # fmt: skip

    def select(self) -> str:
        rng = self.rng
        scope, source = self.source()
        kind = rng.random()
        if kind < 0.45:
            outputs = [self.value(scope) for _ in range(rng.randrange(1, 4))]
            distinct = rng.choice(("", "", "DISTINCT "))
            text = f"SELECT {distinct}{', '.join(f'{o} AS o{i}' for i, o in enumerate(outputs))} FROM {source}{self.where(scope)}"
            return (
                f"{text} ORDER BY {', '.join(f'o{i}' for i in range(len(outputs)))} LIMIT {rng.randrange(1, 4)}"
                if rng.random() < 0.12
                else text
            )
        if kind < 0.6:
            return f"SELECT {self.aggregate(scope)} AS n, {self.aggregate(scope)} AS m FROM {source}{self.where(scope)}"
        keys = list(
            dict.fromkeys(self.column(scope, rng.choice(("ints", "ints", "texts"))) for _ in range(rng.randrange(1, 3)))
        )
        shown = [k for k in keys if rng.random() < 0.8] or keys
        having = (
            f" HAVING {rng.choice((f'{self.aggregate(scope)} > {rng.randrange(3)}', f'{keys[0]} IS NOT NULL', 'COUNT(*) >= 1'))}"
            if rng.random() < 0.4
            else ""
        )
        return f"SELECT {', '.join([*shown, self.aggregate(scope) + ' AS n'])} FROM {source}{self.where(scope)} GROUP BY {', '.join(keys)}{having}"

    def over_derived(self) -> str:
        rng = self.rng
        scope, source = self.source()
        key, number = self.column(scope), self.column(scope)
        inner = rng.choice((
            f"SELECT {key} AS k, {self.aggregate(scope)} AS v FROM {source}{self.where(scope)} GROUP BY {key}",
            f"SELECT DISTINCT {key} AS k, {number} AS v FROM {source}{self.where(scope)}",
            f"SELECT {key} AS k, {self.value(scope)} AS v FROM {source}{self.where(scope)}",
            f"SELECT {key} AS k, ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY {number}) AS v FROM {source}",
        ))  # fmt: skip
        table = rng.choice(self.world.tables)
        link = self.link(("w", table))
        return rng.choice((
            f"SELECT d.k, d.v FROM ({inner}) AS d WHERE d.k {rng.choice(('>', '=', '<>'))} {rng.randrange(3)}",
            f"WITH d AS ({inner}) SELECT d.k FROM d GROUP BY d.k",
            f"SELECT w.{table.ints[0]}, d.v FROM {table.name} AS w LEFT JOIN ({inner}) AS d ON d.k = {link}",
            f"SELECT w.{table.ints[0]} FROM {table.name} AS w JOIN ({inner}) AS d ON d.k = {link}",
            f"SELECT COUNT(*), COUNT(d.k), COUNT(DISTINCT d.k) FROM ({inner}) AS d",
            f"SELECT d.k, SUM(d.k) AS q, COUNT(*) AS n FROM ({inner}) AS d GROUP BY d.k",
        ))  # fmt: skip


Mutation = Callable[[exp.Expr, random.Random], exp.Expr | None]


def _pick(tree: exp.Expr, rng: random.Random, *kinds: type[exp.Expr]) -> exp.Expr | None:
    found = list(tree.find_all(*kinds))
    return rng.choice(found) if found else None


def drop_conjunct(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    node = _pick(tree, rng, exp.And)
    if node is not None:
        node.replace(rng.choice((node.this, node.expression)))
    return tree if node is not None else None


def outer_inner(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    node = _pick(tree, rng, exp.Join)
    if node is None or not node.args.get("on"):
        return None
    node.set("side", rng.choice([s for s in ("LEFT", "RIGHT", "FULL", None) if s != node.args.get("side")]))
    return tree


def where_to_on(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    for select in tree.find_all(exp.Select):
        joins = [j for j in select.args.get("joins") or () if j.args.get("on")]
        where = select.args.get("where")
        if joins and where is not None:
            joins[-1].set("on", exp.and_(joins[-1].args["on"], where.this))
            select.set("where", None)
            return tree
    return None


def on_to_where(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    for select in tree.find_all(exp.Select):
        for join in select.args.get("joins") or ():
            if isinstance(join.args.get("on"), exp.And):
                on = join.args["on"]
                join.set("on", on.this.copy())
                select.where(on.expression.copy(), copy=False)
                return tree
    return None


def count_other(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    node = _pick(tree, rng, exp.Count)
    column = _pick(tree, rng, exp.Column)
    if node is None or column is None:
        return None
    node.set("this", column.copy() if isinstance(node.this, exp.Star) else exp.Star())
    return tree


def toggle_distinct(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    node = _pick(tree, rng, exp.Select, exp.SetOperation)
    if isinstance(node, exp.Select):
        node.set("distinct", None if node.args.get("distinct") else exp.Distinct())
        return tree
    if isinstance(node, exp.Union):
        node.set("distinct", not node.args.get("distinct"))
        return tree
    return None


def other_comparison(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    node = _pick(tree, rng, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.EQ, exp.NEQ)
    if node is None:
        return None
    kind = rng.choice((exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NEQ, exp.EQ))
    node.replace(kind(this=node.this.copy(), expression=node.expression.copy()))
    return tree


def in_exists(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    found = [n for n in tree.find_all(exp.In) if n.args.get("query")]
    if not found:
        return None
    node = rng.choice(found)
    inner = node.args["query"].this.copy()
    column = inner.expressions[0].unalias().copy()
    inner.set("expressions", [exp.Literal.number(1)])
    inner.where(exp.EQ(this=column, expression=node.this.copy()), copy=False)
    node.replace(exp.Exists(this=inner))
    return tree


def having_where(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    for select in tree.find_all(exp.Select):
        having = select.args.get("having")
        if having is not None and not having.find(exp.AggFunc):
            select.set("having", None)
            select.where(having.this.copy(), copy=False)
            return tree
    return None


def drop_group_key(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    node = _pick(tree, rng, exp.Group)
    if node is None or len(node.expressions) < 2:
        return None
    node.set("expressions", node.expressions[:-1])
    return tree


def other_column(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    columns = list(tree.find_all(exp.Column))
    if len(columns) < 2:
        return None
    a, b = rng.sample(columns, 2)
    a.replace(b.copy())
    return tree


def other_literal(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    node = _pick(tree, rng, exp.Literal)
    if node is None or node.args.get("is_string"):
        return None
    node.replace(exp.Literal.number(rng.randrange(4)))
    return tree


def negate(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    node = _pick(tree, rng, exp.EQ, exp.LT, exp.Exists, exp.In, exp.Is)
    if node is None:
        return None
    node.replace(exp.Not(this=exp.Paren(this=node.copy())))
    return tree


def drop_join(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    node = _pick(tree, rng, exp.Join)
    if node is None:
        return None
    node.pop()
    return tree


def to_not_null(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    """`x = x` where it stands, or an added IS NOT NULL."""
    select = _pick(tree, rng, exp.Select)
    columns = list(select.find_all(exp.Column)) if select is not None else []
    if not columns or not isinstance(select, exp.Select):
        return None
    column = rng.choice(columns).copy()
    select.where(exp.Not(this=exp.Is(this=column, expression=exp.Null())), copy=False)
    return tree


# Those that keep the meaning.


def flip(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    node = _pick(tree, rng, exp.EQ, exp.And, exp.Or)
    if node is None:
        return None
    left, right = node.this.copy(), node.expression.copy()
    node.set("this", right)
    node.set("expression", left)
    return tree


def mirror(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    node = _pick(tree, rng, exp.LT, exp.LTE)
    if node is None:
        return None
    kind = exp.GT if isinstance(node, exp.LT) else exp.GTE
    node.replace(kind(this=node.expression.copy(), expression=node.this.copy()))
    return tree


def wrap(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    if isinstance(tree, exp.Select) and not tree.args.get("with_") and not tree.args.get("order"):
        for number, output in enumerate(tree.expressions):
            output.replace(exp.alias_(output.unalias().copy(), f"w{number}"))
        return exp.select(*[f"z.w{n}" for n in range(len(tree.expressions))]).from_(tree.subquery("z"))
    return None


def tautology(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    if not isinstance(tree, exp.Select):
        return None
    return tree.where("1 = 1")


def between_bounds(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    node = _pick(tree, rng, exp.Between)
    if node is None:
        return None
    low = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
    high = exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
    node.replace(exp.Paren(this=exp.And(this=low, expression=high)))
    return tree


def in_to_or(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    found = [n for n in tree.find_all(exp.In) if n.expressions]
    if not found:
        return None
    node = rng.choice(found)
    tests = [exp.EQ(this=node.this.copy(), expression=e.copy()) for e in node.expressions]
    node.replace(exp.Paren(this=exp.or_(*tests)))
    return tree


def case_filter(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    node = _pick(tree, rng, exp.Filter)
    if node is None or not isinstance(node.this, exp.Count):
        return None
    node.replace(exp.Count(this=exp.Case().when(node.expression.this.copy(), "1")))
    return tree


def distinct_to_group(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    if (
        not isinstance(tree, exp.Select)
        or not tree.args.get("distinct")
        or tree.args.get("group")
        or tree.args.get("order")
    ):
        return None
    if any(e.find(exp.AggFunc, exp.Window, exp.Subquery) for e in tree.expressions):
        return None
    tree.set("distinct", None)
    return tree.group_by(*[e.unalias().copy() for e in tree.expressions])


def right_to_left(tree: exp.Expr, rng: random.Random) -> exp.Expr | None:
    for select in tree.find_all(exp.Select):
        joins = select.args.get("joins") or []
        if len(joins) == 1 and joins[0].args.get("side") in ("LEFT", "RIGHT"):
            side = "RIGHT" if joins[0].args["side"] == "LEFT" else "LEFT"
            first, second = select.args["from_"].this.copy(), joins[0].this.copy()
            select.args["from_"].set("this", second)
            joins[0].set("this", first)
            joins[0].set("side", side)
            return tree
    return None


CHANGING: tuple[Mutation, ...] = (
    drop_conjunct, outer_inner, where_to_on, on_to_where, count_other, toggle_distinct, other_comparison, in_exists, having_where,
    drop_group_key, other_column, other_literal, negate, drop_join, to_not_null,
)  # fmt: skip
KEEPING: tuple[Mutation, ...] = (
    flip, mirror, wrap, tautology, between_bounds, in_to_or, case_filter, distinct_to_group, right_to_left,
)  # fmt: skip


def mutant(sql: str, rng: random.Random) -> tuple[str, bool] | None:
    """A mutated statement, and whether its mutations all keep the meaning; None where none applies."""
    tree: exp.Expr = sqlglot.parse_one(sql, dialect=DIALECT)
    keeping = rng.random() < 0.3
    done = 0
    for _ in range(12):
        result = rng.choice(KEEPING if keeping else CHANGING)(tree, rng)
        if result is not None:
            tree, done = result, done + 1
        if done >= (1 if rng.random() < 0.7 else 2):
            break
    return (tree.sql(dialect=DIALECT), keeping) if done else None
