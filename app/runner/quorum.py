"""Asking one model the same thing five times at once."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field
from pydantic_ai import Agent

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from app.runner.prompt import Prompt


class Statement(BaseModel):
    """What a model hands back; the library asks it again when it hands back something else."""

    sql: str = Field(description="The statement, complete and ready to run.")
    in_data_model: list[str] = Field(description="Names of the context's notes that were used.")
    not_in_data_model: list[str] = Field(description="Tables and columns used that no note describes.")


@dataclass(frozen=True, slots=True)
class Answer:
    """One of the five. `failure` names what went wrong, None when nothing did; `sql` is empty when none came back.

    An answer that failed stays one of the five, as a candidate that agrees with nobody: left out, three of three
    would look like all.
    """

    sql: str
    in_data_model: tuple[str, ...]
    not_in_data_model: tuple[str, ...]
    failure: str | None
    seconds: float


async def ask_quorum(model: Model, prompt: Prompt, *, size: int = 5, timeout: float = 120.0) -> tuple[Answer, ...]:
    """`size` answers to `prompt`, asked for at once, each with `timeout` seconds; in the order they were asked.

    Raises nothing for a call that fails: it is an `Answer` with a `failure`. A failure holds the exception's type
    and not its message, which may quote an address or a key.
    """
    agent = Agent(model, output_type=Statement, instructions=prompt.instructions)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_ask(agent, prompt.text, timeout)) for _ in range(size)]
    return tuple(task.result() for task in tasks)


async def _ask(agent: Agent[None, Statement], text: str, timeout: float) -> Answer:
    began = time.monotonic()
    try:
        async with asyncio.timeout(timeout):
            said = (await agent.run(text)).output
    except Exception as error:  # noqa: BLE001  # whatever a provider raises is one failed candidate, not a failed round
        return Answer("", (), (), type(error).__name__, time.monotonic() - began)
    return Answer(said.sql, tuple(said.in_data_model), tuple(said.not_in_data_model), None, time.monotonic() - began)
