"""Parts the evidence of a body from the rest, by its place in the text, before either is read.

The rest is small rows, which the service reads as strictly as any other; evidence is read in a worker alone, and by
another reader. Cutting the text, rather than reading it once, keeps the two apart: a `{"$date": …}` in a plain row of
a batch stays what it is, and every pointer of a refusal stands as it would without evidence.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPACE = re.compile(r"[ \t\n\r]*")
# Finds where a value ends at the speed of C. What it makes is thrown away, so that no number is worth making.
_SKIP = json.JSONDecoder(parse_int=len, parse_float=len)


class NotJson(ValueError):
    """The body is no JSON. The message repeats none of it."""


class SplitBody(NamedTuple):
    """`envelope` is the body's text with each evidence replaced by its index; `evidence` holds their texts."""

    envelope: str
    evidence: tuple[str, ...]


def split_body(body: bytes, *, batch: bool) -> SplitBody:
    """Cuts out the member `evidence` of the body's object, or for a batch of each object in its `rows`.

    A body of another shape has nothing to cut out: the reader of the envelope refuses it, with a pointer.
    Raises `NotJson`.

    >>> split_body(b'{"lane": "a", "evidence": [1, 2], "id": null}', batch=False)
    SplitBody(envelope='{"lane": "a", "evidence": 0, "id": null}', evidence=('[1, 2]',))
    """
    try:
        text = body.decode()
        spans = _spans(text, batch=batch)
    except UnicodeDecodeError as failure:
        raise NotJson(f"the body is not UTF-8 (byte {failure.start})") from None
    except json.JSONDecodeError as failure:
        raise NotJson(f"{failure.msg} (line {failure.lineno}, column {failure.colno})") from None
    except RecursionError:
        raise NotJson("the body is nested too deep") from None
    pieces: list[str] = []
    last = 0
    for index, (start, end) in enumerate(spans):
        pieces += (text[last:start], str(index))
        last = end
    return SplitBody("".join((*pieces, text[last:])), tuple(text[start:end] for start, end in spans))


def _spans(text: str, *, batch: bool) -> list[tuple[int, int]]:
    scanner = _Scanner(text)
    if not batch:
        found = _evidence(scanner)
    else:
        found = []
        for name in scanner.members():
            if name == "rows" and scanner.sees("["):
                for _ in scanner.items():
                    found += _evidence(scanner)
            else:
                scanner.value()
    scanner.finish()
    return found


def _evidence(scanner: _Scanner) -> list[tuple[int, int]]:
    """Where the evidence of the object that comes next stands."""
    if not scanner.sees("{"):
        scanner.value()
        return []
    return [span for name in scanner.members() for span in (scanner.value(),) if name == "evidence"]


class _Scanner:
    """A place in a JSON text. Whoever is handed a member or an item moves past its value before asking for the next."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._skip_space()

    def sees(self, sign: str) -> bool:
        return self._text.startswith(sign, self._at)

    def value(self) -> tuple[int, int]:
        """Moves past the value that comes next; where it stood."""
        start = self._at
        _, self._at = _SKIP.raw_decode(self._text, start)
        return start, self._at

    def members(self) -> Iterator[str]:
        """The names in the object that comes next, each with the place at its value."""
        if not self.sees("{"):
            self.value()
            return
        for _ in self._parts("{", "}"):
            if not self.sees('"'):
                raise self._fault("Expecting property name enclosed in double quotes")
            name, self._at = _SKIP.raw_decode(self._text, self._at)
            self._skip_space()
            self._pass(":", "Expecting ':' delimiter")
            yield name

    def items(self) -> Iterator[None]:
        """Once for each item of the array that comes next, with the place at it."""
        yield from self._parts("[", "]")

    def finish(self) -> None:
        self._skip_space()
        if self._at != len(self._text):
            raise self._fault("Extra data")

    def _parts(self, opening: str, closing: str) -> Iterator[None]:
        self._pass(opening, "Expecting value")
        if self.sees(closing):
            self._at += 1
            return
        while True:
            yield
            self._skip_space()
            if self.sees(closing):
                self._at += 1
                return
            self._pass(",", "Expecting ',' delimiter")

    def _pass(self, sign: str, otherwise: str) -> None:
        if not self.sees(sign):
            raise self._fault(otherwise)
        self._at += 1
        self._skip_space()

    def _skip_space(self) -> None:
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _fault(self, message: str) -> json.JSONDecodeError:
        return json.JSONDecodeError(message, self._text, self._at)
