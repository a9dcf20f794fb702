"""The service refuses traffic while it must not serve, and says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from pydantic import SecretStr

from app.platform import migrations
from app.settings import Settings
from tests.conftest import PASSWORD, SERVICE_LOGIN, settings_for
from tests.support import LiveService, a_record, with_login

if TYPE_CHECKING:
    from pathlib import Path


def refusal(live: LiveService) -> str:
    """What the service says while it refuses; every call refuses alike."""
    ready, call = live.as_(None).get("/readyz"), live.as_("root").post("/v1/agreements", json=a_record())
    for answer in (ready, call, live.as_(None).get("/v1/public/agreements")):
        assert answer.status_code == 503, answer.text
        assert "retry-after" in answer.headers
    assert ready.json()["detail"] == call.json()["detail"]
    detail: str = ready.json()["detail"]
    return detail


def upgrade(url: str, to: str = "head") -> None:
    migrations.upgrade(
        Settings(migration_database_url=url, service_login=SERVICE_LOGIN, service_password=SecretStr(PASSWORD)), to=to
    )


@pytest.mark.parametrize("revision", [None, "0001", "0002"])
def test_an_older_schema_is_refused_until_it_is_migrated(
    template: str, empty_url: str, tmp_path: Path, revision: str | None
) -> None:
    if revision is not None:
        upgrade(empty_url, revision)
        with psycopg.connect(empty_url, autocommit=True) as owner:
            owner.execute(f"GRANT SELECT ON alembic_version TO {SERVICE_LOGIN}")
    with LiveService(settings_for(with_login(empty_url, SERVICE_LOGIN, PASSWORD), tmp_path)) as live:
        detail = refusal(live)
        assert "agreement-log migrate" in detail
        assert revision is None or revision in detail
        upgrade(empty_url)
        assert live.as_(None).get("/readyz").status_code == 200
        assert live.as_("root").post("/v1/agreements", json=a_record()).status_code == 201


def test_a_newer_schema_is_refused(service: LiveService, owner_url: str) -> None:
    assert service.as_(None).get("/readyz").status_code == 200
    with psycopg.connect(owner_url, autocommit=True) as owner:
        owner.execute("UPDATE alembic_version SET version_num = '9999'")
    assert service.as_(None).get("/readyz").status_code == 503
    assert "upgrade the service" in refusal(service)


def test_the_owner_and_a_superuser_are_refused(owner_url: str, tmp_path: Path) -> None:
    with LiveService(settings_for(owner_url, tmp_path)) as live:
        assert migrations.WRITER_ROLE in refusal(live)


def test_a_tokens_file_that_cannot_be_read_is_reported(service: LiveService) -> None:
    service.settings.tokens_file.write_text("{")
    answer = service.as_(None).get("/readyz")
    assert answer.status_code == 503
    assert "tokens.json" in answer.json()["detail"]
    assert service.as_("root").get("/v1/agreements").status_code == 401
