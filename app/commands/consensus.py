"""`agreement-log consensus …`: what agents are told, and running them."""

from __future__ import annotations

import typer

from app.commands.consensus_context import context

app = typer.Typer(help="Do several SQL statements mean the same, and if not, where do they part?", no_args_is_help=True)

app.command()(context)


@app.callback()
def _group() -> None:
    """Keeps `context` a subcommand while it is the only one."""
