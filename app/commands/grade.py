"""`agreement-log grade`: what evidence comes to, here or, with `--record`, in the log."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - Typer reads the annotation when it runs
from typing import Annotated, Any

import typer

from app.commands.settings import fail

EXIT_FAILED, EXIT_UNREADABLE = 1, 2


def grade(
    evidence: Annotated[
        Path,
        typer.Option(
            help="JSON: a list of evidence, or `{evidence, checks, proposal}`; - reads standard input.", allow_dash=True
        ),
    ],
    record: Annotated[
        Path | None,
        typer.Option(help="JSON: the row to record it in (decision_id, lane, …), through the API; scope record."),
    ] = None,
    digest: Annotated[
        bool, typer.Option("--digest", help="Print the digest that a row graded from this evidence holds, no more.")
    ] = False,
    url: Annotated[str | None, typer.Option("--url", help="Address of the service; default AGREEMENT_LOG_URL.")] = None,
) -> None:
    """Grade evidence and print the verdict as JSON. Exit code 0: pass; 1: fail; 2: not readable; 3: no service."""
    from app.platform.json_response import to_json

    if digest and record is not None:
        fail("--digest records nothing: leave --record out", EXIT_UNREADABLE)
    body = _body(evidence)
    if digest:
        typer.echo(_graded(body).document.evidence_digest)
        return
    answer = _graded(body).to_answer() if record is None else _recorded(body, record, url)
    typer.echo(to_json(answer).decode())
    raise typer.Exit(0 if answer["guardrail_verdict"] == "pass" else EXIT_FAILED)


def _read(path: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as failure:
        fail(f"{path}: {failure.strerror}", EXIT_UNREADABLE)


def _body(path: Path) -> bytes:
    """The body that the API would be sent: a bare list becomes its `evidence`."""
    text = _read(path)
    return b'{"evidence":' + text + b"}" if text.lstrip().startswith(b"[") else text


def _graded(body: bytes) -> Any:
    from app.grading.grade_text import grade_text
    from app.platform.problems import Problem

    try:
        return grade_text(body)
    except Problem as problem:
        lines = [str(problem.detail), *(f"  {error.pointer}: {error.detail}" for error in problem.errors)]
        fail("\n".join(lines), EXIT_UNREADABLE)


def _recorded(body: bytes, record: Path, url: str | None) -> Any:
    from app.commands.client import call, open_client
    from app.platform.json_response import to_json
    from app.platform.strict_json import read_json

    try:
        row, given = read_json(_read(record)), read_json(body)
        sent = to_json({**row, **given})
    except (ValueError, TypeError, RecursionError):
        fail("the record and the evidence must each be a JSON object", EXIT_UNREADABLE)
    with open_client(url) as client:
        return call(
            client, "POST", "/v1/agreements", content=sent, headers={"Content-Type": "application/json"}, timeout=300
        )
