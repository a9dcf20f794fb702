"""`agreement-log …`: mounts the subcommands of `app.commands`, and nothing else."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from app.commands import compare, consensus, demo, dev, grade, log, migrate, reconcile, serve, token

app = typer.Typer(
    name="agreement-log",
    help="An append-only log of guardrail verdicts, human agreement and post-merge outcomes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

_SERVICE, _LOG, _CORE = "Run the service", "The log from a shell", "The core on its own"

app.command("dev", rich_help_panel=_SERVICE)(dev.dev)
app.command("serve", rich_help_panel=_SERVICE)(serve.serve)
app.command("migrate", rich_help_panel=_SERVICE)(migrate.migrate)
app.add_typer(token.app, name="token", rich_help_panel=_SERVICE)
app.command("demo", rich_help_panel=_SERVICE)(demo.demo)

app.command("record", rich_help_panel=_LOG)(log.record)
app.command("review", rich_help_panel=_LOG)(log.review)
app.command("outcome", rich_help_panel=_LOG)(log.outcome)
app.command("list", rich_help_panel=_LOG)(log.list_rows)
app.command("rates", rich_help_panel=_LOG)(log.rates)

app.command("grade", rich_help_panel=_LOG)(grade.grade)

app.command("compare", rich_help_panel=_CORE)(compare.compare)
app.add_typer(reconcile.app, name="reconcile", rich_help_panel=_CORE)
app.add_typer(consensus.app, name="consensus", rich_help_panel=_CORE)


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
