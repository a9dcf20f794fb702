"""Read a file a person named, or say why not."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class CannotOpen(ValueError):
    """A file or directory that cannot be used. The message names it and the reason, and holds none of its content."""


def read_input(path: Path, limit: int) -> bytes:
    """The bytes of the regular file at `path`, `limit` of them at most.

    Raises `CannotOpen` for one that is missing, no regular file (a pipe would wait for ever), larger or not readable.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        raise CannotOpen(f"{path}: not found") from None
    except OSError as error:
        raise CannotOpen(f"{path}: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise CannotOpen(f"{path}: is no regular file")
    with os.fdopen(descriptor, "rb") as file:
        # Asked first, so that what is too large is not read; and again after, since a file may grow.
        content = b"" if (size := os.fstat(descriptor).st_size) > limit else file.read(limit + 1)
    if max(size, len(content)) > limit:
        raise CannotOpen(f"{path}: larger than {limit // 1_000_000} MB; divide it")
    return content
