"""One graded piece of a statement."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from app.core.reconcile.json_text import Json

Verdict = Literal["confirmed", "model_gap", "query_defect", "unresolved", "noted"]
GapKind = Literal["relationship", "filter", "metric", "scope", "description", "example"]

# The weakest part decides, and a noted fact never does: it is a number beside the grades, not one of them.
_STRENGTH: Final[dict[Verdict, int]] = {"query_defect": 0, "unresolved": 1, "model_gap": 2, "confirmed": 3}
VERDICTS: Final[tuple[Verdict, ...]] = ("confirmed", "model_gap", "query_defect", "unresolved", "noted")


@dataclass(frozen=True, slots=True)
class Part:
    """A part, its grade, and what the grade stands on.

    `kind` is the kind of gap, set on a `model_gap` and nowhere else; `depends_on` names the join parts a fan-out grade
    stands on; `evidence` is kept as JSON text, which makes the value hashable and safe from a caller's hand.
    """

    part: str
    verdict: Verdict
    kind: GapKind | None
    depends_on: tuple[str, ...]
    evidence_json: str
    note: str

    @property
    def evidence(self) -> dict[str, Json]:
        evidence: dict[str, Json] = json.loads(self.evidence_json)
        return evidence

    def to_json(self) -> dict[str, Json]:
        return {
            "part": self.part,
            "verdict": self.verdict,
            "kind": self.kind,
            "depends_on": list(self.depends_on),
            "evidence": self.evidence,
            "note": self.note,
        }


def grade(  # noqa: PLR0913 — a part's own fields, the last three by name
    part: str,
    verdict: Verdict,
    note: str,
    *,
    gap: GapKind | None = None,
    depends_on: Iterable[str] = (),
    evidence: Mapping[str, object] | None = None,
) -> Part:
    """A `Part`; `gap` is the kind it has where the verdict is a model gap.

    >>> grade("runs", "confirmed", "the statement ran", gap="scope").kind is None
    True
    """
    kind = gap if verdict == "model_gap" else None
    return Part(part, verdict, kind, tuple(depends_on), json.dumps(evidence or {}, sort_keys=True), note)


def weakest(parts: Iterable[Part]) -> Verdict:
    """The verdict of the weakest of `parts`; with no grade among them nothing was checked, which is `unresolved`.

    >>> weakest([grade("runs", "confirmed", ""), grade("join:a-b", "model_gap", "")])
    'model_gap'
    """
    graded: list[Verdict] = [p.verdict for p in parts if p.verdict != "noted"]
    return min(graded, key=_STRENGTH.__getitem__, default="unresolved")
