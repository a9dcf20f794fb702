"""From what a decision asks for to what the next round starts from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.core.consensus.note_keys import ViewKeys, note_name
from app.core.consensus.notes import read_notes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
    brief: Brief, steps: Sequence[NextStep], vault: Mapping[str, str], ask: Callable[[str], str | None]
) -> Brief:
    """The brief of the next round.

    Arguments: `steps`, in the order of the decision; a repeated one is taken once. `ask` puts a question to a person
    and gives the answer, None when there is nobody.

    >>> from app.runner.ruling import NextStep
    >>> refine(Brief(("orders",)), [NextStep("ask_user", "Gross or net?")], {}, lambda question: "net").refinements
    ('Asked: Gross or net? Answered: net',)
    """
    for step in dict.fromkeys(steps):
        match step.kind:
            case "ask_user":
                answer = (ask(step.text) or "").strip()
                if answer:
                    brief = _settle(brief, f"Asked: {step.text} Answered: {answer}")
                else:
                    brief = replace(brief, open_questions=(*brief.open_questions, step.text))
            case "state_grain":
                brief = _settle(brief, f"Grain: {step.text}")
            case "refine_context":
                brief = _fetch(brief, step, vault)
    return brief


def _fetch(brief: Brief, step: NextStep, vault: Mapping[str, str]) -> Brief:
    """Adds the notes that `step` names, by name or by table; the decision has read statements, which know tables.

    What the vault does not have is said, or the next five guess it again.
    """
    notes = read_notes(vault)
    tables = {note.keys.table.lower(): name for name, note in notes.items() if isinstance(note.keys, ViewKeys)}
    found: list[str] = []
    missing: list[str] = []
    for written in dict.fromkeys(step.names):
        name = note_name(written.strip().removeprefix("[[").removesuffix("]]"))
        known = name if name in notes else tables.get(written.strip().lower())
        if known is None:
            missing.append(written)
        elif known not in (*brief.names, *found):
            found.append(known)
    said = f"Context: {step.text}"
    if found:
        said += f" Added to the context: {', '.join(found)}."
    if missing:
        said += f" Not described anywhere: {', '.join(missing)}; what you need of it goes under not_in_data_model."
    return _settle(replace(brief, names=(*brief.names, *found)), said)


def _settle(brief: Brief, refinement: str) -> Brief:
    if refinement in brief.refinements:
        return brief
    return replace(brief, refinements=(*brief.refinements, refinement))
