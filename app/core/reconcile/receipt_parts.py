"""Whether the statement keeps the declared filters, and whether its outputs are the declared metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.reconcile.part import Part, grade
from app.core.reconcile.row_files import Malformed, entries
from app.core.reconcile.same_table import same_table
from app.core.reconcile.shapes import Aggregate, ReceiptFilter, ReceiptOutput, ReceiptTable

if TYPE_CHECKING:
    from app.core.reconcile.row_evidence import RowEvidence
    from app.core.reconcile.shapes import Prepare, Receipt


def receipt_parts(row: RowEvidence) -> list[Part]:
    """`default_filter` of each filter the semantic model puts on a table the statement reads, and `metric` of each
    output that is an aggregate; none where statement-receipt.json cannot be used, which is an open part of its own."""
    receipt = row.receipt.value
    if receipt is None:
        return []
    tables = entries(ReceiptTable, receipt.tables.items)
    parts = [part for table in tables for part in _filters(table)]
    read = [table for table in tables if isinstance(table, ReceiptTable)]
    return [*parts, *_metrics(receipt, read, row.prepare.value)]


def _open(part: str, what: str) -> Part:
    note = f"statement-receipt.json holds {what} in another shape, so it was not checked"
    evidence = {"file": "statement-receipt.json", "problem": f"holds {what} of another shape"}
    return grade(part, "unresolved", note, evidence=evidence)


def _filters(table: ReceiptTable | Malformed) -> list[Part]:
    if isinstance(table, Malformed):
        ref = table.text("ref")
        return [_open(f"default_filter:{ref}:*" if ref else "receipt:*", "a table")]
    found: list[Part] = []
    for declared in entries(ReceiptFilter, table.filters or []):
        if isinstance(declared, Malformed):
            found.append(_open(f"default_filter:{table.ref}:{declared.text('expr') or '*'}", "a filter"))
            continue
        part = f"default_filter:{table.ref}:{declared.expr}"
        evidence = {"table": table.ref, "alias": table.alias, "expr": declared.expr, "status": declared.status}
        match declared.status:
            case "applied":
                found.append(grade(part, "confirmed", "the statement keeps the declared filter", evidence=evidence))
            case "omitted":
                note = "the semantic model puts this filter on the table, and the statement does without"
                found.append(grade(part, "model_gap", note, gap="filter", evidence=evidence))
            case _:
                note = "whether the statement keeps the declared filter could not be told"
                found.append(grade(part, "unresolved", note, evidence=evidence))
    return found


def _metrics(receipt: Receipt, read: list[ReceiptTable], prepare: Prepare | None) -> list[Part]:
    found: list[Part] = []
    bare = _every_aggregate_is_bare_count(prepare)
    for raw in receipt.columns.items:
        if not isinstance(raw, dict) or not isinstance(raw.get("kind"), str):
            found.append(_open("receipt:*", "a column"))
        elif raw["kind"] == "output":
            (output,) = entries(ReceiptOutput, [raw])
            if isinstance(output, Malformed):
                name = output.text("column")
                found.append(_open(f"metric:{name}" if name else "receipt:*", "an output"))
            elif output.aggregate is not False:
                found.append(_metric(output, read, bare=bare))
    return found


def _metric(output: ReceiptOutput, read: list[ReceiptTable], *, bare: bool | None) -> Part:
    part = f"metric:{output.column}"
    match output.status:
        case "matched":
            return _matched(part, output, read)
        case "unmatched" if bare is True:
            return grade(part, "confirmed", "a bare count(*) matches no metric by design")
        case "unmatched" if bare is None:
            note = "no metric matches, and whether this is a bare count(*), which needs none, could not be told"
            return grade(part, "unresolved", note)
        case "unmatched":
            return grade(part, "model_gap", "the semantic model declares no such metric", gap="metric")
        case _:
            return grade(part, "unresolved", "whether the output is a declared metric could not be told")


def _matched(part: str, output: ReceiptOutput, read: list[ReceiptTable]) -> Part:
    """A match is by shape: `sum(amount)` fits a metric over any table that has an amount. Where the metric's own tables
    are all others than the ones read, it is somebody else's."""
    sources = output.source_tables or []
    names = [table.qname or table.ref for table in read]  # the qualified name, or `orders` would be any schema's
    if sources and not any(same_table(source, name) for source in sources for name in names):
        note = f"the metric is defined on {', '.join(sources)}, which this statement does not read"
        tables = [table.ref for table in read]
        evidence = {"metric": output.name, "source_tables": sources, "tables_read": tables}
        return grade(part, "unresolved", note, evidence=evidence)
    return grade(part, "confirmed", "the output is a declared metric", evidence={"metric": output.name})


def _every_aggregate_is_bare_count(prepare: Prepare | None) -> bool | None:
    """None where the aggregates could not be listed, and so the exemption can be neither given nor refused."""
    if prepare is None or not prepare.checked:
        return None
    aggregates = entries(Aggregate, prepare.aggregates)
    readable = [a for a in aggregates if isinstance(a, Aggregate)]
    if any("".join(a.aggregate.split()).lower() != "count(*)" for a in readable):
        return False
    return None if len(readable) < len(aggregates) else bool(readable)
