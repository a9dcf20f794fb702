"""From what a decision asks for to what the next round starts from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.core.consensus.note_keys import FieldKeys, ViewKeys, note_name
from app.core.consensus.notes import read_notes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from app.core.consensus.context_block import ContextBlock
    from app.core.consensus.notes import Note
    from app.runner.ruling import NextStep


@dataclass(frozen=True, slots=True)
class Brief:
    """What a round starts from: the notes its context is made of, and what earlier rounds settled, oldest first.

    `open_questions` are those nobody answered; with one of them left, no further round can settle anything.
    """

    names: tuple[str, ...]
    refinements: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()


def refine(
    brief: Brief,
    steps: Sequence[NextStep],
    *,
    vault: Mapping[str, str],
    context: ContextBlock,
    ask: Callable[[str], str | None],
) -> Brief:
    """The brief of the next round.

    A step that the context settles is said again, plainly. One that needs more is answered from the vault; where the
    vault has no more to give, only a person can say, and it is put to them as a question.

    Arguments: `steps`, in the order of the decision; a repeated one is taken once. `context`, the block of the round
    that was played. `ask` puts a question to a person and gives the answer, None when there is nobody.

    >>> from app.core.consensus.vault import assemble_context
    >>> from app.runner.ruling import NextStep
    >>> step, block = NextStep("ask_user", "Gross or net?"), assemble_context({}, [])
    >>> refine(Brief(()), [step], vault={}, context=block, ask=lambda question: "net").refinements
    ('Asked: Gross or net? Answered: net',)
    """
    notes = read_notes(vault)
    there = context.names
    for step in dict.fromkeys(steps):
        if step.settled:
            brief = settle(brief, step.text)
            continue
        match step.kind:
            case "ask_user":
                brief = _question(brief, step.text, ask)
            case "refine_context" | "state_grain":
                found, missing = _lookup(step.names, notes)
                new = [name for name in found if name not in there]
                if step.names and not new and not missing:
                    brief = _question(brief, step.text, ask)
                else:
                    brief = settle(replace(brief, names=_union(brief.names, new)), _said(step.text, new, missing))
    return brief


def _question(brief: Brief, question: str, ask: Callable[[str], str | None]) -> Brief:
    answer = (ask(question) or "").strip()
    if answer:
        return settle(brief, f"Asked: {question} Answered: {answer}")
    return replace(brief, open_questions=_union(brief.open_questions, [question]))


def _lookup(names: Sequence[str], notes: Mapping[str, Note]) -> tuple[list[str], list[str]]:
    """The notes that `names` stand for, and the names that stand for none.

    A name is a note's or a table's, with its schema or without: a decision has read statements, which know tables. A
    view is fetched with all its fields.
    """
    found: list[str] = []
    missing: list[str] = []
    for written in dict.fromkeys(names):
        plain = note_name(written.strip().removeprefix("[[").removesuffix("]]"))
        named = [plain] if plain in notes else _views_of(written.strip().lower(), notes)
        if not named:
            missing.append(written)
        for name in named:
            fields = [n for n, note in notes.items() if isinstance(note.keys, FieldKeys) and note.keys.view == name]
            found += [n for n in (name, *fields) if n not in found]
    return found, missing


def _views_of(table: str, notes: Mapping[str, Note]) -> list[str]:
    tables = {name: note.keys.table.lower() for name, note in notes.items() if isinstance(note.keys, ViewKeys)}
    return [name for name, known in tables.items() if table in (known, known.rpartition(".")[2])]


def _said(text: str, new: Sequence[str], missing: Sequence[str]) -> str:
    """What the next five are told. What the vault does not have is said too, or they guess it again."""
    if new:
        text += f" Added to the context: {', '.join(new)}."
    if missing:
        text += f" Not described anywhere: {', '.join(missing)}; what you need of it goes under not_in_data_model."
    return text


def _union(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def settle(brief: Brief, refinement: str) -> Brief:
    """The brief with one more thing settled; one that is settled already is not said twice."""
    return replace(brief, refinements=_union(brief.refinements, [refinement]))
