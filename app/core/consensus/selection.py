"""Which notes of a vault a context needs: what was named, and all that the named ones lean on."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from app.core.consensus.links import end_target, ends_of, links_of
from app.core.consensus.note_keys import ConceptKeys, FieldKeys, LoreKeys, RelationKeys, TopicKeys, Trigger, note_name
from app.core.consensus.vault_errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Set

    from app.core.consensus.notes import Note


def select(notes: Mapping[str, Note], names: Iterable[str]) -> frozenset[str]:
    """The names of the notes a block for `names` holds; `notes` are sound (see `check_links`).

    Every note brings what its keys lead to. On top of that:
    - a view that was asked for, by name or by a topic, brings all its fields when none of them was chosen;
    - two views that are there bring the relations between them;
    - lore comes when it is always to come, when a field or view of its trigger is there, or when it is named.
    Raises `UnknownName`.
    """
    asked = {_known(name, notes) for name in names}
    asked |= {link.target for name in asked for link in links_of(notes[name], notes) if _is(notes, name, TopicKeys)}
    chosen = _follow(asked, notes, through=(ConceptKeys, TopicKeys))
    narrowed = {view for name in chosen if (view := _view_of(notes, name))}
    unnarrowed = asked - narrowed
    asked |= {name for name in notes if _view_of(notes, name) in unnarrowed}
    found = _follow(asked, notes, through=None)
    while between := _relations_between(found, notes) - found:
        found = _follow(found | between, notes, through=None)
    return frozenset(found | {name for name in notes if _is_called_for(notes[name], found)})


def _known(name: str, notes: Mapping[str, Note]) -> str:
    plain = note_name(name.strip().removeprefix("[[").removesuffix("]]"))
    if plain not in notes:
        raise UnknownName(plain, difflib.get_close_matches(plain, notes, n=3, cutoff=0.6))
    return plain


def _follow(start: Set[str], notes: Mapping[str, Note], *, through: tuple[type, ...] | None) -> set[str]:
    """All that `start` leads to, however far; only the notes of the types `through` are followed, None for all.

    Lore's leads say when it applies, not what it needs, and are never followed.
    """
    found, waiting = set(start), sorted(start)
    while waiting:
        note = notes[waiting.pop()]
        if isinstance(note.keys, LoreKeys) or (through is not None and not isinstance(note.keys, through)):
            continue
        new = {link.target for link in links_of(note, notes)} - found
        found |= new
        waiting += sorted(new)
    return found


def _view_of(notes: Mapping[str, Note], name: str) -> str | None:
    keys = notes[name].keys
    return keys.view if isinstance(keys, FieldKeys) else None


def _is(notes: Mapping[str, Note], name: str, model: type) -> bool:
    return isinstance(notes[name].keys, model)


def _relations_between(found: Set[str], notes: Mapping[str, Note]) -> set[str]:
    def sides(relation: RelationKeys) -> set[str]:
        targets = (end_target(text, notes) for _, text in ends_of(relation))
        return {_view_of(notes, target) or target for target in targets}

    return {name for name, note in notes.items() if isinstance(note.keys, RelationKeys) and sides(note.keys) <= found}


def _is_called_for(note: Note, found: Set[str]) -> bool:
    if not isinstance(note.keys, LoreKeys):
        return False
    when = note.keys.when
    return not isinstance(when, Trigger) or not found.isdisjoint((*when.fields_, *when.views))
