"""The judge of a real run: the core's comparison and decision, told in the runner's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.consensus import Candidate, round_of
from app.runner.ruling import NextStep, Ruling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.core.consensus import SchemaInput
    from app.core.consensus.context_block import ContextBlock
    from app.runner.quorum import Answer
    from app.runner.ruling import Judge


def judge(*, dialect: str | None = None, schema: SchemaInput | None = None) -> Judge:
    """A judge that compares answers in `dialect` and by the keys of `schema`, as the core's `compare` takes them.

    An answer that failed is handed on without its SQL, with which nobody can agree.

    >>> from app.core.consensus.vault import assemble_context
    >>> from app.runner.quorum import Answer
    >>> same = [Answer("SELECT a FROM t", (), (), None, 0.1)] * 3
    >>> failed = [Answer("", (), (), "TimeoutError", 9.0)] * 2
    >>> judge()(same + failed, number=1, refinements=(), context=assemble_context({}, [])).outcome
    'disagreement'
    """

    def decided(answers: Sequence[Answer], *, number: int, refinements: Sequence[str], context: ContextBlock) -> Ruling:
        candidates = [Candidate("" if a.failure else a.sql, a.in_data_model, a.not_in_data_model) for a in answers]
        decision = round_of(
            candidates, round=number, refinements=refinements, dialect=dialect, schema=schema, context=context
        )
        steps = tuple(
            NextStep(dispute.step.kind, dispute.step.text, dispute.step.names, settled=dispute.context_settles)
            for dispute in decision.disputes
        )
        return Ruling(decision.outcome, decision.record(), steps, decision.as_dict())

    return decided
