"""Tokens: only digests are kept, the file is read as it is now, and a broken one lets nobody in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from app.platform.tokens import Kind, Scope, TokenFile, digest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import LiveService


def test_a_token_is_never_in_the_file(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "tokens.json")
    token = file.new("bot", Kind.SERVICE, frozenset({Scope.RECORD}))
    text = (tmp_path / "tokens.json").read_text()
    assert token not in text
    assert token.removeprefix("agl_") not in text
    assert digest(token) in text
    assert (tmp_path / "tokens.json").stat().st_mode & 0o777 == 0o600


def test_a_token_is_its_principal_until_it_is_revoked(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "tokens.json")
    old, new = (file.new("bot", Kind.SERVICE, frozenset({Scope.RECORD})) for _ in range(2))
    other = file.new("ada", Kind.HUMAN, frozenset({Scope.REVIEW, Scope.READ}))
    principal = file.principal(old)
    assert principal is not None
    assert (principal.name, principal.kind, principal.scopes) == ("bot", Kind.SERVICE, frozenset({Scope.RECORD}))
    assert file.revoke(digest(old)[:12]) == 1
    assert (file.principal(old), file.principal(new) is None) == (None, False)
    assert file.revoke("bot") == 1
    assert file.revoke("bot") == 0
    assert file.principal(other) is not None
    assert len(file.records()) == 3  # a revoked token is remembered


@pytest.mark.parametrize("name", ["", "two words", "line\nbreak", "x" * 201])
def test_a_principal_has_a_name_that_can_be_logged(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        TokenFile(tmp_path / "tokens.json").new(name, Kind.HUMAN, frozenset(Scope))


def test_a_broken_file_lets_nobody_in_and_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    file = TokenFile(path)
    token = file.new("bot", Kind.SERVICE, frozenset(Scope))
    path.write_text(path.read_text()[:-5])
    broken = path.read_text()
    assert file.principal(token) is None
    assert file.fault is not None
    for change in (lambda: file.new("x", Kind.HUMAN, frozenset(Scope)), lambda: file.revoke("bot")):
        with pytest.raises(ValueError, match=r"tokens\.json"):
            change()
    assert path.read_text() == broken


@pytest.mark.parametrize("change", [{"scopes": ["everything"]}, {"kind": "god"}, {"sha256": "short"}])
def test_a_file_with_an_unknown_word_lets_nobody_in(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "tokens.json"
    token = TokenFile(path).new("bot", Kind.SERVICE, frozenset(Scope))
    document = json.loads(path.read_text())
    document["tokens"][0] |= change
    path.write_text(json.dumps(document))
    assert TokenFile(path).principal(token) is None


def test_a_running_service_notices_new_and_revoked_tokens(service: LiveService) -> None:
    import httpx

    file = TokenFile(service.settings.tokens_file)
    token = file.new("late", Kind.SERVICE, frozenset({Scope.READ}))

    def status(header: str) -> int:
        return httpx.get(f"{service.url}/v1/lanes", headers={"Authorization": header}, trust_env=False).status_code

    assert status(f"Bearer {token}") == 200
    assert status(f"bearer  {token}") == 200
    for wrong in (f"Basic {token}", token, f"Bearer {token} x", "Bearer", f"Bearer {token[:-1]}"):
        assert status(wrong) == 401
    file.revoke("late")
    assert status(f"Bearer {token}") == 401
