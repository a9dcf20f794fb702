"""One round of a consensus, as it is sent: the candidates, and the state, which travels with the caller."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr

from app.grading.evidence import Candidates, Tables


class _Known(BaseModel):
    # The whole block that `agreement-log consensus context --json` prints may be sent; these parts of it are read.
    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)


class ViewBlock(_Known):
    """A table that the candidates' writers were told of."""

    name: StrictStr
    table: StrictStr
    primary_key: tuple[StrictStr, ...] = ()
    one_row_means: StrictStr | None = None
    dedup_key: tuple[StrictStr, ...] = ()
    restricted_columns: tuple[StrictStr, ...] = ()


class FieldBlock(_Known):
    """A column, a calculation or a metric."""

    name: StrictStr
    view: StrictStr
    kind: StrictStr
    sql: StrictStr | None = None
    agg: StrictStr | None = None
    filters: tuple[StrictStr, ...] = ()


class RelationBlock(_Known):
    """A join of two views."""

    name: StrictStr
    left: StrictStr
    right: StrictStr
    cardinality: StrictStr | None = None
    join_type: StrictStr = "left"
    join_sql: StrictStr | None = None


class LoreBlock(_Known):
    """A rule that the writers were told."""

    name: StrictStr
    text: StrictStr


class ContextBlock(_Known):
    """What the writers were given to know."""

    views: tuple[ViewBlock, ...] = ()
    fields: tuple[FieldBlock, ...] = ()
    relations: tuple[RelationBlock, ...] = ()
    lore: tuple[LoreBlock, ...] = ()


class RoundBody(BaseModel):
    """One round. `round` and `refinements` are what the answer to the round before called next."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    candidates: Candidates
    round: Annotated[int, Field(ge=1, le=3)] = 1
    refinements: Annotated[list[StrictStr], Field(description="what was added to the context before this round")] = []
    dialect: StrictStr | None = None
    tables: Tables | None = Field(None, alias="schema", description="CREATE TABLE text, or `{table: {column: type}}`")
    context: ContextBlock | None = None
    ordered: StrictBool = Field(default=False, description="whether the order of rows counts")
    needed: Annotated[int, Field(ge=2)] | None = Field(
        None, description="how many must agree: at least four fifths, which is the default"
    )
