"""Everything a ledger reads of one row, loaded once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.core.reconcile.graded_joins import GradedJoin, graded_joins
from app.core.reconcile.shapes import Claims, JoinProbes, Judge, Prepare, QuestionFit, Receipt, RunRecord

if TYPE_CHECKING:
    from app.core.reconcile.row_files import Loaded, RowFiles


@dataclass(frozen=True, slots=True)
class RowEvidence:
    """The files of a row in their shapes, and its joins graded. `fit` and `claims` are None where nobody asked."""

    run: Loaded[RunRecord]
    prepare: Loaded[Prepare]
    receipt: Loaded[Receipt]
    probes: Loaded[JoinProbes]
    judge: Loaded[Judge]
    fit: Loaded[QuestionFit] | None
    claims: Loaded[Claims] | None
    joins: tuple[GradedJoin, ...]

    @property
    def ran(self) -> bool:
        return self.run.value is not None and self.run.value.ran


def row_evidence(files: RowFiles, *, with_claims: bool) -> RowEvidence:
    """The evidence in `files`.

    >>> from app.core.reconcile.row_files import RowFiles
    >>> row_evidence(RowFiles({"run.json": '{"status": "ok"}'}), with_claims=False).ran
    True
    """
    probes = files.load("join-probes.json", JoinProbes)
    fit = files.load("question_fit.json", QuestionFit)
    return RowEvidence(
        run=files.load("run.json", RunRecord),
        prepare=files.load("statement-prepare.json", Prepare),
        receipt=files.load("statement-receipt.json", Receipt),
        probes=probes,
        judge=files.load("filter-values.judge.json", Judge),
        fit=None if fit.problem == "was not written" else fit,
        claims=files.load("claims.json", Claims) if with_claims else None,
        joins=graded_joins(probes.value, files),
    )
