"""The files of one row, by name, read without trusting any of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from app.core.reconcile.fold import fold
from app.core.reconcile.load_json import BadJson, load_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_BYTES: Final = 8_000_000
"""Of one file. What a checker writes about one statement is thousands of bytes."""

MAX_ENTRIES: Final = 1_000
"""Of one list in a file: joins, aggregates, literals. A fan-out grade may name every join, so both together square."""

Shape = TypeVar("Shape", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Loaded(Generic[Shape]):
    """A file of an expected shape. `value` is None exactly where `problem` says why it cannot be used; the sentence
    continues the file's name and holds none of its content."""

    file: str
    value: Shape | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Malformed:
    """An entry of a list that is not of its shape. `raw` is what stood there."""

    raw: Any

    def text(self, key: str) -> str | None:
        """The text under `key`, None where there is none that could name the part."""
        value = self.raw.get(key) if isinstance(self.raw, dict) else None
        return value if isinstance(value, str) and value else None


class RowFiles:
    """A mapping of file name to content, bytes or text, seen through the names and shapes a ledger knows."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self._files = files
        self._folded: dict[str, list[str]] = {}
        for name in files:
            self._folded.setdefault(fold(str(name)), []).append(name)

    def names(self) -> list[str]:
        """The names there are, folded for case, in no particular order."""
        return list(self._folded)

    def text(self, name: str) -> tuple[str | None, str | None]:
        """The text of the file `name`, or why there is none."""
        if name not in self._files:
            return None, "was not written"
        try:
            content: object = self._files[name]
        except OSError:  # a mapping that reads a disk when it is asked
            return None, "cannot be read"
        if not isinstance(content, (str, bytes)):
            return None, "is neither text nor bytes"
        if len(content) > MAX_BYTES:
            return None, f"is larger than {MAX_BYTES // 1_000_000} MB"
        if isinstance(content, bytes):
            try:
                content = content.decode("utf-8-sig")
            except UnicodeDecodeError:
                return None, "is not UTF-8"
        return (content, None) if content.strip() else (None, "is empty")

    def probe_text(self, name: str) -> tuple[str | None, str | None]:
        """As `text`, whatever the case of the name: a table may be written `Orders` here and `orders` there. Two files
        whose names differ in case alone answer nothing, since one of them is another statement's."""
        found = self._folded.get(fold(name), [])
        match found:
            case []:
                return None, "was not written"
            case [only]:
                return self.text(only)
            case _:
                return None, "stands there twice, in different case"

    def load(self, name: str, shape: type[Shape]) -> Loaded[Shape]:
        """The JSON object in the file `name`, as `shape`."""
        text, problem = self.text(name)
        if text is None:
            return Loaded(name, None, problem)
        try:
            raw = load_json(text, max_entries=MAX_ENTRIES)
        except BadJson as bad:
            return Loaded(name, None, str(bad))
        # Unless the shape has a place for one, an error in a file is all that there is in it.
        if isinstance(raw, dict) and raw.get("error") and "error" not in shape.model_fields:
            return Loaded(name, None, "carries an error")
        try:
            return Loaded(name, shape.model_validate(raw), None)
        except ValidationError:
            return Loaded(name, None, "is of another shape")


def entries(shape: type[Shape], raw: Sequence[Any]) -> list[Shape | Malformed]:
    """Each of `raw` as `shape`, one by one: a wrong type in one entry opens that one part and no other."""
    found: list[Shape | Malformed] = []
    for item in raw:
        try:
            found.append(shape.model_validate(item))
        except ValidationError:
            found.append(Malformed(item))
    return found
