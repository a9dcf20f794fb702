"""What the front matter of each type of note may say: the keys, and the forms a value may be written in.

These models stand at the edge, where text comes in; what comes out is frozen. Keys the vault's owners keep for
themselves (tags, titles, labels) are passed over; a key that is nearly one of ours, or is one of another type, is an
error, because `restricted_colums` passed over would lift a restriction.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from app.core.consensus.substitute import sql_problem

NoteType = Literal["source", "view", "field", "relation", "concept", "topic", "lore"]
Kind = Literal["identifier", "dimension", "time", "metric"]
Cardinality = Literal["one_to_one", "one_to_many", "many_to_one", "many_to_many"]
JoinType = Literal["left", "inner", "right", "full", "cross"]

_SUFFIX = re.compile(r"__(source|view|field|relation|concept|topic|lore)$")
_LINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")


def note_name(text: str) -> str:
    """The name that a file name or a link target stands for.

    Folders, `.md`, the optional `__type`, and a link's heading or display text are taken off. Letters with accents
    are composed, because file systems hand the same name out in two forms.

    >>> note_name("views/orders__view.md"), note_name("orders.revenue|Revenue")
    ('orders', 'orders.revenue')
    """
    name = re.split(r"[|#^]", text, maxsplit=1)[0].strip().replace("\\", "/").rsplit("/", 1)[-1]
    return _SUFFIX.sub("", unicodedata.normalize("NFC", name).removesuffix(".md"))


def links_in(text: str) -> tuple[str, ...]:
    """The names of all `[[links]]` in `text`, in order; an embedded `![[picture.png]]` is none.

    >>> links_in("see [[orders]] and [[orders.revenue|revenue]]")
    ('orders', 'orders.revenue')
    """
    return tuple(note_name(m[1]) for m in _LINK.finditer(text) if text[m.start() - 1 : m.start()] != "!")


def without_links(text: str) -> str:
    """Prose with each `[[link]]` as the bare name: a reader without the vault has nowhere to follow it to.

    >>> without_links("never add to [[orders.net|net revenue]]")
    'never add to orders.net'
    """
    return _LINK.sub(lambda m: note_name(m[1]), text)


def _one_name(value: Any) -> Any:
    match = _LINK.fullmatch(value.strip()) if isinstance(value, str) else None
    return note_name(match[1]) if match else note_name(value) if isinstance(value, str) else value


def _listed(value: Any) -> Any:
    """One value, a list, or text with commas, as a list; a bracketed expression keeps its commas."""
    if value is None:
        return ()
    if isinstance(value, str):
        return [part.strip() for part in (value.split(",") if "(" not in value else [value]) if part.strip()]
    return value


def _one_or_several(value: Any) -> Any:
    return () if value is None else [value] if isinstance(value, str) else value


def _written_as_sql(value: Any) -> Any:
    if isinstance(value, (dict, list)):
        raise ValueError("write SQL, such as ${TABLE}.status = 'completed'")  # Pydantic wants this one
    return value


def _sound_sql(value: str) -> str:
    if problem := sql_problem(value):
        raise ValueError(problem)
    return value


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


Name = Annotated[str, BeforeValidator(_one_name), Field(min_length=1)]
Names = Annotated[tuple[Name, ...], BeforeValidator(_listed)]
Columns = Annotated[tuple[str, ...], BeforeValidator(_listed)]
Text = Annotated[str, Field(min_length=1)]
Sql = Annotated[str, BeforeValidator(_written_as_sql), AfterValidator(_sound_sql)]
Conditions = Annotated[tuple[Sql, ...], BeforeValidator(_one_or_several)]


class Keys(BaseModel):
    """What every type has in common; `note_type` is the type."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)
    note_type: ClassVar[NoteType]

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The keys as they are written in a note."""
        return tuple(field.alias or name for name, field in cls.model_fields.items())


class SourceKeys(Keys):
    """How the warehouse is reached is kept by its own tools; only the body reaches a block."""

    note_type = "source"


class ViewKeys(Keys):
    """A table and its grain. Keys may be columns or `[[fields]]`."""

    note_type = "view"
    table: Text
    source: str | None = None
    primary_key: Columns = ()
    one_row_means: str | None = None
    dedup_key: Columns = ()
    restricted_columns: Columns = ()


class FieldKeys(Keys):
    """A column, a calculation or a metric."""

    note_type = "field"
    view: Name
    kind: Kind
    sql: Sql
    agg: str | None = None
    filters: Conditions = ()
    semi_additive: Columns = ()


class RelationKeys(Keys):
    """A join. An end is a `[[field]]`, a `[[view]]` (then `join_sql` says how), or `view.column`."""

    note_type = "relation"
    from_: Text = Field(alias="from")
    to: Text
    cardinality: Annotated[Cardinality, BeforeValidator(_lower)]
    join_type: Annotated[JoinType, BeforeValidator(_lower)] = "left"
    join_sql: Sql | None = None


class ConceptKeys(Keys):
    """Fields that belong together under one word, perhaps with a condition."""

    note_type = "concept"
    fields_: Names = Field(default=(), alias="fields")
    extends: Name | None = None
    filter: Sql | None = None

    @model_validator(mode="after")
    def _says_something(self) -> ConceptKeys:
        if not self.fields_ and self.extends is None:
            raise ValueError("a concept has `fields`, or `extends` another concept")
        return self


class TopicKeys(Keys):
    """Where a domain begins."""

    note_type = "topic"
    concepts: Names = ()
    relations: Names = ()
    views: Names = ()


class Trigger(Keys):
    """What brings a lore note into a block; one with a `description` alone comes only when it is named."""

    note_type = "lore"
    fields_: Names = Field(default=(), alias="fields")
    views: Names = ()
    description: str | None = None

    @model_validator(mode="after")
    def _says_when(self) -> Trigger:
        if not self.fields_ and not self.views and not self.description:
            raise ValueError("write `always`, or `fields` or `views` under it")
        return self


class LoreKeys(Keys):
    """A rule that cuts across notes."""

    note_type = "lore"
    when: Literal["always"] | Trigger


AnyKeys = SourceKeys | ViewKeys | FieldKeys | RelationKeys | ConceptKeys | TopicKeys | LoreKeys

KEYS: dict[str, type[AnyKeys]] = {model.note_type: model for model in get_args(AnyKeys)}
