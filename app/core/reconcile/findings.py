"""Fold the ledgers of a run into what is missing in the semantic model, and what is wrong in the statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.core.reconcile.claim_parts import CLAIM_PARTS
from app.core.reconcile.finding_key import finding_key
from app.core.reconcile.fold import fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from app.core.reconcile.json_text import Json
    from app.core.reconcile.part import GapKind, Part
    from app.core.reconcile.run_row import RunRow


@dataclass(frozen=True, slots=True)
class Sighting:
    """One row that showed a gap; `part` is None where it was the statement as a whole."""

    row: RunRow
    part: Part | None
    note: str

    def to_json(self) -> dict[str, Json]:
        record = self.row.record
        return {
            "row": self.row.number,
            "part": self.part.part if self.part else None,
            "question": record.get("question"),
            "statement": record.get("statement"),
            "expected": record.get("expected"),
            "note": self.note,
            "ledger": self.part.evidence if self.part else {},
            "claims": record.get("claims"),
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where the semantic model is missing something or has it wrong, with every row that showed it."""

    key: str
    kind: GapKind
    evidence: tuple[Sighting, ...]

    def to_json(self) -> dict[str, Json]:
        return {"key": self.key, "kind": self.kind, "evidence": [dict(s.to_json()) for s in self.evidence]}


@dataclass(frozen=True, slots=True)
class QueryDefect:
    """One part of a person's statement that the data proves wrong."""

    row: int
    part: str
    note: str

    def to_json(self) -> dict[str, Json]:
        return {"row": self.row, "part": self.part, "note": self.note}


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings by key; defects apart from them, so that nothing is ever proposed from a part the data proved wrong."""

    findings: tuple[Finding, ...]
    query_defects: tuple[QueryDefect, ...]

    def to_json(self) -> dict[str, Json]:
        return {
            "findings": [dict(finding.to_json()) for finding in self.findings],
            "query_defects": [dict(defect.to_json()) for defect in self.query_defects],
        }


def findings(rows: Sequence[RunRow]) -> Findings:
    """The findings and defects of a run.

    >>> from app.core.reconcile.ledger import ledger
    >>> from app.core.reconcile.run_row import RunRow
    >>> refused = ledger({"run.json": '{"status": "refused", "rule": "table_scope"}'})
    >>> [finding.key for finding in findings([RunRow(1, {}, refused), RunRow(2, {}, refused)]).findings]
    ['scope:table_scope']

    Arguments: `rows` of the run, in any order. Rule: docs/reconcile.md, "Findings".
    """
    ordered = sorted(rows, key=lambda row: row.number)
    seen: dict[str, tuple[GapKind, list[Sighting]]] = {}
    for row in ordered:
        for key, kind, sighting in _sightings(row):
            seen.setdefault(key, (kind, []))[1].append(sighting)
    defects = [
        QueryDefect(row.number, part.part, part.note)
        for row in ordered
        for part in (row.ledger.parts if row.ledger else ())
        if part.verdict == "query_defect"
    ]
    found = (Finding(key, kind, tuple(sightings)) for key, (kind, sightings) in sorted(seen.items()))
    return Findings(tuple(found), tuple(sorted(defects, key=lambda d: (d.row, d.part))))


def _sightings(row: RunRow) -> Iterator[tuple[str, GapKind, Sighting]]:
    for part in row.ledger.parts if row.ledger else ():
        if part.verdict == "model_gap" and part.kind is not None:
            yield finding_key(part), part.kind, Sighting(row, part, part.note)
    if row.status == "mismatch" and _held(row):
        name = row.text("question") or row.text("label") or row.text("statement") or f"row {row.number}"
        note = "the statement held on every part, and the answer differed from it"
        yield f"example:{fold(name)}", "example", Sighting(row, None, note)


def _held(row: RunRow) -> bool:
    """Whether the statement held on every part of its own. The parts that compare it with another statement are what
    the example is about, and no bar to it; a statement that was never graded did not hold."""
    own = [p for p in (row.ledger.parts if row.ledger else ()) if p.part not in CLAIM_PARTS and p.verdict != "noted"]
    return bool(own) and all(part.verdict == "confirmed" for part in own)
