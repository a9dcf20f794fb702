"""What was read beside the statement: its question, and the statement it is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.core.reconcile.part import Part, grade
from app.core.reconcile.row_files import Malformed, entries
from app.core.reconcile.shapes import Claim

if TYPE_CHECKING:
    from app.core.reconcile.row_evidence import RowEvidence
    from app.core.reconcile.shapes import Claims

CLAIM_PARTS: Final = frozenset({"predicates", "date_window"})
"""They compare the person's statement with another one, so they are no parts of its own."""

_NAMES: Final = {"predicates": ("filter_predicates", "predicates"), "date_window": ("date_window",)}
_SIDES = ("sql_file", "against_sql_file")


def question_fit_parts(row: RowEvidence) -> list[Part]:
    """`question_fit`, where somebody read the statement beside its question; it can withhold a row, never prove one."""
    if row.fit is None:
        return []
    if row.fit.value is None:
        evidence = {"file": row.fit.file, "problem": row.fit.problem}
        note = f"question_fit.json {row.fit.problem}, so the fit of statement and question is not known"
        return [grade("question_fit", "unresolved", note, evidence=evidence)]
    fit, reason = row.fit.value.fit, row.fit.value.reason
    evidence = {"fit": fit, "reason": reason}
    match fit:
        case "no_question":
            return []
        case "plausible":
            note = "by reading, the statement answers its question"
            return [grade("question_fit", "confirmed", note, evidence=evidence)]
        case "doubtful":
            note = f"by reading, the statement may not answer its question: {reason or 'no reason is given'}"
            return [grade("question_fit", "unresolved", note, evidence=evidence)]
        case _:
            return [grade("question_fit", "unresolved", "the fit is no word that is known", evidence=evidence)]


def claim_parts(row: RowEvidence) -> list[Part]:
    """`predicates` and `date_window`, where claims were asked for. A difference is named, never judged."""
    if row.claims is None:
        return []
    claims = row.claims.value
    if claims is None:
        note = f"claims.json {row.claims.problem}, so the two statements were not compared"
        evidence = {"file": row.claims.file, "problem": row.claims.problem}
        return [grade(part, "unresolved", note, evidence=evidence) for part in _NAMES]
    listed = entries(Claim, claims.claims)
    return [_claim(part, names, listed, claims) for part, names in _NAMES.items()]


def _claim(part: str, names: tuple[str, ...], listed: list[Claim | Malformed], claims: Claims) -> Part:
    found = [claim for claim in listed if (claim.text("name") if isinstance(claim, Malformed) else claim.name) in names]
    if len(found) != 1 or isinstance(found[0], Malformed):
        return grade(part, "unresolved", "claims.json does not hold this comparison once and readable")
    claim = found[0]
    evidence = {"generated": claim.generated, "golden": claim.golden}
    match claim.status:
        case "agrees":
            return grade(part, "confirmed", "the two statements agree", evidence=evidence)
        case "differs":
            return grade(part, "unresolved", "the two statements differ; both sides are named", evidence=evidence)
        case "unknown" if part == "date_window" and _no_window(claim, claims):
            note = "neither statement filters by a date, so there is nothing to disagree about"
            return grade(part, "confirmed", note, evidence=evidence)
        case "unknown":
            note = "the comparison could not be made"
            if part == "date_window" and claim.generated is None and claim.golden is None:
                note = "a window is written in a shape the reader does not fold, or a side could not be read"
            return grade(part, "unresolved", note, evidence=evidence)
        case _:
            return grade(part, "unresolved", "the comparison has no status that is known", evidence=evidence)


def _no_window(claim: Claim, claims: Claims) -> bool:
    """Null windows, both statements readable and no date filter counted in either: all three said, none left out."""
    readable, counted = claims.unreadable, claims.temporal_predicates
    return (
        claim.generated is None
        and claim.golden is None
        and isinstance(readable, dict)
        and isinstance(counted, dict)
        and all(side in readable and readable[side] is None for side in _SIDES)
        and all(type(counted.get(side)) is int and counted[side] == 0 for side in _SIDES)
    )
