"""What is known of the tables: columns, their kinds, what may be NULL, keys and references."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from app.core.sql import SqlRefused, parse_sql

if TYPE_CHECKING:
    from app.core.consensus.terms import Kind

_KINDS: tuple[tuple[str, Kind], ...] = (
    (r"timestamp ?with (local )?time ?zone|timestamptz|timestampltz|datetimeoffset", "timestamptz"),
    (r"timestamp|datetime|smalldatetime", "timestamp"),
    (r"interval", "unknown"),
    (r"bool", "bool"),
    (r"(u?(tiny|small|medium|big|huge)?(int|integer)(2|4|8|16|32|64|128|256)?|(small|big)?serial|byteint)\b", "int"),
    (r"(dec|decimal|numeric|number|bignumeric|money|smallmoney)\b", "decimal"),
    (r"(float|double|real)", "float"),
    (r"(varchar|text|string|nvarchar|varchar2|clob|character varying|(tiny|medium|long)text)", "text"),
    (r"(char|nchar|bpchar|character)\b", "char"),
    (r"date\b", "date"),
)


# Dialects whose BOOLEAN is a small integer, which may be 2: `b` and `b = TRUE` differ there.
_NO_BOOLEANS = frozenset({"mysql", "mariadb", "sqlite", "singlestore", "doris", "starrocks"})


def kind_of_type(name: str) -> Kind:
    """The kind of values that a column type of this name holds.

    >>> kind_of_type("VARCHAR(20)"), kind_of_type("bigint"), kind_of_type("geometry")
    ('text', 'int', 'unknown')
    """
    text = name.strip().lower()
    for pattern, kind in _KINDS:
        if re.match(pattern, text):
            return kind
    return "unknown"


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind
    not_null: bool


@dataclass(frozen=True)
class Reference:
    """A foreign key: `columns` hold a value of `target`'s `target_columns`, or NULL."""

    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]


@dataclass(frozen=True)
class TableInfo:
    name: str
    columns: tuple[Column, ...]
    keys: tuple[tuple[str, ...], ...] = ()
    references: tuple[Reference, ...] = ()

    def column(self, name: str) -> Column | None:
        return next((c for c in self.columns if c.name == name), None)


@dataclass(frozen=True)
class Schema:
    """Tables by lower-case name. An empty one says that nothing is known, not that there are no tables."""

    tables: Mapping[str, TableInfo]
    wide: bool = False
    """Whether some column holds integers wider than INTEGER."""

    def get(self, name: str) -> TableInfo | None:
        return self.tables.get(name) or self.tables.get(name.rsplit(".", 1)[-1])


NO_SCHEMA = Schema(MappingProxyType({}))
SchemaInput = str | Mapping[str, Mapping[str, Any]]


class SchemaRefused(ValueError):
    """A schema that could not be read."""


def read_schema(given: SchemaInput | None, dialect: str | None = None) -> Schema:
    """The schema that a caller gave.

    Arguments: `given`, CREATE TABLE text in whatever dialect, or `{table: {column: type}}`, where a type may carry
    `primary key`, `unique`, `not null` and `references t(c)`; `dialect`, the one tried first for the text.
    Raises `SchemaRefused` for text that no dialect reads, or that holds no table.

    >>> schema = read_schema({"t": {"id": "int primary key", "x": "text"}})
    >>> schema.tables["t"].keys, schema.tables["t"].column("id").not_null
    ((('id',),), True)
    """
    if not given:
        return NO_SCHEMA
    if isinstance(given, str):
        return _from_text(given, dialect)
    lines = []
    for table, columns in given.items():
        body = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
        lines.append(f'CREATE TABLE "{table}" ({body})')
    return _from_text(";\n".join(lines), "postgres")


@lru_cache(maxsize=64)
def _from_text(text: str, dialect: str | None) -> Schema:
    quoted = "`" in text
    for attempt in dict.fromkeys(("mysql", dialect) if quoted else (dialect, "postgres", "sqlite", "mysql", None)):
        try:
            statements = parse_sql(text, attempt)
        except SqlRefused:
            continue
        creates = [s for s in statements if isinstance(s, exp.Create) and isinstance(s.this, exp.Schema)]
        if creates:
            tables = [_table(c, dialect) for c in creates]
            wide = (
                re.search(r"\b(big|huge)(int|serial)|\bint8|\bint64|\blong\b|unsigned", text, re.IGNORECASE) is not None
            )
            return Schema(MappingProxyType({t.name: _resolved(t, tables) for t in tables}), wide)
    raise SchemaRefused("the schema holds no CREATE TABLE that could be read")


def _table(create: exp.Create, dialect: str | None) -> TableInfo:
    name = create.this.this.name.lower()
    columns: list[Column] = []
    keys: list[tuple[str, ...]] = []
    references: list[Reference] = []
    required: set[str] = set()
    for item in create.this.expressions:
        if isinstance(item, exp.ColumnDef):
            column = item.name.lower()
            kind = kind_of_type(item.kind.sql() if item.kind else "")
            if kind == "bool" and dialect in _NO_BOOLEANS:
                kind = "int"
            columns.append(Column(column, kind, not_null=False))
            for constraint in item.constraints:
                _column_constraint(column, constraint.kind, keys, references, required)
        else:
            for part in item.expressions if isinstance(item, exp.Constraint) else (item,):
                _table_constraint(part, keys, references, required)
    known = tuple(Column(c.name, c.kind, c.name in required) for c in columns)
    return TableInfo(name, known, tuple(dict.fromkeys(keys)), tuple(references))


def _column_constraint(
    column: str,
    kind: exp.Expr,
    keys: list[tuple[str, ...]],
    references: list[Reference],
    required: set[str],
) -> None:
    match kind:
        case exp.PrimaryKeyColumnConstraint():
            keys.insert(0, (column,))
            required.add(column)
        case exp.UniqueColumnConstraint() if not kind.this:
            keys.append((column,))
        case exp.NotNullColumnConstraint() if not kind.args.get("allow_null"):
            required.add(column)
        case exp.Reference():
            references.append(_reference((column,), kind))
        case _:
            pass


def _table_constraint(
    item: exp.Expr, keys: list[tuple[str, ...]], references: list[Reference], required: set[str]
) -> None:
    match item:
        case exp.PrimaryKey():
            names = tuple(e.name.lower() for e in item.expressions)
            keys.insert(0, names)
            required.update(names)
        case exp.UniqueColumnConstraint() if isinstance(item.this, exp.Schema):
            keys.append(tuple(e.name.lower() for e in item.this.expressions))
        case exp.ForeignKey():
            names = tuple(e.name.lower() for e in item.expressions)
            reference = item.args.get("reference")
            if reference is not None:
                references.append(_reference(names, reference))
        case _:
            pass


def _reference(columns: tuple[str, ...], node: exp.Expr) -> Reference:
    target = node.this
    if isinstance(target, exp.Schema):
        return Reference(columns, target.this.name.lower(), tuple(e.name.lower() for e in target.expressions))
    return Reference(columns, target.name.lower(), ())


def _resolved(table: TableInfo, tables: list[TableInfo]) -> TableInfo:
    """References made whole: a bare `REFERENCES t` means t's primary key; one between unlike types proves nothing."""
    by_name = {t.name: t for t in tables}
    whole = []
    for reference in table.references:
        target = by_name.get(reference.target)
        if target is None:
            continue
        columns = reference.target_columns or (target.keys[0] if target.keys else ())
        if len(columns) != len(reference.columns) or not _is_key(target, columns):
            continue
        mine = [table.column(c) for c in reference.columns]
        theirs = [target.column(c) for c in columns]
        if all(a and b and a.kind == b.kind != "unknown" for a, b in zip(mine, theirs, strict=True)):
            whole.append(Reference(reference.columns, reference.target, columns))
    return TableInfo(table.name, table.columns, table.keys, tuple(whole))


def _is_key(table: TableInfo, columns: tuple[str, ...]) -> bool:
    return any(set(key) == set(columns) for key in table.keys)
