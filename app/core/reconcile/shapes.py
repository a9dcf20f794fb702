"""The shapes of the files a ledger reads; one module, because together they are the contract with who writes them.

A key that is not named here is ignored. A named one of a wrong type is a shape not met, never a value coerced: `"0"`
is no count. Lists whose entries are graded one by one hold `Any`, and each entry is checked on its own.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class RunRecord(_Shape):
    """run.json. `detail` is left out: it may quote the engine, which quotes the statement. Of an `error` only its
    presence counts, and only against an `ok`: a failed run has one by nature."""

    status: str
    rule: str | None = None
    kind: str | None = None
    remediation: str | None = None
    error: Any = None

    @property
    def ran(self) -> bool:
        return self.status == "ok" and not self.error


class AggregateFinding(_Shape):
    risk: str
    aggregate: str | None = None


class Aggregate(_Shape):
    """`joins` and `findings` absent is not the same as empty: then nobody said which there are."""

    aggregate: str
    status: str | None = None
    joins: list[str] | None = None
    reason: str | None = None
    findings: list[AggregateFinding] | None = None


class Prepare(_Shape):
    """statement-prepare.json. `unchecked` is null, or an empty list, when everything was checked."""

    aggregates: list[Any]
    findings: list[Any] | None = None
    unchecked: Any = None

    @property
    def checked(self) -> bool:
        return self.unchecked is None or self.unchecked == []


class Section(_Shape):
    """`undetermined` is set by a receipt that could not make this section out."""

    items: list[Any]
    undetermined: Any = None


class Receipt(_Shape):
    """statement-receipt.json"""

    tables: Section
    columns: Section


class ReceiptTable(_Shape):
    ref: str
    alias: str | None = None
    qname: str | None = None
    filters: list[Any] | None = None


class ReceiptFilter(_Shape):
    expr: str
    status: str | None = None


class ReceiptOutput(_Shape):
    column: str
    status: str | None = None
    name: str | None = None
    source_tables: list[str] | None = None
    aggregate: bool | None = None


class DeclaredCardinality(_Shape):
    one_side: list[str] | None = None
    matched: bool | None = None


class JoinPlan(_Shape):
    overlap: list[Any] | None = None
    cardinality: list[str] | None = None


class Join(_Shape):
    """`pairs` are the columns the predicate equates: `[[[table, column], [table, column]], …]`."""

    endpoints: list[str]
    id: str | None = None
    predicate: str | None = None
    status: str | None = None
    pairs: list[list[list[str]]] | None = None
    declared_pairs: list[list[list[str]]] | None = None
    declared_cardinality: list[DeclaredCardinality] | None = None
    too_big_to_probe: bool | None = None
    not_probed_because: str | None = None
    probes: JoinPlan | None = None
    dropped_rows_probe: Any = None


class DroppedRowsProbe(_Shape):
    left: str | None = None
    right: str | None = None
    unexamined: Any = None


class JoinProbes(_Shape):
    """join-probes.json. `unreadable` is null when the statement could be read; `dropped` counts joins left out."""

    joins: list[Any]
    joins_written: int | None = None
    dropped: int | None = None
    unique_by_model: Any = None
    unreadable: Any = None

    @property
    def unlisted(self) -> bool:
        return bool(self.dropped) or (self.joins_written or 0) > len(self.joins)


class Judge(_Shape):
    """filter-values.judge.json"""

    literals: list[Any]
    columns: dict[str, Any] | None = None
    unreadable: Any = None


class JudgedLiteral(_Shape):
    table: str
    column: str
    literal: str | int | float | bool | None
    verdict: str | None = None
    op: Any = None
    tier: Any = None
    observed: Any = None
    near_miss: Any = None
    rows_with_value: Any = None
    declared: Any = None
    note: str | None = None


class JudgedColumn(_Shape):
    declared: str | None = None
    distinct: str | None = None
    observed_count: int | None = None
    sensitive: bool | None = None


class Claims(_Shape):
    """claims.json, where asked for."""

    claims: list[Any]
    unreadable: Any = None
    temporal_predicates: Any = None


class Claim(_Shape):
    name: str
    status: str | None = None
    generated: Any = None
    golden: Any = None


class QuestionFit(_Shape):
    """question_fit.json, where a person or a model read the statement beside its question."""

    fit: str
    reason: str | None = None
