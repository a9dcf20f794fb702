"""Settings for the commands: a wrong one ends the command with a sentence instead of a traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import typer

if TYPE_CHECKING:
    from app.settings import Settings

EXIT_USAGE = 2


def load_settings(**given: Any) -> Settings:
    """The settings of the environment, with what was given on the command line on top."""
    from pydantic import ValidationError

    from app.settings import ENV_PREFIX, Settings

    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        # not the error's own text: it repeats the value, which may be a password
        wrong = "; ".join(f"{ENV_PREFIX}{str(e['loc'][0]).upper()}: {e['msg']}" for e in error.errors())
        fail(f"a setting cannot be read: {wrong}")


def fail(message: str, code: int = EXIT_USAGE) -> NoReturn:
    """Prints `message` on standard error and ends the command."""
    typer.echo(f"agreement-log: {message}", err=True)
    raise typer.Exit(code)
