"""`agreement-log dev`: a first run on one machine, with everything it needs, and a screen that says what to try."""

from __future__ import annotations

import json
import secrets
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.settings import fail, load_settings

if TYPE_CHECKING:
    from app.settings import Settings

DEV_TOKENS = {
    "review-bot": ("service", ("record",)),
    "reviewer": ("human", ("review", "record", "read")),
    "verification": ("service", ("outcome", "read")),
    "dashboard": ("service", ("read",)),
    "importer": ("service", ("record", "review", "outcome", "read", "import")),
}
_SAMPLE_DESIGNATIONS = """\
# The properties that may ever be published. A row whose property is not on this list is refused; a property taken
# off it is gone from every public answer at the next request.
properties = ["storefront", "search", "billing-docs"]
"""
_SAMPLE_POLICY = """\
# The words of post_merge_outcome that count as a regression.
regressed_outcomes = ["regressed", "rolled_back", "incident"]
"""


def dev(
    state: Annotated[Path, typer.Option(help="Where the database, tokens and samples live.")] = Path(".local"),
    port: Annotated[int | None, typer.Option(help="Default: the first free one from 8000 on.")] = None,
) -> None:
    """Start everything on this machine: Postgres, migrations, tokens, samples, the API.

    DATABASE_URL, where it is set, takes the place of the embedded Postgres; its login must be able to migrate.
    """
    state = state.resolve()
    state.mkdir(parents=True, exist_ok=True)
    settings = _migrated(state, port)
    _write_samples(settings)
    tokens = _dev_tokens(settings, state / "dev-tokens.json")
    url = f"http://{settings.host}:{settings.port}"
    (state / "url").write_text(url)  # where `agreement-log demo` finds the service
    _print_screen(url, tokens, state)

    from app.commands.serve import run_server

    run_server(settings)


def _migrated(state: Path, port: int | None) -> Settings:
    """Starts Postgres where none is given, migrates it, and returns the settings that the service runs with."""
    from pydantic import SecretStr

    from app.commands.migrate import faults_told
    from app.platform import embedded, migrations

    given = load_settings()
    password = _kept_password(state / "service-password")
    with faults_told():
        if given.database_url is not None:
            admin_url = given.migration_url()
        else:
            admin_url = embedded.start(state / "postgres").get_uri()
        settings = load_settings(
            migration_database_url=admin_url,
            service_password=password,
            tokens_file=state / "tokens.json",
            designations_file=state / "designations.toml",
            policy_file=state / "policy.toml",
            port=port or _free_port(given.host, given.port),
            log_format="console",
            log_level="warning",
        )
        migrations.upgrade(settings)
    address = SecretStr(_as_login(admin_url, settings.service_login, password))
    return settings.model_copy(update={"database_url": address})


def _as_login(admin_url: str, login: str, password: str) -> str:
    import sqlalchemy as sa

    return sa.make_url(admin_url).set(username=login, password=password).render_as_string(hide_password=False)


def _kept_password(path: Path) -> str:
    from app.platform.files import write_atomically

    if not path.exists():
        write_atomically(path, secrets.token_urlsafe(24).encode(), mode=0o600)
    return path.read_text()


def _free_port(host: str, first: int) -> int:
    for port in range(first, first + 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                continue
            return port
    fail(f"no port is free between {first} and {first + 99}; name one with --port", code=1)


def _write_samples(settings: Settings) -> None:
    for path, text in ((settings.designations_file, _SAMPLE_DESIGNATIONS), (settings.policy_file, _SAMPLE_POLICY)):
        if not path.exists():
            path.write_text(text)


def _dev_tokens(settings: Settings, kept: Path) -> dict[str, str]:
    """The development tokens, the same at every run; the ones that were revoked or lost are made anew."""
    from app.platform.files import write_atomically
    from app.platform.tokens import Kind, Scope, TokenFile

    tokens: dict[str, str] = json.loads(kept.read_text()) if kept.exists() else {}
    file = TokenFile(settings.tokens_file)
    for name, (kind, scopes) in DEV_TOKENS.items():
        if name not in tokens or file.principal(tokens[name]) is None:
            tokens[name] = file.new(name, Kind(kind), frozenset(Scope(scope) for scope in scopes))
    write_atomically(kept, json.dumps(tokens, indent=2).encode(), mode=0o600)
    return tokens


def _print_screen(url: str, tokens: dict[str, str], state: Path) -> None:
    typer.echo(
        f"""
Agreement Log serves at {url} (Ctrl-C stops it). State is kept in {state}.

Try, in another terminal:

  # a review bot records a guardrail verdict
  curl -sS {url}/v1/agreements -H 'Authorization: Bearer {tokens["review-bot"]}' \\
    -H 'Content-Type: application/json' \\
    -d '{{"decision_id": "pr-101", "lane": "sql-metrics", "risk_tier": "low", "agent_id": "agent-7",
         "guardrail_verdict": "pass", "property": "storefront"}}'

  # a reviewer authors the verdict and the agreement
  export AGREEMENT_LOG_URL={url} AGREEMENT_LOG_TOKEN={tokens["reviewer"]}
  .venv/bin/agreement-log review --decision pr-101 --verdict merge --agreement true_pass

  # what the log says of each lane, and what a stranger may see
  .venv/bin/agreement-log rates
  curl -sS {url}/v1/public/agreements

  # a believable sample: six lanes, 120 days
  make demo

More tokens are in {state / "dev-tokens.json"}; the API is described at {url}/openapi.json.
"""
    )
