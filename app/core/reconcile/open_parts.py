"""The parts nobody could grade, because the file that would say so is missing or cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.reconcile.part import Part, grade

if TYPE_CHECKING:
    from app.core.reconcile.row_evidence import RowEvidence


def open_parts(row: RowEvidence) -> list[Part]:
    """One part for each of the four files that an `ok` run has to leave behind and that is not there to be read, and
    one for each that says of itself that it did not read the statement, or not the whole of it. Without them a crashed
    check would look like a clean one."""
    found: list[Part] = []
    expected = (
        ("fan_out:*", row.prepare),
        ("receipt:*", row.receipt),
        ("join:*", row.probes),
        ("literal:*", row.judge),
    )
    for part, loaded in expected:
        if row.ran and loaded.problem is not None:
            found.append(_open(part, loaded.file, loaded.problem))
    if row.prepare.value is not None and not row.prepare.value.checked:
        found.append(_open("fan_out:*", row.prepare.file, "says that the pre-flight did not check the statement"))
    if row.receipt.value is not None:
        sections = (row.receipt.value.tables, row.receipt.value.columns)
        if any(section.undetermined is not None for section in sections):
            found.append(_open("receipt:*", row.receipt.file, "could not make out a section of the statement"))
    if row.probes.value is not None and row.probes.value.unreadable is not None:
        found.append(_open("join:*", row.probes.file, "could not read the statement"))
    if row.probes.value is not None and row.probes.value.unlisted:
        found.append(_open("join:*", row.probes.file, "lists fewer joins than the statement writes"))
    if row.judge.value is not None and row.judge.value.unreadable is not None:
        found.append(_open("literal:*", row.judge.file, "could not read the statement"))
    return found


def _open(part: str, file: str, problem: str) -> Part:
    note = f"{file} {problem}, so this was not checked"
    return grade(part, "unresolved", note, evidence={"file": file, "problem": problem})
