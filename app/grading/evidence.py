"""What may be sent as evidence: the four kinds, and their JSON shape.

The service imports this for its OpenAPI document alone; evidence is read and checked in a worker, so that nothing
here may import the core. A fault of *shape* is refused (422). A fault of *meaning* (bounds that are upside down, a
schema that cannot be read) is a check in error: it fails its row, and the row says so.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictStr, WithJsonSchema

KINDS = ("result_set", "number", "statement", "consensus")
Kind = Literal["result_set", "number", "statement", "consensus"]

_DECIMAL_TAG = {
    "type": "object",
    "properties": {"$decimal": {"type": "string", "pattern": r"^[+-]?[0-9]{1,40}(\.[0-9]{1,40})?$"}},
    "required": ["$decimal"],
    "additionalProperties": False,
}


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueError("must be a number")
    return value


def _number_or_text(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    return _number(value)


Number = Annotated[
    int | Decimal, BeforeValidator(_number), WithJsonSchema({"anyOf": [{"type": "number"}, _DECIMAL_TAG]})
]
NumberOrText = Annotated[
    Any,
    BeforeValidator(_number_or_text),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}, _DECIMAL_TAG, {"type": "null"}]}),
]
Count = Annotated[int, Field(ge=0)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Rows(_Part):
    """What a statement returned. Numbers keep every digit; what JSON cannot spell is tagged: `{"$date": "2026-01-02"}`,
    and `$decimal`, `$datetime`, `$time`, `$float`, `$bytes`, `$uuid`, `$timedelta_s` likewise."""

    columns: list[StrictStr]
    rows: Annotated[list[list[Any]], Field(description="one list a row, one cell a column")]


class Band(_Part):
    """What a result is held to at the level `bounded`; every edge is inclusive."""

    min_rows: Count | None = None
    max_rows: Count | None = None
    min_value: Number | None = None
    max_value: Number | None = None


class ResultSetEvidence(_Part):
    """Does a generated result give the same answer as the golden one? It passes at exactly 1.0."""

    kind: Literal["result_set"]
    golden: Rows | None = Field(None, description="the answer key; only `bounded` and `nonempty` do without")
    generated: Rows
    golden_sql: StrictStr | None = Field(None, description="whether the order of rows counts is read off this alone")
    match: Literal["exact", "values", "shape", "bounded", "nonempty"] = "exact"
    bounds: Band | None = None
    dialect: StrictStr | None = None


class NumberEvidence(_Part):
    """Is a number what was expected? A text is read as dashboards print numbers."""

    kind: Literal["number"]
    expected: NumberOrText
    actual: NumberOrText
    tolerance: NumberOrText = Field(None, description="a share of the expected: `0.01` or `1%`, which is the default")


class StatementEvidence(_Part):
    """What the checks of one statement left behind, graded part by part. It passes when it is confirmed."""

    kind: Literal["statement"]
    files: dict[str, StrictStr] = Field(description="content by file name, such as `run.json`")
    with_claims: StrictBool = Field(default=False, description="whether `claims.json` is part of what is asked")


class CandidateStatement(_Part):
    """One agent's answer."""

    sql: StrictStr
    in_data_model: list[StrictStr] = []
    not_in_data_model: list[StrictStr] = []


Candidates = Annotated[list[StrictStr | CandidateStatement], Field(min_length=1, max_length=50)]
Tables = StrictStr | dict[str, dict[str, StrictStr]]


class ConsensusEvidence(_Part):
    """Do several statements mean the same? It passes on consensus."""

    kind: Literal["consensus"]
    candidates: Candidates
    dialect: StrictStr | None = None
    # `schema` is a method of pydantic's models, so that the field goes by another name here.
    tables: Tables | None = Field(
        None, alias="schema", description="CREATE TABLE text, or `{table: {column: type}}`, where a type may carry keys"
    )


Evidence = Annotated[
    ResultSetEvidence | NumberEvidence | StatementEvidence | ConsensusEvidence, Field(discriminator="kind")
]
EvidenceList = Annotated[list[Evidence], Field(min_length=1, max_length=100)]
