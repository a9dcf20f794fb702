"""`agreement-log reconcile …`: the verbs of `app.core.reconcile`, over files.

Exit codes: 0; 2 for a file or an argument that cannot be read; 4 for an input with nothing usable in it, printed all
the same.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 — typer reads the annotations when it runs
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from app.core.reconcile import Report

app = typer.Typer(help="Read what a person brings, and grade a SQL statement part by part.", no_args_is_help=True)

UNREADABLE = 2
NOTHING_USABLE = 4

Dialect = Annotated[str, typer.Option(help="The SQL dialect statements are written in, by its sqlglot name.")]
Tolerance = Annotated[str, typer.Option(help="A share: 0.01, or 1%.")]


@contextmanager
def _refusals(*also: type[ValueError]) -> Iterator[None]:
    from app.core.reconcile import CannotOpen, CannotRead, NoRows

    refusals: tuple[type[ValueError], ...] = (CannotOpen, CannotRead, *also)
    try:
        yield
    except NoRows as nothing:
        typer.echo(f"reconcile: {nothing}", err=True)
        raise typer.Exit(NOTHING_USABLE) from None
    except refusals as refused:
        typer.echo(f"reconcile: {refused}", err=True)
        raise typer.Exit(UNREADABLE) from None


def _known(dialect: str) -> str:
    from app.core.reconcile import CannotRead
    from app.core.sql import SqlRefused, parse_sql

    try:
        parse_sql("SELECT 1", dialect)
    except SqlRefused:
        raise CannotRead(f"the SQL dialect {dialect!r} is not known") from None
    return dialect


def _nothing_usable() -> typer.Exit:
    typer.echo("reconcile: nothing usable in the input", err=True)
    return typer.Exit(NOTHING_USABLE)


@app.command()
def parse(
    csv: Annotated[Path, typer.Option(help="A table of labels and numbers.")], dialect: Dialect = "postgres"
) -> None:
    """Read a table of labels and numbers."""
    from app.core.reconcile import json_text
    from app.core.reconcile import parse as parse_file
    from app.core.reconcile.intake import MAX_FILE_BYTES
    from app.core.reconcile.read_input import read_input

    with _refusals():
        numbers = parse_file(csv.name, read_input(csv, MAX_FILE_BYTES), dialect=_known(dialect))
    typer.echo(json_text(numbers.to_json()))
    for skipped in numbers.skipped:
        typer.echo(f"skipped: {skipped.file}, line {skipped.line}: {skipped.reason}", err=True)
    if not any(row.expected_value is not None for row in numbers.rows):
        raise _nothing_usable()


@app.command()
def diff(
    expected: Annotated[str, typer.Option(help="The number expected, as it was printed.")],
    actual: Annotated[str, typer.Option(help="The number observed.")],
    tolerance: Tolerance = "0.01",
) -> None:
    """Compare two numbers."""
    from app.core.reconcile import diff as difference
    from app.core.reconcile import json_text

    with _refusals(ValueError):
        typer.echo(json_text(difference(expected, actual, tolerance=tolerance).to_json()))


@app.command()
def band(value: Annotated[str, typer.Option(help="The number observed.")], tolerance: Tolerance = "0.01") -> None:
    """Bounds around a number, for `compare --match bounded`."""
    from app.core.reconcile import band as bounds
    from app.core.reconcile import json_text

    with _refusals(ValueError):
        typer.echo(json_text(bounds(value, tolerance=tolerance).to_json()))


@app.command()
def intake(
    file: Annotated[list[Path], typer.Option(help="A file the person gave; repeat for more.")],
    source: Annotated[str | None, typer.Option(help="The person's own words for where this came from.")] = None,
    dialect: Dialect = "postgres",
) -> None:
    """Read questions, numbers and statements from any file into rows."""
    from app.core.reconcile import intake as read
    from app.core.reconcile import json_text
    from app.core.reconcile.intake import MAX_FILE_BYTES
    from app.core.reconcile.read_input import read_input

    with _refusals():
        # One at a time: what is read of a file is small beside the file.
        contents = ((path.name, read_input(path, MAX_FILE_BYTES)) for path in file)
        found = read(contents, source=source, dialect=_known(dialect))
    typer.echo(json_text(found.to_json()))
    if not found.rows:
        raise _nothing_usable()


@app.command()
def ledger(
    row_dir: Annotated[Path, typer.Option(help="The directory of one row.")],
    with_claims: Annotated[bool, typer.Option("--with-claims", help="Grade claims.json too.")] = False,
) -> None:
    """Grade every part of one statement; also written as ledger.json beside the inputs."""
    from app.core.reconcile import CannotOpen, RowDirectory, json_text
    from app.core.reconcile import ledger as graded
    from app.core.reconcile.write_files import write_files

    with _refusals():
        if not row_dir.is_dir():
            raise CannotOpen(f"{row_dir}: there is no such directory")
        text = json_text(graded(RowDirectory(row_dir), with_claims=with_claims).to_json())
        write_files(row_dir, {"ledger.json": text + "\n"})
    typer.echo(text)


@app.command()
def findings(run_dir: Annotated[Path, typer.Option(help="The directory of a run.")]) -> None:
    """Fold a run into findings.json, query_defects.json and ledger.json beside its rows.jsonl."""
    from app.core.reconcile import findings as fold_findings
    from app.core.reconcile import json_text, run_directory
    from app.core.reconcile.write_files import write_files

    with _refusals():
        rows = run_directory(run_dir)
        found = fold_findings(rows).to_json()
        ledgers = {str(row.number): dict(row.ledger.to_json()) for row in rows if row.ledger}
        files = {
            "findings.json": json_text({"findings": found["findings"]}),
            "query_defects.json": json_text(found["query_defects"]),
            "ledger.json": json_text(dict(ledgers)),
        }
        write_files(run_dir, {name: text + "\n" for name, text in files.items()})
    typer.echo(json_text({**found, "ledger": dict(ledgers)}))


@app.command()
def report(
    run_dir: Annotated[Path, typer.Option(help="The directory of a run.")],
    html: Annotated[bool, typer.Option("--html", help="Print one self-contained page instead.")] = False,
) -> None:
    """Print a run for people: rows, verdicts, what is open, findings."""
    from app.core.reconcile import report as told
    from app.core.reconcile import report_html, run_directory

    with _refusals():
        summary = told(run_directory(run_dir))
    if html:
        typer.echo(report_html(summary).encode())
    else:
        _print(summary)


def _print(summary: Report) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from app.core.reconcile.report_html import visible

    def show(title: str, heads: tuple[str, ...], lines: Sequence[tuple[str, ...]]) -> None:
        table = Table(title=title, title_justify="left", show_lines=True)
        for head in heads:
            table.add_column(head, overflow="fold")
        for line in lines:
            # Text, never markup: a label of `[red]` is a label, and an escape code in one must not reach the terminal.
            table.add_row(*(Text(visible(cell)) for cell in line))
        console.print(table if lines else Text(f"{title}: none"))

    console = Console()
    counts = ", ".join(f"{count} {status}" for status, count in summary.statuses)
    console.print(Text(f"{len(summary.rows)} rows: {counts}"))
    rows = [
        (str(r.number), r.name, r.status, r.verdict or "no statement", "\n".join(f"{p}: {n}" for p, n in r.open_parts))
        for r in summary.rows
    ]
    show("Rows", ("row", "name", "status", "statement", "could not be checked"), rows)
    found = [
        (f.key, f.kind, ", ".join(dict.fromkeys(str(s.row.number) for s in f.evidence)), f.evidence[0].note)
        for f in summary.findings
    ]
    show("Findings", ("key", "kind", "rows", "what was measured"), found)
    defects = [(str(defect.row), defect.part, defect.note) for defect in summary.query_defects]
    show("Query defects", ("row", "part", "why"), defects)
