"""A row's directory as the mapping of name to content that a ledger reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from app.core.reconcile.row_files import MAX_BYTES

if TYPE_CHECKING:
    from pathlib import Path


class RowDirectory(Mapping[str, bytes]):
    """The plain files of one directory, each read when it is asked for, and no further than a ledger accepts.

    A name is only ever one the directory itself listed, so an id out of a hostile file (`../../secret`) names nothing;
    links are not listed and not followed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with os.scandir(path) as listed:
            self._names = frozenset(entry.name for entry in listed if entry.is_file(follow_symlinks=False))

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._names))

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, name: str) -> bytes:
        if name not in self._names:
            raise KeyError(name)
        # One byte more than a ledger takes, so that it sees what was too much without holding it.
        descriptor = os.open(self._path / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(MAX_BYTES + 1)
