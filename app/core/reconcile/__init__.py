"""Read what a person brings, and grade a SQL statement part by part. See docs/reconcile.md."""

from app.core.reconcile.band import Band, band
from app.core.reconcile.diff import Difference, diff
from app.core.reconcile.evidence_row import EvidenceRow, Skipped
from app.core.reconcile.finding_key import finding_key
from app.core.reconcile.findings import Finding, Findings, QueryDefect, findings
from app.core.reconcile.intake import CannotRead, Intake, intake
from app.core.reconcile.json_text import json_text
from app.core.reconcile.ledger import Ledger, ledger
from app.core.reconcile.parse import LabelledNumber, LabelledNumbers, parse
from app.core.reconcile.parse_value import parse_value
from app.core.reconcile.part import Part, Verdict
from app.core.reconcile.read_input import CannotOpen
from app.core.reconcile.report import Report, report
from app.core.reconcile.report_html import report_html
from app.core.reconcile.row_directory import RowDirectory
from app.core.reconcile.row_status import RowStatus, row_status
from app.core.reconcile.run_directory import NoRows, run_directory
from app.core.reconcile.run_row import RunRow
from app.core.reconcile.statement import Statement, statement

__all__ = [
    "Band",
    "CannotOpen",
    "CannotRead",
    "Difference",
    "EvidenceRow",
    "Finding",
    "Findings",
    "Intake",
    "LabelledNumber",
    "LabelledNumbers",
    "Ledger",
    "NoRows",
    "Part",
    "QueryDefect",
    "Report",
    "RowDirectory",
    "RowStatus",
    "RunRow",
    "Skipped",
    "Statement",
    "Verdict",
    "band",
    "diff",
    "finding_key",
    "findings",
    "intake",
    "json_text",
    "ledger",
    "parse",
    "parse_value",
    "report",
    "report_html",
    "row_status",
    "run_directory",
    "statement",
]
