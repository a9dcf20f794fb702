"""A vault's text as notes: each file's name, type, keys and body, checked one by one."""

from __future__ import annotations

import difflib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from app.core.consensus.front_matter import read_front_matter
from app.core.consensus.note_keys import KEYS, LoreKeys, Trigger, note_name
from app.core.consensus.vault_errors import BrokenFrontMatter, DuplicateName

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

    from app.core.consensus.front_matter import FrontMatter
    from app.core.consensus.note_keys import AnyKeys

_NEARLY = 0.8
"""How alike two keys are when one is taken for a slip of the other; `filter` and `filters` are 0.92."""


@dataclass(frozen=True)
class Note:
    """One file of the vault."""

    name: str
    file: str
    keys: AnyKeys
    body: str


def read_notes(vault: Mapping[str, str]) -> dict[str, Note]:
    """The notes of `vault` (file name to text), by name, in the order of names.

    A file name may have folders, `.md` and a `__type`; see `note_name`.
    Raises `DuplicateName` and `BrokenFrontMatter`, for the first file in order that has one.

    >>> read_notes({"o__view.md": "---\\ntype: view\\ntable: shop.o\\n---\\n"})["o"].keys.table
    'shop.o'
    """
    files: dict[str, list[str]] = defaultdict(list)
    for file in sorted(vault):
        files[note_name(file)].append(file)
    for name, same in sorted(files.items()):
        if len(same) > 1:
            raise DuplicateName(name, same)
    return {name: _read_note(name, file, vault[file]) for name, (file,) in sorted(files.items())}


def _read_note(name: str, file: str, text: str) -> Note:
    front = read_front_matter(file, text)
    model = _model_of(name, file, front)
    _refuse_slips(file, front, model)
    try:
        # A key with nothing after it is a key left out: `dedup_key:` states no key, and `table:` is missing.
        keys = model.model_validate({key: value for key, value in front.values.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = str(first["loc"][0]) if first["loc"] else ""
        raise BrokenFrontMatter(file, front.lines.get(key, 1), _problem(first, model)) from None
    return Note(name, file, keys, front.body)


def _model_of(name: str, file: str, front: FrontMatter) -> type[AnyKeys]:
    """The type that the front matter says, or the file name where it says none; they may not differ."""
    said = front.values.get("type")
    suffix = file.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".md").rpartition("__")[2]
    line = front.lines.get("type", 1)
    types = ", ".join(KEYS)
    if said is None:
        if suffix in KEYS:
            return KEYS[suffix]
        raise BrokenFrontMatter(file, line, f"`type` is missing; write one of {types}")
    if not isinstance(said, str) or said not in KEYS:
        raise BrokenFrontMatter(file, line, f"`type` is one of {types}")
    if suffix in KEYS and suffix != said:
        raise BrokenFrontMatter(file, line, f"`type` says {said}, and the file name says {suffix}; [[{name}]] is one")
    return KEYS[said]


def _refuse_slips(file: str, front: FrontMatter, model: type[AnyKeys]) -> None:
    own = model.names()
    everywhere = {key: other.note_type for other in KEYS.values() for key in other.names()}
    for key in front.values:
        if key in own or key == "type":
            continue
        near = difflib.get_close_matches(key, own, n=1, cutoff=_NEARLY)
        if near:
            raise BrokenFrontMatter(file, front.lines[key], f"`{key}` is no key; did you mean `{near[0]}`?")
        if key in everywhere:
            listed = ", ".join(f"`{k}`" for k in own) or "none"
            problem = f"`{key}` is a key of a {everywhere[key]}; those of a {model.note_type}: {listed}"
            raise BrokenFrontMatter(file, front.lines[key], problem)
    when = front.values.get("when")
    if model is LoreKeys and isinstance(when, dict):
        for key in when:
            if key not in Trigger.names():
                raise BrokenFrontMatter(
                    file, front.lines["when"], f"`when` knows no `{key}`; write `fields` or `views`"
                )


def _problem(error: ErrorDetails, model: type[AnyKeys]) -> str:
    where = ".".join(str(part) for part in error["loc"] if part not in ("literal['always']", "Trigger"))
    if error["type"] == "missing":
        return f"`{where}` is missing; a {model.note_type} needs it"
    if error["type"] == "value_error":
        reason = str(error.get("ctx", {}).get("error", error["msg"]))
        return f"`{where}`: {reason}" if where else reason
    if model is LoreKeys and where == "when":
        return "`when` is `always`, or has `fields` or `views` under it"
    return f"`{where}`: {error['msg'][0].lower()}{error['msg'][1:]}"
