"""How many rows an inner join leaves behind: a fact the run states, never a grade."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from app.core.reconcile.part import Part, grade
from app.core.reconcile.probe import probe
from app.core.reconcile.shapes import DroppedRowsProbe

if TYPE_CHECKING:
    from app.core.reconcile.row_files import RowFiles
    from app.core.reconcile.shapes import Join


def dropped_rows(join: Join, label: str, files: RowFiles) -> list[Part]:
    """The `dropped_rows` part of a join; none where nobody planned to count. Both numbers are read by their headers,
    and a probe that did not answer claims nothing."""
    if join.dropped_rows_probe is None:
        return []
    try:
        plan = DroppedRowsProbe.model_validate(join.dropped_rows_probe)
    except ValidationError:
        plan = DroppedRowsProbe()
    left, right = plan.left or join.endpoints[0], plan.right or join.endpoints[1]
    evidence: dict[str, object] = {"left": left, "right": right}
    uncounted = ""
    if plan.unexamined:
        evidence["unexamined"] = plan.unexamined
        uncounted = f"; the other side was not counted: {_words(plan.unexamined)}"
    answer = probe(files, f"{join.id}.dropped_rows.csv", "total", "dropped")
    total, dropped = answer.count("total"), answer.count("dropped")
    part = f"dropped_rows:{label}"
    if total is None or dropped is None or dropped > total:
        note = f"the rows a join leaves behind were not counted, and nothing is claimed of them{uncounted}"
        return [grade(part, "noted", note, evidence=evidence)]
    evidence |= {"total": total, "dropped": dropped}
    note = f"{dropped} of {total} {left} rows have no {right} partner" if dropped else f"no {left} row is dropped"
    return [grade(part, "noted", note + uncounted, evidence=evidence)]


def _words(value: object) -> str:
    return value if isinstance(value, str) else ", ".join(map(str, value)) if isinstance(value, list) else "one side"
