"""The policy file: which post-merge outcomes are regressions."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, cast

from fastapi import Request  # noqa: TC002 - FastAPI reads the annotation at run time
from pydantic import BaseModel, ConfigDict

from app.platform.watched_file import WatchedFile

if TYPE_CHECKING:
    from pathlib import Path


class Policy(BaseModel):
    """The content of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    regressed_outcomes: frozenset[str]
    """The words of post_merge_outcome that count as a regression."""


def _parse(content: bytes) -> Policy | None:
    # both errors are ValueErrors: of TOML, and of its shape
    return Policy.model_validate(tomllib.loads(content.decode("utf-8")))


class PolicyFile:
    """The policy as it is now; None where the file is missing or cannot be read."""

    def __init__(self, path: Path) -> None:
        self._file: WatchedFile[Policy | None] = WatchedFile(path, _parse, None)

    def regressed_outcomes(self) -> frozenset[str] | None:
        """The words for a regression at this moment; None where there is no policy, and then a figure that rests
        on it is null, never 0."""
        policy = self._file.read()
        return policy.regressed_outcomes if policy is not None else None

    @property
    def fault(self) -> str | None:
        """Why the file cannot be used, None when it can."""
        self._file.read()
        return self._file.fault


async def policy_of(request: Request) -> PolicyFile:
    """The policy file that the app was made with."""
    return cast("PolicyFile", request.app.state.policy)
