"""The designation allowlist: the one list of properties that may ever be published."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, cast

from fastapi import Request  # noqa: TC002 - FastAPI reads the annotation at run time
from pydantic import BaseModel

from app.platform.watched_file import WatchedFile

if TYPE_CHECKING:
    from pathlib import Path


class _Document(BaseModel):
    properties: frozenset[str]


def _parse(content: bytes) -> frozenset[str]:
    # both errors are ValueErrors: of TOML, and of its shape
    return _Document.model_validate(tomllib.loads(content.decode("utf-8"))).properties


class Designations:
    """The list as it is now. A missing or unreadable list designates nothing."""

    def __init__(self, path: Path) -> None:
        self._file: WatchedFile[frozenset[str]] = WatchedFile(path, _parse, frozenset())

    def current(self) -> frozenset[str]:
        """The designated properties at this moment."""
        return self._file.read()

    @property
    def fault(self) -> str | None:
        """Why the list cannot be used, None when it can."""
        self._file.read()
        return self._file.fault


async def designations_of(request: Request) -> Designations:
    """The list that the app was made with."""
    return cast("Designations", request.app.state.designations)
