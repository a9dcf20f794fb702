"""Reading the head of a note: YAML between two `---` lines, and the prose after it.

Every scalar stays text. YAML 1.1 would turn a column named `no` into False, `2024-01-01` into a date and `1_000` into
a number, and a name that is no longer text names nothing. Anchors, aliases and tags are refused: no note needs them,
an alias can grow to gigabytes when followed, and a tag can name a Python object.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from app.core.consensus.vault_errors import BrokenFrontMatter, VaultError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_LENGTH = 100_000
"""Characters of front matter; the longest honest one is a list of a few hundred links."""

MAX_DEPTH = 10
"""Levels of lists and mappings; the deepest key, `when`, needs five."""

_SURROGATE = re.compile("[\ud800-\udfff]")  # cannot be written as UTF-8, nor sent to anybody
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})

Yaml = str | list["Yaml"] | dict[str, "Yaml"] | None


@dataclass(frozen=True)
class FrontMatter:
    """The head of one note. `lines` maps each top key to its line in the file, counted from 1."""

    values: Mapping[str, Yaml]
    lines: Mapping[str, int]
    body: str


def read_front_matter(file: str, text: str) -> FrontMatter:
    """The front matter and the body of the note `text`; `file` is only named in errors.

    An unquoted `[[link]]`, which YAML takes for a list in a list, is given back as the text it was.
    Raises `BrokenFrontMatter`.

    >>> read_front_matter("a.md", "---\\ntype: view\\nview: [[orders]]\\n---\\nProse.\\n").values
    {'type': 'view', 'view': '[[orders]]'}
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[0].rstrip() != "---":
        raise BrokenFrontMatter(file, 1, "a note begins with a line `---` and its front matter")
    end = next((i for i, line in enumerate(lines[1:], start=1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        raise BrokenFrontMatter(file, 1, "the front matter is not closed; write a line `---` after it")
    head = "\n".join(lines[1:end])
    if len(head) > MAX_LENGTH:
        raise BrokenFrontMatter(file, 1, f"the front matter is longer than {MAX_LENGTH} characters")
    values, where = _read_yaml(file, head)
    return FrontMatter(values, where, "\n".join(lines[end + 1 :]).strip())


def _read_yaml(file: str, head: str) -> tuple[dict[str, Yaml], dict[str, int]]:
    where: dict[str, int] = {}
    try:
        events = yaml.parse(head, Loader=yaml.BaseLoader)
        next(events)  # the stream's start
        if isinstance(next(events), yaml.StreamEndEvent):
            return {}, where
        first = next(events)
        if not isinstance(first, yaml.MappingStartEvent):
            raise BrokenFrontMatter(file, _line(first), "front matter is a list of `key: value` lines")
        values = _mapping(file, first, events, 1, where)
        next(events)  # the document's end
        after = next(events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise BrokenFrontMatter(file, _line(after), "front matter is one YAML document")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BrokenFrontMatter(file, mark.line + 2 if mark else 2, f"not YAML: {error.problem}") from None
    except yaml.reader.ReaderError as error:
        line = head.count("\n", 0, error.position) + 2
        raise BrokenFrontMatter(file, line, f"not YAML: {error.reason}") from None
    except (OverflowError, ValueError) as error:
        if isinstance(error, VaultError):
            raise
        # PyYAML hands an escape such as "\\UFFFFFFFF" to chr() as it stands.
        raise BrokenFrontMatter(file, 2, "not YAML: an escape in quotes names no character") from None
    return values, where


def _value(file: str, event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Yaml:
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        raise BrokenFrontMatter(file, _line(event), "YAML anchors and aliases are not read; write the value out")
    if getattr(event, "tag", None):
        raise BrokenFrontMatter(file, _line(event), "YAML tags are not read; every value is text")
    if depth > MAX_DEPTH:
        raise BrokenFrontMatter(file, _line(event), f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(event, yaml.ScalarEvent):
        if _SURROGATE.search(event.value):
            raise BrokenFrontMatter(file, _line(event), "an escape in quotes names half a character")
        plain = event.style is None
        return None if plain and event.value in _NULLS else str(event.value)
    if isinstance(event, yaml.SequenceStartEvent):
        items: list[Yaml] = []
        while not isinstance(item := next(events), yaml.SequenceEndEvent):
            items.append(_value(file, item, events, depth + 1))
        return _as_link(items)
    return _mapping(file, event, events, depth + 1, {})


def _mapping(
    file: str, start: yaml.Event, events: Iterator[yaml.Event], depth: int, where: dict[str, int]
) -> dict[str, Yaml]:
    """The mapping that `start` opens; fills `where` with the line of each key."""
    if getattr(start, "anchor", None) or getattr(start, "tag", None):
        raise BrokenFrontMatter(file, _line(start), "YAML anchors and tags are not read; write the value out")
    values: dict[str, Yaml] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        key = _value(file, event, events, depth)
        if not isinstance(key, str):
            raise BrokenFrontMatter(file, _line(event), "a key is one word")
        if key in values:
            # YAML keeps the last one: a second `restricted_columns` would lift the first in silence.
            raise BrokenFrontMatter(file, _line(event), f"`{key}` is written twice")
        where[key] = _line(event)
        values[key] = _value(file, next(events), events, depth)
    return values


def _as_link(items: list[Yaml]) -> Yaml:
    match items:
        case [[str(name)]]:
            return f"[[{name}]]"
        case _:
            return items


def _line(event: yaml.Event) -> int:
    # The mark counts from 0, and `---` is the file's first line.
    return event.start_mark.line + 2 if event.start_mark else 2
