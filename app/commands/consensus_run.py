"""`agreement-log consensus run`: five agents answer a question until they agree, or it is clear why they do not."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # Typer reads the annotation when it runs
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from app.runner.transcript import Transcript

_EXITS = {"consensus": 0, "unresolved": 1, "question": 1, "not_run": 3}


def run(
    *,
    vault: Annotated[Path, typer.Option(help="The folder of notes.")],
    question: Annotated[str, typer.Option(help="The question, as the person put it.")],
    names: Annotated[list[str], typer.Option(help="A note the question is about; more may follow.", metavar="NAME…")],
    model: Annotated[
        str,
        typer.Option(help="provider:model, as pydantic-ai names it.", envvar="AGREEMENT_LOG_CONSENSUS_MODEL"),
    ],
    dialect: Annotated[str | None, typer.Option(help="The SQL dialect to write and compare in.")] = None,
    schema: Annotated[
        Path | None, typer.Option(help="CREATE TABLE text, or .json with {table: {column: type}}, to compare by.")
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds for each call to the model.", min=0.1)] = 120.0,
    transcript: Annotated[
        Path | None, typer.Option(help="Where to write the transcript. [default: consensus-TIME.json, here]")
    ] = None,
    more: Annotated[list[str] | None, typer.Argument(metavar="", help="More names, after --names.")] = None,
) -> None:
    """Answer a question in SQL, five times at once, and print the statement when they agree.

    Exit codes: 0 they agree; 1 they do not, or a person has to answer a question first; 2 the vault, the model or an
    option is wrong; 3 not one call to the model came back.
    """
    import asyncio
    import json

    from app.core.consensus.vault_errors import VaultError
    from app.runner.read_vault import read_vault

    target = _free_path(transcript)
    chosen = _model(model)  # before the imports below, which need the library that it finds missing
    from app.runner.judge import judge
    from app.runner.run_consensus import Plan, run_consensus
    from app.runner.transcript import write_transcript

    try:
        plan = Plan(
            question=question,
            vault=read_vault(vault),
            model=chosen,
            judge=judge(dialect=_dialect(dialect), schema=_schema(schema, dialect)),
            ask=_ask,
            timeout=timeout,
            dialect=dialect,
        )
        asked = [name.strip() for given in (*names, *(more or ())) for name in given.split(",") if name.strip()]
        done = asyncio.run(run_consensus(plan, asked))
    except VaultError as error:
        raise _refusal(f"vault: {error}") from None
    typer.echo(json.dumps(dict(done.output), indent=2, ensure_ascii=False))
    try:
        write_transcript(done, target)
    except OSError as error:
        raise _refusal(f"the transcript was not written: {error.strerror}: {target}") from None
    typer.echo(f"{_summary(done)}; transcript: {target}", err=True)
    raise typer.Exit(_EXITS[done.outcome])


def _free_path(wanted: Path | None) -> Path:
    """Where the transcript goes; found out before the model is paid for, not after."""
    from datetime import UTC, datetime
    from pathlib import Path

    path = wanted or Path(f"consensus-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}.json")
    if path.exists():
        raise _refusal(f"{path} is there already, and a transcript is never written over; name another file")
    if not path.parent.is_dir():
        raise _refusal(f"{path.parent} is not a folder")
    return path


def _dialect(name: str | None) -> str | None:
    """The name, once it is known: with a wrong one no candidate can be read, and five calls are spent."""
    from app.core.sql import SqlRefused, parse_sql

    try:
        parse_sql("SELECT 1", name)
    except SqlRefused:
        raise _refusal(f"{name} is no SQL dialect that is known here") from None
    return name


def _schema(path: Path | None, dialect: str | None) -> str | dict[str, dict[str, str]] | None:
    import json

    from app.core.consensus import SchemaRefused, read_schema

    if path is None:
        return None
    try:
        text = path.read_text(encoding="utf-8")
        schema = json.loads(text) if path.suffix == ".json" else text
        read_schema(schema, dialect)
    except OSError as error:
        raise _refusal(f"{path}: {error.strerror}") from None
    except (SchemaRefused, ValueError) as error:
        raise _refusal(f"{path}: {error}") from None
    return schema


def _model(name: str) -> Model:
    try:
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model
    except ImportError:
        raise _refusal("running agents needs the `agents` extra: pip install 'agreement-log[agents]'") from None
    try:
        return infer_model(name)
    except (UserError, ImportError, ValueError) as error:
        raise _refusal(f"model: {error}") from None


def _ask(question: str) -> str | None:
    """The answer of whoever sits at the terminal; None when nobody does, since a script cannot know."""
    import sys

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    try:
        answer: str = typer.prompt(question, err=True, default="", show_default=False)
    except typer.Abort:
        return None  # what the rounds have found so far is still worth its transcript
    return answer or None


def _summary(done: Transcript) -> str:
    count = len(done.rounds)
    rounds = f"{count} round" if count == 1 else f"{count} rounds"
    return f"{done.outcome.replace('_', ' ')} after {rounds} with {done.model}, {done.seconds:.1f} s"


def _refusal(message: str) -> typer.Exit:
    typer.echo(message, err=True)
    return typer.Exit(2)
