"""What the writers of a statement are given to know: values resolved from a vault, with no way back into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.core.consensus.render_block import render_block

if TYPE_CHECKING:
    from app.core.consensus.note_keys import Cardinality, JoinType, Kind


@dataclass(frozen=True, slots=True)
class ViewContext:
    """A table. An empty `primary_key` or `dedup_key`, and a `one_row_means` of None, is: the vault does not say."""

    name: str
    table: str
    primary_key: tuple[str, ...]
    one_row_means: str | None
    dedup_key: tuple[str, ...]
    restricted_columns: tuple[str, ...]
    source: str | None
    text: str


@dataclass(frozen=True, slots=True)
class FieldContext:
    """A column, calculation or metric; `sql` and `filters` are complete, with nothing left to substitute.

    `built_from` names the fields that are inlined in it, whose own filters are theirs and not copied here.
    `restricted` names the restricted columns that it reads.
    """

    name: str
    view: str
    kind: Kind
    sql: str
    agg: str | None
    filters: tuple[str, ...]
    semi_additive: str | None
    built_from: tuple[str, ...]
    restricted: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class RelationContext:
    """A join of the views `left` and `right`; `join_sql` is the whole condition.

    A view joined to itself is called `left_alias` and `right_alias` in it; both are None otherwise.
    """

    name: str
    left: str
    right: str
    cardinality: Cardinality
    join_type: JoinType
    join_sql: str
    left_alias: str | None
    right_alias: str | None
    text: str


@dataclass(frozen=True, slots=True)
class ConceptContext:
    """Fields under one word, inherited ones among them; all of `filters` hold."""

    name: str
    fields: tuple[str, ...]
    filters: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class NamedText:
    """A note whose prose is all it says: a source, a topic, or lore."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """Everything a reader without the vault needs to write the statement; each part is in the order of names."""

    sources: tuple[NamedText, ...]
    views: tuple[ViewContext, ...]
    fields: tuple[FieldContext, ...]
    relations: tuple[RelationContext, ...]
    concepts: tuple[ConceptContext, ...]
    topics: tuple[NamedText, ...]
    lore: tuple[NamedText, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names of all notes that are in it."""
        told = [note.name for note in (*self.sources, *self.topics, *self.lore)]
        tables = [view.name for view in self.views] + [field.name for field in self.fields]
        return frozenset(told + tables + [r.name for r in self.relations] + [c.name for c in self.concepts])

    def render(self) -> str:
        """The block as text, the same bytes for the same vault and names."""
        return render_block(self)
