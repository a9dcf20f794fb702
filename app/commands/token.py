"""`agreement-log token new|list|revoke`: who may call."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from app.commands.settings import fail, load_settings
from app.platform.tokens import Kind, Scope, TokenFile

app = typer.Typer(help="Make, list and revoke bearer tokens.", no_args_is_help=True)


def _file() -> TokenFile:
    return TokenFile(load_settings().tokens_file)


@app.command("new")
def new(
    name: Annotated[str, typer.Option(help="The principal: rows name it as recorded_by, reviewed_by, outcome_by.")],
    scope: Annotated[list[Scope], typer.Option(help="May be given several times.")],
    kind: Annotated[Kind, typer.Option(help="An agent never authors a review, whatever its scopes.")] = Kind.SERVICE,
) -> None:
    """Make a token and print it once; the file keeps only its digest."""
    try:
        token = _file().new(name, kind, frozenset(scope))
    except (ValueError, OSError) as error:
        fail(f"no token was made: {_reason(error)}")
    typer.echo(token)


@app.command("list")
def list_tokens(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the tokens, without what they are."""
    records = _file().records()
    if as_json:
        rows = [{"id": r.id, **r.model_dump(mode="json", exclude={"sha256"})} for r in records]
        typer.echo(json.dumps(rows, indent=2, default=sorted))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("id", "name", "kind", "scopes", "made", "revoked")
    for record in records:
        scopes = " ".join(sorted(record.scopes))
        revoked = f"{record.revoked_at:%Y-%m-%d}" if record.revoked_at else ""
        table.add_row(record.id, record.name, record.kind, scopes, f"{record.created_at:%Y-%m-%d}", revoked)
    Console().print(table)


@app.command("revoke")
def revoke(
    name_or_id: Annotated[str, typer.Argument(help="A principal's name (all its tokens) or one token's id.")],
) -> None:
    """Revoke a token; a running service refuses it from the next request on."""
    try:
        revoked = _file().revoke(name_or_id)
    except (ValueError, OSError) as error:
        fail(f"nothing was revoked: {_reason(error)}")
    if not revoked:
        fail("no live token has that name or id; see `agreement-log token list`", code=1)
    typer.echo(f"revoked {revoked}")


def _reason(error: ValueError | OSError) -> str:
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        return "; ".join(f"{e['loc'][0]}: {e['msg']}" for e in error.errors())
    return str(error)
