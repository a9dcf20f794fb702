"""Reading a vault's folder. The core takes text and opens nothing."""

from __future__ import annotations

import os
from pathlib import Path

from app.core.consensus.vault_errors import VaultError

MAX_FILES = 20_000
MAX_BYTES = 1_000_000
"""Bytes in one note; a longer file is data that strayed in."""


class UnreadableVault(VaultError):
    """The folder, or a file in it, could not be read as notes."""


def read_vault(folder: Path) -> dict[str, str]:
    """The Markdown files under `folder`, path below it to text.

    Hidden folders (`.obsidian`, `.git`) are left out, and links to folders are not followed.
    Raises `UnreadableVault`.

    >>> sorted(read_vault(Path("examples/vault")))[:2]
    ['fields/customers.credit__field.md', 'fields/customers.id__field.md']
    """
    if not folder.is_dir():
        raise UnreadableVault(f"{folder} is not a folder")
    files: dict[str, str] = {}
    for path, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.startswith(".") or not name.lower().endswith(".md"):
                continue
            file = Path(path, name)
            files[file.relative_to(folder).as_posix()] = _text(file)
            if len(files) > MAX_FILES:
                raise UnreadableVault(f"{folder} has more than {MAX_FILES} notes")
    if not files:
        raise UnreadableVault(f"{folder} has no .md files")
    return files


def _text(file: Path) -> str:
    if not file.is_file():
        raise UnreadableVault(f"{file} is not a regular file")  # opening a pipe would wait for ever
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise UnreadableVault(f"{file}: {error.strerror}") from None
    if len(data) > MAX_BYTES:
        raise UnreadableVault(f"{file} is longer than {MAX_BYTES} bytes; keep data out of the vault")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableVault(f"{file} is not UTF-8 (byte {error.start}); save it as UTF-8") from None


def _refuse(error: OSError) -> None:
    raise UnreadableVault(f"{error.filename}: {error.strerror}") from None
