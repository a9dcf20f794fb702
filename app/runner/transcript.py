"""The record of a run: what was asked (as digests), what came back, what was decided, and how long it took."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.runner.quorum import Answer

Outcome = Literal["consensus", "unresolved", "question", "not_run"]
"""`question`: only a person can settle it, and none was there. `not_run`: not one call came back."""


@dataclass(frozen=True, slots=True)
class Round:
    """One quorum. `decision` is None when every call failed, so that there was nothing to decide over."""

    round: int
    names: tuple[str, ...]
    refinements: tuple[str, ...]
    prompt_sha256: str
    answers: tuple[Answer, ...]
    decision: Mapping[str, Any] | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Transcript:
    """A whole run. `output` is the record for the caller; `questions` are open ones, for a person.

    The question and the context stand in it as digests only; `refinements` hold what a person answered.
    """

    model: str
    started_at: str
    question_sha256: str
    outcome: Outcome
    output: Mapping[str, Any]
    questions: tuple[str, ...]
    rounds: tuple[Round, ...]
    seconds: float


def write_transcript(transcript: Transcript, path: Path) -> None:
    """Writes `transcript` to `path` as JSON: whole or not at all, and never over a file that is there.

    Raises `FileExistsError`, and `OSError` when the folder cannot be written to.
    """
    text = json.dumps(dataclasses.asdict(transcript), indent=2, ensure_ascii=False) + "\n"
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        # A link, where a rename would put the new file over an older one.
        os.link(temporary, path)
    finally:
        Path(temporary).unlink()
