"""A small file that people edit while the service runs: read at each use, parsed when its bytes have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")


class WatchedFile(Generic[T]):
    """The parsed content of `path`, as it is now.

    The bytes are compared, not the times: two edits within one tick of the file system's clock are two edits.
    `parse` turns bytes into the value and raises ValueError for what it cannot read; a file that is missing or
    cannot be read gives `absent`, with the reason in `fault`.
    """

    def __init__(self, path: Path, parse: Callable[[bytes], T], absent: T) -> None:
        self.path = path
        self.fault: str | None = None
        self._parse = parse
        self._absent = absent
        self._content: bytes | None = None
        self._value = absent

    def read(self) -> T:
        """The value now."""
        try:
            content = self.path.read_bytes()
        except OSError as error:
            self._content, self._value = None, self._absent
            self.fault = f"{self.path.name} cannot be read: {type(error).__name__}"
            return self._value
        if content != self._content:
            self._content = content
            try:
                self._value, self.fault = self._parse(content), None
            except ValueError:
                # What the parser says may quote the file; its name is enough to act on.
                self._value, self.fault = self._absent, f"{self.path.name} is not in the form that README.md shows"
        return self._value
