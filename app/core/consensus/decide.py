"""From a comparison to a decision: consensus, or what stands in its way and what to do about it.

Never a vote, never a winner picked: a statement is given only when all candidates, or nearly all, mean the same.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from app.core.consensus.causes import Cause, Situation, Step, find_cause, tables_of
from app.core.consensus.compare import Candidate, Comparison, cleanest, compare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.core.consensus.described import Context
    from app.core.consensus.facts import Axis, Difference
    from app.core.consensus.schema import SchemaInput

ROUNDS = 3
Outcome = Literal["consensus", "disagreement", "unresolved"]


@dataclass(frozen=True)
class Variant:
    """One side of a dispute: the candidates of its class, and what they assume, in canonical SQL."""

    members: tuple[int, ...]
    assumption: str
    only: tuple[str, ...]


@dataclass(frozen=True)
class Dispute:
    """One difference between two classes. `settled_by` names what in the context decides it, None when nothing does."""

    axis: Axis
    variants: tuple[Variant, Variant]
    cause: Cause
    settled_by: str | None
    step: Step

    @property
    def context_settles(self) -> bool:
        return self.settled_by is not None


@dataclass(frozen=True)
class Decision:
    """What one round came to.

    `sql` is given with a consensus only. `next_round` and `next_refinements` are the state for the next full quorum;
    `next_round` is None when there is none to come. `unresolved` is the message for the user after the last round.
    """

    outcome: Outcome
    round: int
    sql: str | None
    in_data_model: tuple[str, ...]
    not_in_data_model: tuple[str, ...]
    classes: tuple[tuple[int, ...], ...]
    invalid: tuple[tuple[int, str], ...]
    disputes: tuple[Dispute, ...]
    notes: tuple[str, ...]
    refinements: tuple[str, ...]
    next_round: int | None
    next_refinements: tuple[str, ...]
    unresolved: str | None

    def record(self) -> dict[str, Any]:
        """The output record, as JSON holds it."""
        return {
            "sql": self.sql,
            "in_data_model": list(self.in_data_model),
            "not_in_data_model": list(self.not_in_data_model),
            "consensus_round": self.round if self.outcome == "consensus" else None,
            "refinements": list(self.refinements),
            "unresolved": self.unresolved,
        }

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON holds it."""
        return dataclasses.asdict(self) | {"record": self.record()}


def needed_of(count: int) -> int:
    """How many of `count` candidates must agree: all, less one for every five.

    >>> [needed_of(n) for n in (2, 3, 5, 10)]
    [2, 3, 4, 8]
    """
    return max(2, count - count // 5)


def round_of(  # a round takes all its state by keyword  # noqa: PLR0913  # a round takes all its state by keyword
    candidates: Sequence[Candidate | str],
    *,
    round: int = 1,  # the word of the protocol  # noqa: A002  # the word of the protocol
    refinements: Sequence[str] = (),
    dialect: str | None = None,
    schema: SchemaInput | None = None,
    context: Context | None = None,
    ordered: bool = False,
    needed: int | None = None,
) -> Decision:
    """One round of the protocol: compares the candidates and decides. All state comes in and goes out.

    Arguments: as for `compare` and `decide`. Raises `SchemaRefused`, and `ValueError` for a round or a number needed
    that is out of range.

    >>> round_of(["SELECT a FROM t WHERE b <> 1", "SELECT a FROM t WHERE b != 1"]).sql
    'SELECT a FROM t WHERE b <> 1'
    """
    comparison = compare(candidates, dialect=dialect, schema=schema, ordered=ordered)
    return decide(comparison, round=round, refinements=refinements, context=context, needed=needed)


def decide(
    comparison: Comparison,
    *,
    round: int,  # the word of the protocol  # noqa: A002  # the word of the protocol
    refinements: Sequence[str],
    context: Context | None = None,
    needed: int | None = None,
) -> Decision:
    """The decision of one round.

    Arguments: `round`, 1 to 3; `refinements`, what was added before this round; `context`, the block that the agents
    were given; `needed`, how many must agree, at least four fifths of all candidates, invalid ones counted too: None
    for `needed_of`.
    Raises `ValueError` for a `round` or a `needed` out of range.
    """
    count = len(comparison.candidates)
    enough = needed_of(count) if needed is None else needed
    if not 1 <= round <= ROUNDS:
        raise ValueError(f"a round is 1 to {ROUNDS}")
    if needed is not None and not (enough * 5 >= count * 4 and 2 <= enough <= max(2, count)):
        raise ValueError("at least four fifths of the candidates, and two, must agree")
    largest = comparison.classes[0] if comparison.classes else ()
    agreed = len(largest) >= enough
    disputes = () if len(comparison.classes) < 2 else _disputes(comparison, context)
    invalid = tuple((r.index, r.reason or "") for r in comparison.readings if r.status == "invalid")
    members = largest if agreed else ()
    chosen = cleanest(comparison.candidates, comparison.readings, members) if members else None
    last = round == ROUNDS
    steps = tuple(dict.fromkeys(d.step.text for d in disputes)) if not agreed else ()
    outcome: Outcome = "consensus" if agreed else "unresolved" if last else "disagreement"
    return Decision(
        outcome=outcome,
        round=round,
        sql=comparison.candidates[chosen].sql if chosen is not None else None,
        in_data_model=_union([comparison.candidates[i].in_data_model for i in members]),
        not_in_data_model=_union([comparison.candidates[i].not_in_data_model for i in members]),
        classes=comparison.classes,
        invalid=invalid,
        disputes=disputes,
        notes=comparison.notes,
        refinements=tuple(refinements),
        next_round=round + 1 if outcome == "disagreement" else None,
        next_refinements=tuple(dict.fromkeys([*refinements, *steps])),
        unresolved=_message(comparison, disputes, invalid, refinements) if outcome == "unresolved" else None,
    )


def _union(lists: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for items in lists for item in items))


def _disputes(comparison: Comparison, context: Context | None) -> tuple[Dispute, ...]:
    members = {i: c for c in comparison.classes for i in c}
    found = []
    for part in comparison.parts:
        tables = tables_of([*comparison.readings[part.left].facts, *comparison.readings[part.right].facts])
        for difference in part.differences:
            cause = find_cause(Situation(difference, tables, context))
            variants = (
                _variant(members[part.left], difference, difference.left),
                _variant(members[part.right], difference, difference.right),
            )
            found.append(Dispute(difference.axis, variants, cause.cause, cause.settled_by, cause.step))
    return tuple(found)


def _variant(members: tuple[int, ...], difference: Difference, only: tuple[str, ...]) -> Variant:
    axis = difference.axis.replace("_", " ")
    if difference.axis == "undetermined":
        return Variant(members, "it could not be proven to mean the same", only)
    return Variant(members, f"{axis}: {'; '.join(only)}" if only else f"{axis}: nothing besides what both have", only)


def _message(
    comparison: Comparison,
    disputes: Sequence[Dispute],
    invalid: Sequence[tuple[int, str]],
    refinements: Sequence[str],
) -> str:
    """What the disagreement is about, and what was tried, for the user."""
    lines = [f"No agreement after {ROUNDS} rounds of {len(comparison.candidates)} answers each."]
    if disputes:
        lines.append("The answers differ in:")
        lines += [f"- {line}" for line in dict.fromkeys(map(_line, disputes))]
    if invalid:
        lines.append(f"{len(invalid)} of them could not be used: {', '.join(sorted({r for _, r in invalid}))}.")
    lines.append("Tried: " + ("; ".join(refinements) if refinements else "nothing was added to the context") + ".")
    return "\n".join(lines)


def _line(dispute: Dispute) -> str:
    left, right = (" and ".join(v.only) or "nothing" for v in dispute.variants)
    return f"{dispute.axis.replace('_', ' ')}: {left} against {right} ({dispute.cause.replace('_', ' ')})"
