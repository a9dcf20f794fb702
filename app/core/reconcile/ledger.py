"""Grade a statement part by part, from measurements already made."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.core.reconcile.aggregate_parts import aggregate_parts
from app.core.reconcile.claim_parts import claim_parts, question_fit_parts
from app.core.reconcile.join_parts import join_parts
from app.core.reconcile.literal_parts import literal_parts
from app.core.reconcile.open_parts import open_parts
from app.core.reconcile.part import VERDICTS, Part, Verdict, weakest
from app.core.reconcile.receipt_parts import receipt_parts
from app.core.reconcile.row_evidence import RowEvidence, row_evidence
from app.core.reconcile.row_files import RowFiles
from app.core.reconcile.run_parts import run_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from app.core.reconcile.json_text import Json

FAMILIES: Final[tuple[Callable[[RowEvidence], list[Part]], ...]] = (
    run_parts,
    question_fit_parts,
    open_parts,
    join_parts,
    aggregate_parts,
    receipt_parts,
    literal_parts,
    claim_parts,
)


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every part of a statement with its grade, in the order of `FAMILIES`; `verdict` is the weakest."""

    parts: tuple[Part, ...]
    verdict: Verdict

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many parts have each verdict, also where it is none."""
        found = Counter(part.verdict for part in self.parts)
        return {verdict: found[verdict] for verdict in VERDICTS}

    def to_json(self) -> dict[str, Json]:
        counts: dict[str, Json] = {verdict: count for verdict, count in self.counts.items()}  # noqa: C416 — the key type widens
        return {"rows": [dict(p.to_json()) for p in self.parts], "verdict": self.verdict, "counts": counts}


def ledger(files: Mapping[str, str | bytes], *, with_claims: bool = False) -> Ledger:
    """The grade of every part of one statement, from the files its checks left behind.

    Total: whatever `files` holds, the answer is a ledger, and what could not be read in it is an open part.

    >>> graded = ledger({"run.json": '{"status": "ok"}'})
    >>> graded.verdict, [part.part for part in graded.parts]
    ('unresolved', ['runs', 'scope', 'fan_out:*', 'receipt:*', 'join:*', 'literal:*'])

    Arguments: `files`, the content of each file under its plain name, text or UTF-8 bytes; other names are not looked
    at. `with_claims`, whether claims.json, the comparison with a second statement, is part of what is asked.
    Rule: the table of parts in docs/reconcile.md.
    """
    row = row_evidence(RowFiles(files), with_claims=with_claims)
    parts = tuple(part for family in FAMILIES for part in family(row))
    return Ledger(parts, weakest(parts))
