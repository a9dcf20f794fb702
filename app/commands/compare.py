"""`agreement-log compare`: score one generated result, or a file of many."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path  # noqa: TC003  (typer reads the annotations when it runs)
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from app.core.comparator import Bounds, ItemScore


PASSED, FAILED, UNREADABLE = 0, 1, 2


class _Match(StrEnum):
    """The levels again: importing the comparator to name them would cost every `--help` half a second."""

    EXACT = "exact"
    VALUES = "values"
    SHAPE = "shape"
    BOUNDED = "bounded"
    NONEMPTY = "nonempty"


def compare(
    *,
    golden: Annotated[Path | None, typer.Option(help="The answer key: a CSV, JSON or Parquet file.")] = None,
    generated: Annotated[Path | None, typer.Option(help="The result to score: CSV, JSON or Parquet.")] = None,
    golden_sql: Annotated[Path | None, typer.Option(help="The statement behind the answer key, in a file.")] = None,
    match: Annotated[_Match, typer.Option(help="How strictly.")] = _Match.EXACT,
    dialect: Annotated[str | None, typer.Option(help="The SQL dialect, by its sqlglot name.")] = None,
    min_rows: Annotated[int | None, typer.Option(help="For --match bounded.")] = None,
    max_rows: Annotated[int | None, typer.Option(help="For --match bounded.")] = None,
    min_value: Annotated[str | None, typer.Option(help="For --match bounded: of a single numeric cell.")] = None,
    max_value: Annotated[str | None, typer.Option(help="For --match bounded: of a single numeric cell.")] = None,
    cases: Annotated[Path | None, typer.Option(help="Many cases, one JSON object a line; `-` is the input.")] = None,
) -> None:
    """Do two result sets give the same answer?

    Prints the score as JSON. Exits with 0 when it passes, 1 when it does not, 2 when an input cannot be read or judged.
    With --cases, prints one score a line and exits with the worst of them.
    """
    if cases is not None:
        if golden or generated or golden_sql or match is not _Match.EXACT or dialect:
            raise typer.BadParameter("--cases takes no other option: each line says its own")
        raise typer.Exit(_compare_cases(cases))
    if generated is None or (golden is None and match not in (_Match.BOUNDED, _Match.NONEMPTY)):
        raise typer.BadParameter("give --golden and --generated, or --cases")
    limits = {"min_rows": min_rows, "max_rows": max_rows, "min_value": min_value, "max_value": max_value}
    raise typer.Exit(
        _compare_files(
            golden=golden,
            generated=generated,
            golden_sql=golden_sql,
            match=str(match),
            dialect=dialect,
            limits=limits,
        )
    )


def _compare_files(
    *,
    golden: Path | None,
    generated: Path,
    golden_sql: Path | None,
    match: str,
    dialect: str | None,
    limits: dict[str, Any],
) -> int:
    from app.commands.result_files import ResultFileRefused, read_result_file
    from app.core.comparator import ResultSet, compare_result_sets

    try:
        key = ResultSet([], []) if golden is None else read_result_file(golden)
        result = read_result_file(generated)
        sql = None if golden_sql is None else _read_sql(golden_sql)
        bounds = _bounds(limits)
    except ResultFileRefused as refused:
        typer.echo(f"agreement-log compare: {refused}", err=True)
        return UNREADABLE
    score = compare_result_sets(key, result, match=match, golden_sql=sql, bounds=bounds, dialect=dialect)
    typer.echo(_spelled(score, indent=2))
    return _exit_code(score)


def _compare_cases(path: Path) -> int:
    worst = PASSED
    try:
        with _opened(path) as lines, _progress(lines) as advance:
            for number, line in enumerate(lines, start=1):
                advance(len(line))
                if not line.strip():
                    continue
                output, code = _score_line(line, number)
                worst = max(worst, code)
                print(output, flush=True)
    except BrokenPipeError:  # the reader of the scores has seen enough; nothing may be written at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as failure:
        typer.echo(f"agreement-log compare: {path}: {failure.strerror}", err=True)
        return UNREADABLE
    return worst


def _score_line(line: bytes, number: int) -> tuple[str, int]:
    """One line of output, and what it would exit with. A bad line is one error among the scores, and on stderr."""
    from app.commands.comparison_case import CaseRefused, read_case
    from app.core.comparator import ItemScore, compare_result_sets

    try:
        case = read_case(line)
    except CaseRefused as refused:
        typer.echo(f"agreement-log compare: line {number}: {refused}", err=True)
        score = ItemScore("error", None, f"line {number} could not be read: {refused}")
        return _spelled(score, case_id=refused.case_id), UNREADABLE
    score = compare_result_sets(
        case.golden,
        case.generated,
        match=case.match,
        golden_sql=case.golden_sql,
        bounds=case.bounds,
        dialect=case.dialect,
    )
    return _spelled(score, case_id=case.case_id), _exit_code(score)


def _bounds(limits: dict[str, Any]) -> Bounds | None:
    from decimal import Decimal, InvalidOperation

    from app.commands.result_files import ResultFileRefused
    from app.core.comparator import Bounds

    given = {name: limit for name, limit in limits.items() if limit is not None}
    if not given:
        return None
    try:
        numbers: dict[str, Any] = {n: Decimal(edge) if isinstance(edge, str) else edge for n, edge in given.items()}
        return Bounds(**numbers)
    except InvalidOperation:
        raise ResultFileRefused("the band is refused: an edge is not a number") from None
    except ValueError as refused:
        raise ResultFileRefused(f"the band is refused: {refused}") from None


def _read_sql(path: Path) -> str:
    from app.commands.result_files import ResultFileRefused

    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as failure:
        raise ResultFileRefused(f"{path}: {failure.strerror}") from None
    except UnicodeDecodeError:
        raise ResultFileRefused(f"{path}: not UTF-8") from None


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    with path.open("rb") as lines:
        yield lines


@contextmanager
def _progress(lines: IO[bytes]) -> Iterator[Callable[[int], object]]:
    """Progress by bytes, on stderr, where a person is watching it and the scores go elsewhere."""
    if not sys.stderr.isatty() or sys.stdout.isatty() or not lines.seekable():
        yield lambda _count: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("comparing", total=os.fstat(lines.fileno()).st_size)
        yield lambda count: progress.advance(task, count)


def _exit_code(score: ItemScore) -> int:
    if score.status == "error":
        return UNREADABLE
    return PASSED if score.passed else FAILED


def _spelled(score: ItemScore, *, case_id: Any = None, indent: int | None = None) -> str:
    import json
    from dataclasses import asdict

    fields = asdict(score) | {"passed": score.passed}
    return json.dumps(fields if indent else {"id": case_id, **fields}, indent=indent)
