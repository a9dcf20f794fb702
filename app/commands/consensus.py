"""`agreement-log consensus …`: compare candidates or a stream of pairs, print a context, or run the agents."""

from __future__ import annotations

import json
import sys
from pathlib import Path  # noqa: TC003  # typer reads the annotations when a command runs
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.consensus_context import context
from app.commands.consensus_run import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.core.consensus import Candidate

app = typer.Typer(
    name="consensus",
    help="Do several SQL statements mean the same, and if not, where do they part?",
    no_args_is_help=True,
)

app.command()(context)
app.command()(run)

_REFUSED = 2


@app.callback()
def _root() -> None:
    pass


def _fail(message: str) -> typer.Exit:
    typer.echo(message, err=True)
    return typer.Exit(_REFUSED)


def _schema(path: Path | None) -> Any:
    if path is None:
        return None
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if path.suffix == ".json" else text


@app.command()
def compare(  # typer makes options of them
    candidates: Annotated[
        Path,
        typer.Option(
            help="A JSON list of candidates: {sql, in_data_model, not_in_data_model}, or strings of SQL.",
            exists=True,
            dir_okay=False,
        ),
    ],
    dialect: Annotated[str | None, typer.Option(help="The SQL dialect, as sqlglot names it.")] = None,
    schema: Annotated[
        Path | None,
        typer.Option(help="CREATE TABLE text, or .json with {table: {column: type}}.", exists=True, dir_okay=False),
    ] = None,
    round_number: Annotated[int, typer.Option("--round", help="Which round this is.", min=1, max=3)] = 1,
    refinement: Annotated[
        list[str] | None, typer.Option(help="What was added before this round; may be repeated.")
    ] = None,
    needed: Annotated[int | None, typer.Option(help="How many must agree; four fifths unless given.")] = None,
    ordered: Annotated[bool, typer.Option("--ordered", help="The order of rows counts.")] = False,
) -> None:
    """Decides one round, and prints the decision as JSON. Exit code 0: consensus; 1: none; 2: not readable."""
    from app.core.consensus import SchemaRefused, round_of

    try:
        given = [_candidate(item) for item in list.copy(json.loads(candidates.read_text(encoding="utf-8")))]
        known = _schema(schema)
    except (ValueError, KeyError, TypeError, AttributeError) as wrong:
        raise _fail(f"{candidates}: a JSON list of candidates is expected ({type(wrong).__name__})") from None
    try:
        decision = round_of(
            given,
            round=round_number,
            refinements=refinement or (),
            dialect=dialect,
            schema=known,
            ordered=ordered,
            needed=needed,
        )
    except (SchemaRefused, ValueError) as wrong:
        raise _fail(str(wrong)) from None
    typer.echo(json.dumps(decision.as_dict(), indent=2, ensure_ascii=False))
    raise typer.Exit(0 if decision.outcome == "consensus" else 1)


def _candidate(item: Any) -> Candidate:
    """A candidate from its JSON: an object, or its SQL alone. Raises `TypeError`, `KeyError` for anything else."""
    from app.core.consensus import Candidate

    fields = {"sql": item} if isinstance(item, str) else item
    used, missed = (tuple(map(str, fields.get(k) or ())) for k in ("in_data_model", "not_in_data_model"))
    return Candidate(str.__str__(fields["sql"]), used, missed)


@app.command()
def pairs(
    cases: Annotated[
        Path,
        typer.Option(
            help="JSON lines of {id, left, right, schema?, dialect?, ordered?}; - reads standard input.",
            allow_dash=True,
        ),
    ],
) -> None:
    """Compares pair after pair, and prints one JSON line for each: {id, equivalent, differences}.

    A line that is no pair gets `equivalent: null` and an `error`. Exit code 0 when every line was a pair, else 2.
    """
    readable = True
    for line in _lines(cases):
        if line.strip():
            answer = _pair(line)
            readable = readable and "error" not in answer
            typer.echo(json.dumps(answer, ensure_ascii=False))
    raise typer.Exit(0 if readable else _REFUSED)


def _lines(path: Path) -> Iterator[str]:
    if str(path) == "-":
        yield from sys.stdin
        return
    try:
        with path.open(encoding="utf-8") as file:
            yield from file
    except OSError as wrong:
        raise _fail(f"{path}: {wrong.strerror}") from None


def _pair(line: str) -> dict[str, Any]:
    import dataclasses

    from app.core.consensus import SchemaRefused
    from app.core.consensus import compare as compare_candidates

    case: Any = None
    try:
        case = json.loads(line)
        left, right = str.strip(case["left"]), str.strip(case["right"])  # raises for what is no text
        found = compare_candidates(
            [left, right], dialect=case.get("dialect"), schema=case.get("schema"), ordered=case.get("ordered") is True
        )
    except SchemaRefused as wrong:
        return {"id": case.get("id"), "equivalent": None, "differences": [], "error": str(wrong)}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {
            "id": case.get("id") if isinstance(case, dict) else None,
            "equivalent": None,
            "differences": [],
            "error": "not a pair: id, left, right",
        }
    invalid = [f"{('left', 'right')[r.index]}: {r.reason}" for r in found.readings if r.status == "invalid"]
    parted = [dataclasses.asdict(d) for p in found.parts for d in p.differences]
    answer: dict[str, Any] = {
        "id": case.get("id"),
        "equivalent": found.equivalent,
        "differences": parted or _order(found),
    }
    return answer | {"invalid": invalid} if invalid else answer


def _order(found: Any) -> list[dict[str, Any]]:
    """Two statements with the same rows may still order them differently: said, though it parts nobody."""
    if not found.equivalent:
        return []
    left, right = (dict(r.facts).get("ordering", ()) for r in found.readings)
    return [{"axis": "ordering", "left": left, "right": right}] if left != right else []
