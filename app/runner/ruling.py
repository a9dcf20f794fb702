"""What the runner needs to know of a decision, whoever takes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.core.consensus.context_block import ContextBlock
    from app.runner.quorum import Answer

StepKind = Literal["ask_user", "refine_context", "state_grain"]


@dataclass(frozen=True, slots=True)
class NextStep:
    """What would settle one difference.

    `text` is the question to the user, what is missing, or the statement of grain; `names` are notes or tables to
    fetch. `settled`: the context decides it, and `text` says how.
    """

    kind: StepKind
    text: str
    names: tuple[str, ...] = ()
    settled: bool = False


@dataclass(frozen=True, slots=True)
class Ruling:
    """A round's decision. `output` is the record a caller is handed; `record` the decision whole, as JSON has it."""

    outcome: Literal["consensus", "disagreement", "unresolved"]
    output: Mapping[str, Any]
    steps: tuple[NextStep, ...] = ()
    record: Mapping[str, Any] = field(default_factory=dict)


class Judge(Protocol):
    """Decides over the answers of a round."""

    def __call__(
        self, answers: Sequence[Answer], *, number: int, refinements: Sequence[str], context: ContextBlock
    ) -> Ruling:
        """The ruling on `answers`; `number` is the round's, from 1, and the answers were given with `refinements`."""
