"""Everything a person may set: from `AGREEMENT_LOG_…` in the environment, or from a TOML file it names.

`AGREEMENT_LOG_CONFIG=/etc/agreement-log.toml` reads that file; the environment wins over it. The two database
addresses are also read under the names that other tools use, `DATABASE_URL` and `MIGRATION_DATABASE_URL`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from pydantic import AliasChoices, Field, PositiveFloat, PositiveInt, SecretStr
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

ENV_PREFIX = "AGREEMENT_LOG_"


class Settings(BaseSettings):
    """One field a setting; the unit is in the name or in the description."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, extra="forbid", frozen=True, populate_by_name=True)

    database_url: Annotated[
        SecretStr | None, Field(validation_alias=AliasChoices(f"{ENV_PREFIX}DATABASE_URL", "DATABASE_URL"))
    ] = None
    """What the service connects with: a login that is a member of agreement_log_writer, never the owner."""

    migration_database_url: Annotated[
        SecretStr | None,
        Field(validation_alias=AliasChoices(f"{ENV_PREFIX}MIGRATION_DATABASE_URL", "MIGRATION_DATABASE_URL")),
    ] = None
    """What `agreement-log migrate` connects with: a login that may create roles and objects. None: database_url."""

    service_login: str = "agreement_log_service"
    service_password: SecretStr | None = None
    """`agreement-log migrate` gives the login `service_login` this password, where one is set."""

    tokens_file: Path = Path("tokens.toml")
    designations_file: Path = Path("designations.toml")
    policy_file: Path = Path("policy.toml")

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    shutdown_timeout_s: PositiveInt = 20
    """How long a stopping service lets running requests finish."""

    log_level: Annotated[str, Field(pattern="^(debug|info|warning|error)$")] = "info"
    log_format: Annotated[str, Field(pattern="^(json|console)$")] = "json"

    pool_size: PositiveInt = 16
    """Database connections kept."""
    pool_timeout_s: PositiveFloat = 1.0
    """How long a request waits for a connection before it is answered 503."""
    connect_timeout_s: PositiveFloat = 1.5
    row_timeout_s: PositiveFloat = 1.8
    """How long the database may take over a call on single rows, before it is answered 503."""
    bulk_timeout_s: PositiveFloat = 30.0
    """The same for batches, lists and rates, which read or write many rows."""

    max_body_bytes: PositiveInt = 4 * 1024 * 1024
    max_evidence_bytes: PositiveInt = 32 * 1024 * 1024
    """The same for a body with evidence."""
    max_batch_rows: Annotated[int, Field(ge=1, le=1000)] = 1000
    max_text_chars: Annotated[int, Field(ge=1, le=100_000)] = 20_000
    """The longest reason; identifiers and words have shorter limits of their own, which the indexes set."""
    max_json_depth: Annotated[int, Field(ge=1, le=100)] = 64
    max_page_rows: Annotated[int, Field(ge=1, le=1000)] = 200

    grading_workers: PositiveInt = 2
    """How many processes read and grade evidence; the first one is started when it is first needed."""
    grading_queue: Annotated[int, Field(ge=0)] = 16
    """How many more requests with evidence wait for one, before the next is answered 503."""
    grading_timeout_s: PositiveFloat = 20.0
    """How long reading a body may take, and each check: what takes longer is cut off, and its check `timed_out`."""
    grading_request_timeout_s: PositiveFloat = 120.0
    """How long all checks of a request may take together. It waits as long for a worker, and is then answered 503."""
    grading_memory_bytes: PositiveInt = 2 * 1024 * 1024 * 1024
    """How much memory one of these processes may take."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments first, then the environment, then the file."""
        config = os.environ.get(f"{ENV_PREFIX}CONFIG")
        sources: tuple[PydanticBaseSettingsSource, ...] = (init_settings, env_settings)
        if config:
            sources += (TomlConfigSettingsSource(settings_cls, toml_file=config),)
        return sources

    def service_url(self) -> str:
        """The service's database address; raises ValueError with what to do where none is set."""
        if self.database_url is None:
            raise ValueError("set DATABASE_URL to the address of a Postgres database, or use `agreement-log dev`")
        return self.database_url.get_secret_value()

    def migration_url(self) -> str:
        """The address to migrate with."""
        if self.migration_database_url is not None:
            return self.migration_database_url.get_secret_value()
        return self.service_url()
