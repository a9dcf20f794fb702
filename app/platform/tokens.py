"""Bearer tokens: a file that holds only their SHA-256 digests, with the principal, its kind and its scopes."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from app.platform.files import write_atomically
from app.platform.watched_file import WatchedFile

if TYPE_CHECKING:
    from pathlib import Path

PREFIX = "agl_"  # lets a secret scanner find a token that somebody committed
_BYTES = 32


class Scope(StrEnum):
    """What a token may do."""

    RECORD = "record"
    REVIEW = "review"
    OUTCOME = "outcome"
    READ = "read"
    DECIDE = "decide"
    IMPORT = "import"


class Kind(StrEnum):
    """What a principal is. One of kind `agent` never authors a review, whatever its scopes."""

    AGENT = "agent"
    HUMAN = "human"
    SERVICE = "service"


class Principal(BaseModel):
    """Who acts: taken from the token, never from a body."""

    model_config = ConfigDict(frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\s\x00-\x1f\x7f]+$")]
    kind: Kind
    scopes: frozenset[Scope]

    def may(self, *scopes: Scope) -> bool:
        """Whether it has one of `scopes`."""
        return not self.scopes.isdisjoint(scopes)


class TokenRecord(Principal):
    """One token as the file holds it."""

    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    created_at: datetime
    revoked_at: datetime | None = None

    @property
    def id(self) -> str:
        """What people call the token by, once it is no longer to be seen."""
        return self.sha256[:12]


class _Document(BaseModel):
    tokens: tuple[TokenRecord, ...] = ()


def _parse(content: bytes) -> tuple[TokenRecord, ...]:
    return _Document.model_validate_json(content).tokens


def digest(token: str) -> str:
    """The SHA-256 of a token, in hexadecimal."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class TokenFile:
    """The tokens as they are now. A missing or unreadable file lets nobody in."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: WatchedFile[tuple[TokenRecord, ...]] = WatchedFile(path, _parse, ())

    @property
    def fault(self) -> str | None:
        """Why the file cannot be used, None when it can."""
        self._file.read()
        return self._file.fault

    def records(self) -> tuple[TokenRecord, ...]:
        """Every token, the revoked ones too."""
        return self._file.read()

    def principal(self, token: str) -> Principal | None:
        """Who holds `token`; None for one that is unknown or revoked."""
        presented = digest(token)
        found: TokenRecord | None = None
        for record in self._file.read():
            # Every record is compared, in constant time: how long a refusal takes tells nothing.
            if hmac.compare_digest(record.sha256, presented) and record.revoked_at is None:
                found = record
        return found

    def new(self, name: str, kind: Kind, scopes: frozenset[Scope]) -> str:
        """Adds a token and returns it: the only time that it can be seen. Raises ValueError for a bad name."""
        token = PREFIX + secrets.token_urlsafe(_BYTES)
        record = TokenRecord(name=name, kind=kind, scopes=scopes, sha256=digest(token), created_at=datetime.now(UTC))
        self._write((*self._existing(), record))
        return token

    def revoke(self, name_or_id: str) -> int:
        """Revokes the live tokens of a principal, or the one with that id; returns how many."""
        now = datetime.now(UTC)
        before = self._existing()
        after = tuple(
            record.model_copy(update={"revoked_at": now})
            if name_or_id in (record.name, record.id) and record.revoked_at is None
            else record
            for record in before
        )
        if after != before:
            self._write(after)
        return sum(old != new for old, new in zip(before, after, strict=True))

    def _existing(self) -> tuple[TokenRecord, ...]:
        """What the file holds; a file that cannot be read is not overwritten as if it were empty."""
        records = self._file.read()
        if self._file.fault and self.path.exists():
            raise ValueError(self._file.fault)
        return records

    def _write(self, records: tuple[TokenRecord, ...]) -> None:
        document = _Document(tokens=records).model_dump_json(indent=2)
        write_atomically(self.path, document.encode() + b"\n", mode=0o600)
