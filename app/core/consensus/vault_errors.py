"""What can be wrong with a vault: one tree, so that a caller catches `VaultError` and shows its message as it stands.

Every message names the file or note and says what to change. The author of the vault reads it, so it may quote the
vault; the service never sends it to anybody else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 10
"""Dangling links listed in a message; all of them are in `links`."""


class VaultError(ValueError):
    """The vault cannot be read as it is."""


class BrokenFrontMatter(VaultError):
    """The YAML at the head of `file`, or a key in it, is wrong at `line` (counted from 1, in the file)."""

    def __init__(self, file: str, line: int, problem: str) -> None:
        super().__init__(f"{file}, line {line}: {problem}")
        self.file, self.line, self.problem = file, line, problem


class DuplicateName(VaultError):
    """Several files have one name; folders do not tell notes apart."""

    def __init__(self, name: str, files: Sequence[str]) -> None:
        super().__init__(f"[[{name}]] names {len(files)} files: {', '.join(files)}; rename all but one")
        self.name, self.files = name, tuple(files)


class UnknownName(VaultError):
    """A name asked for that no note has; `near` holds the names that look most like it."""

    def __init__(self, name: str, near: Sequence[str]) -> None:
        hint = f"; did you mean {' or '.join(f'[[{n}]]' for n in near)}?" if near else ""
        super().__init__(f"the vault has no note [[{name}]]{hint}")
        self.name, self.near = name, tuple(near)


class DanglingLink(VaultError):
    """Links to notes that are not there, as (file, target) pairs; all of the vault's, so that one repair mends it."""

    def __init__(self, links: Sequence[tuple[str, str]]) -> None:
        listed = "; ".join(f"{file} links [[{target}]]" for file, target in links[:_SHOWN])
        more = f"; and {len(links) - _SHOWN} more" if len(links) > _SHOWN else ""
        super().__init__(f"no such note: {listed}{more}; write the notes or mend the links")
        self.links = tuple(links)


class WrongType(VaultError):
    """A link leads to a note of another type than its place wants."""

    def __init__(self, file: str, key: str, target: str, *, found: str, wanted: Sequence[str]) -> None:
        super().__init__(f"{file}: `{key}` links [[{target}]], a {found}; it wants a {' or a '.join(wanted)}")
        self.file, self.key, self.target, self.found, self.wanted = file, key, target, found, tuple(wanted)


class CircularReference(VaultError):
    """Notes that lead back to themselves; `path` begins and ends with the same name."""

    def __init__(self, path: Sequence[str]) -> None:
        listed = " → ".join(f"[[{name}]]" for name in path)
        super().__init__(f"a circle of references: {listed}; take one of them out")
        self.path = tuple(path)


class BrokenSql(VaultError):
    """SQL that cannot be put into another statement without changing what either means."""

    def __init__(self, file: str, problem: str) -> None:
        super().__init__(f"{file}: {problem}")
        self.file, self.problem = file, problem
