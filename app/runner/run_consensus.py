"""The loop: five answers, a decision, what it asks for, and five new answers; three times at most."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from app.core.consensus.restricted import restricted_columns_read
from app.core.consensus.vault import assemble_context
from app.runner.prompt import write_prompt
from app.runner.quorum import ask_quorum
from app.runner.refine import Brief, refine, settle
from app.runner.transcript import Round, Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic_ai.models import Model

    from app.core.consensus.context_block import ContextBlock
    from app.runner.quorum import Answer
    from app.runner.ruling import Judge, Ruling
    from app.runner.transcript import Outcome

MAX_ROUNDS = 3
"""After the third, more of the same is guessing: the question or the vault needs a person."""

QUORUM = 5

RESTRICTED = "RestrictedColumn"
"""The failure of an answer that reads what nobody may; its SQL stays in the transcript."""

_HANDS_OFF = (
    "An answer read a restricted column. Do not select one, filter on one or join by one, and take no whole rows (`*`) "
    "of a table that has one."
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is the same in every round.

    `judge` decides over a round. `ask` puts a question to a person, and gives None when there is nobody to answer.
    `timeout` is in seconds, a call. `dialect` None leaves the SQL's dialect to the context.
    """

    question: str
    vault: Mapping[str, str]
    model: Model
    judge: Judge
    ask: Callable[[str], str | None]
    timeout: float = 120.0
    dialect: str | None = None


async def run_consensus(plan: Plan, names: Sequence[str]) -> Transcript:
    """Runs rounds until the answers agree, a person is needed who is not there, or the rounds are over.

    Arguments: `names`, the notes of the vault that the question is about.
    Raises `VaultError`. What goes wrong with the model is in the transcript, and is never agreement.
    """
    began, started_at = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
    rounds: list[Round] = []
    brief, ending = Brief(tuple(names)), None
    while ending is None:
        context = assemble_context(plan.vault, brief.names)
        played, ruling = await _play(plan, brief, context, len(rounds) + 1)
        rounds.append(played)
        if ruling is not None and ruling.outcome == "disagreement" and played.round < MAX_ROUNDS:
            brief = refine(brief, ruling.steps, vault=plan.vault, context=context, ask=plan.ask)
            if any(answer.failure == RESTRICTED for answer in played.answers):
                brief = settle(brief, _HANDS_OFF)
        ending = _ending(played, ruling, brief)
    outcome, output = ending
    return Transcript(
        model=f"{plan.model.system}:{plan.model.model_name}",
        started_at=started_at,
        question_sha256=hashlib.sha256(plan.question.encode()).hexdigest(),
        outcome=outcome,
        output=output,
        questions=brief.open_questions,
        rounds=tuple(rounds),
        seconds=time.monotonic() - began,
    )


async def _play(plan: Plan, brief: Brief, context: ContextBlock, number: int) -> tuple[Round, Ruling | None]:
    """One full quorum and the ruling on it; None when not one call came back, and there is nothing to rule on."""
    began = time.monotonic()
    prompt = write_prompt(plan.question, context, brief.refinements, dialect=plan.dialect)
    came = await ask_quorum(plan.model, prompt, size=QUORUM, timeout=plan.timeout)
    answers = tuple(_barred(answer, context, plan.dialect) for answer in came)
    ruling = None
    if any(answer.failure in (None, RESTRICTED) for answer in answers):
        ruling = plan.judge(answers, number=number, refinements=brief.refinements, context=context)
    decision = ruling.record if ruling else None
    took = time.monotonic() - began
    return Round(number, brief.names, brief.refinements, prompt.digest, answers, decision, took), ruling


def _barred(answer: Answer, context: ContextBlock, dialect: str | None) -> Answer:
    """The answer, failed when it reads a restricted column: five that all do would otherwise be a consensus."""
    if answer.failure is None and restricted_columns_read(answer.sql, context.views, dialect=dialect):
        return replace(answer, failure=RESTRICTED)
    return answer


def _ending(played: Round, ruling: Ruling | None, brief: Brief) -> tuple[Outcome, Mapping[str, Any]] | None:
    """How the run ends after this round; None when another is to be played."""
    if ruling is None:
        return "not_run", _no_statement(brief, f"Not one call to the model came back: {_failures(played.answers)}.")
    match ruling.outcome:
        case "consensus":
            return "consensus", ruling.output
        case "unresolved":
            return "unresolved", _with_failures(ruling.output, played)
        case "disagreement":
            if brief.open_questions:
                return "question", _no_statement(brief, " ".join(brief.open_questions))
            return None if played.round < MAX_ROUNDS else ("unresolved", _with_failures(ruling.output, played))


def _with_failures(output: Mapping[str, Any], played: Round) -> Mapping[str, Any]:
    """The record, with what the decision cannot know: why a candidate came without a statement."""
    failures = _failures(played.answers)
    if not failures:
        return output
    told = f"{output.get('unresolved') or ''}\nFailed in the last round: {failures}."
    return {**output, "unresolved": told.strip()}


def _failures(answers: Sequence[Answer]) -> str:
    return ", ".join(sorted({answer.failure for answer in answers if answer.failure}))


def _no_statement(brief: Brief, why: str) -> dict[str, Any]:
    """The output record of a run that ended without a decision of its own."""
    return {
        "sql": None,
        "in_data_model": [],
        "not_in_data_model": [],
        "consensus_round": None,
        "refinements": list(brief.refinements),
        "unresolved": why,
    }
