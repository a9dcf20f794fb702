"""Write several files of a directory, none of them by half."""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import TYPE_CHECKING

from app.core.reconcile.read_input import CannotOpen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def write_files(directory: Path, contents: Mapping[str, str]) -> None:
    """Replace each file of `directory` named in `contents` by its text.

    Every text is on the disk before the first name changes hands, so a reader sees an old file or a new one, and a
    failure leaves all the old ones. Arguments: plain names, and text of any characters.
    Raises `CannotOpen`.
    """
    ready: list[tuple[Path, Path]] = []
    try:
        for name, text in contents.items():
            aside = directory / f".{name}.{secrets.token_hex(8)}"
            ready.append((aside, directory / name))
            # Not a temporary file of the standard library: those are private to their owner, and others read these.
            descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode("utf-8", "backslashreplace"))
                file.flush()
                os.fsync(descriptor)
        for aside, target in ready:
            aside.replace(target)
        _sync(directory)
    except OSError as error:
        for aside, _ in ready:
            with contextlib.suppress(OSError):
                aside.unlink(missing_ok=True)
        raise CannotOpen(f"{directory}: cannot write: {error.strerror}") from None


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)  # the new names too, or a power cut brings back the old ones
    finally:
        os.close(descriptor)
