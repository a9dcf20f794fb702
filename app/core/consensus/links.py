"""How the notes of a vault lead to each other, and whether every lead is sound.

The whole vault is checked on each reading, not only what a question touches: a lore note whose trigger is misspelt
would otherwise stay out of every block, in silence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from app.core.consensus.note_keys import (
    ConceptKeys,
    FieldKeys,
    LoreKeys,
    RelationKeys,
    SourceKeys,
    TopicKeys,
    Trigger,
    ViewKeys,
    links_in,
    note_name,
)
from app.core.consensus.substitute import references
from app.core.consensus.vault_errors import CircularReference, DanglingLink, WrongType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from app.core.consensus.notes import Note

_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)


@dataclass(frozen=True)
class Link:
    """One lead from a note: the key it stands under, the note it names, and the types that may stand there."""

    key: str
    target: str
    wanted: tuple[str, ...]


def links_of(note: Note, notes: Mapping[str, Note]) -> tuple[Link, ...]:
    """Every lead in the keys of `note`, in the order of the keys. Links in prose are not among them.

    >>> from app.core.consensus.notes import read_notes
    >>> notes = read_notes({"t.md": "---\\ntype: topic\\nviews: [[orders]]\\n---"})
    >>> links_of(notes["t"], notes)
    (Link(key='views', target='orders', wanted=('view',)),)
    """
    match note.keys:
        case SourceKeys():
            return ()
        case ViewKeys() as view:
            columns = (
                ("primary_key", view.primary_key),
                ("dedup_key", view.dedup_key),
                ("restricted_columns", view.restricted_columns),
            )
            named = [(key, field_named(text, notes)) for key, texts in columns for text in texts]
            fields = [Link(key, name, ("field",)) for key, name in named if name is not None]
            return (*_links("source", links_in(view.source or ""), "source"), *fields)
        case FieldKeys() as field:
            semi = _links("semi_additive", links_in(" ".join(field.semi_additive)), "field")
            holes = (*_holes("sql", field.sql), *_holes("filters", *field.filters))
            return (Link("view", field.view, ("view",)), *holes, *semi)
        case RelationKeys() as relation:
            ends = [Link(key, end_target(text, notes), ("field", "view")) for key, text in ends_of(relation)]
            return (*ends, *_holes("join_sql", relation.join_sql or ""))
        case ConceptKeys() as concept:
            base = (concept.extends,) if concept.extends else ()
            holes = _holes("filter", concept.filter or "")
            return (*_links("extends", base, "concept"), *_links("fields", concept.fields_, "field"), *holes)
        case TopicKeys() as topic:
            concepts = _links("concepts", topic.concepts, "concept")
            relations = _links("relations", topic.relations, "relation")
            return (*concepts, *relations, *_links("views", topic.views, "view"))
        case LoreKeys() as lore:
            if not isinstance(lore.when, Trigger):
                return ()
            return (*_links("when", lore.when.fields_, "field"), *_links("when", lore.when.views, "view"))


def check_links(notes: Mapping[str, Note]) -> None:
    """Raises `DanglingLink` with all of them, `WrongType`, or `CircularReference`; prose outside code is read too."""
    links = {name: links_of(note, notes) for name, note in notes.items()}
    dangling = [
        (note.file, target)
        for name, note in notes.items()
        for target in dict.fromkeys((*(link.target for link in links[name]), *links_in(_CODE.sub("", note.body))))
        if target not in notes
    ]
    if dangling:
        raise DanglingLink(dangling)
    for name, note in notes.items():
        for link in links[name]:
            found = notes[link.target].keys.note_type
            if found not in link.wanted:
                raise WrongType(note.file, link.key, link.target, found=found, wanted=link.wanted)
    _refuse_circles(links, ("sql", "filters"), notes, "field")
    _refuse_circles(links, ("extends",), notes, "concept")


def field_named(text: str, notes: Mapping[str, Note]) -> str | None:
    """The field that a key column is written as: a link, or the plain name of a field; None for a column."""
    linked = links_in(text)
    if linked:
        return linked[0]
    name = note_name(text)
    return name if name in notes and notes[name].keys.note_type == "field" else None


def ends_of(relation: RelationKeys) -> tuple[tuple[str, str], tuple[str, str]]:
    """The two ends of a relation, with the keys they are written under."""
    return ("from", relation.from_), ("to", relation.to)


def end_target(text: str, notes: Mapping[str, Note]) -> str:
    """The note that an end of a relation names: a field, a view, or the view of a plain `view.column`."""
    linked = links_in(text)
    name = linked[0] if linked else note_name(text)
    view = name.rpartition(".")[0]
    is_column = not linked and name not in notes and view in notes and notes[view].keys.note_type == "view"
    return view if is_column else name


def _links(key: str, names: Iterable[str], wanted: str) -> tuple[Link, ...]:
    return tuple(Link(key, name, (wanted,)) for name in names)


def _holes(key: str, *sqls: str) -> tuple[Link, ...]:
    return tuple(Link(key, note_name(name), ("field",)) for sql in sqls for name in references(sql))


def _refuse_circles(
    links: Mapping[str, tuple[Link, ...]], keys: tuple[str, ...], notes: Mapping[str, Note], note_type: str
) -> None:
    graph = {
        name: [link.target for link in links[name] if link.key in keys]
        for name, note in notes.items()
        if note.keys.note_type == note_type
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # Each name in it is needed by the next; turned round, each names the next. It is told from its first name
        # in order, so that the message does not depend on where the search began.
        circle = list(reversed(error.args[1]))[1:]
        first = circle.index(min(circle))
        raise CircularReference([*circle[first:], *circle[: first + 1]]) from None
