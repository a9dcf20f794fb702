"""`agreement-log …`: mounts the subcommands of `app.commands`, and nothing else."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from app.commands import consensus

app = typer.Typer(
    name="agreement-log",
    help="An append-only log of guardrail verdicts, human agreement and post-merge outcomes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


app.add_typer(consensus.app)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("agreement-log"))
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True)] = False,
) -> None:
    pass


def main() -> None:
    """The console script's entry point."""
    app()
