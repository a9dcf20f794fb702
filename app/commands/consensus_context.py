"""`agreement-log consensus context`: prints what the writers of a statement would be told."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # Typer reads the annotation when it runs
from typing import Annotated

import typer


def context(
    names: Annotated[list[str], typer.Argument(help="Notes the question is about, by name.", metavar="NAME…")],
    vault: Annotated[Path, typer.Option(help="The folder of notes.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the parts as JSON instead of text.")] = False,
) -> None:
    """Print the context of a question: tables, fields with their SQL, joins, and the rules that apply."""
    import dataclasses
    import json

    from app.core.consensus.vault import assemble_context
    from app.core.consensus.vault_errors import VaultError
    from app.runner.read_vault import read_vault

    try:
        block = assemble_context(read_vault(vault), names)
    except VaultError as error:
        typer.echo(f"vault: {error}", err=True)
        raise typer.Exit(2) from None
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(block), indent=2, ensure_ascii=False))
    else:
        typer.echo(block.render(), nl=False)
