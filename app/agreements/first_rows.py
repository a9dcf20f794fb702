"""What was recorded first of some decisions: asked before anything costly is done for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from app.platform.json_response import to_json

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from app.platform.service import Service


class Decision(NamedTuple):
    """What names a decision."""

    decision_id: str
    project_id: UUID | None


_FIRST_CHECKS = """
    SELECT a.decision_id, a.project_id, a.guardrail_checks
    FROM jsonb_to_recordset(%s::jsonb) AS r(decision_id text, project_id uuid)
    JOIN agreements a
        ON a.decision_id = r.decision_id AND a.project_id IS NOT DISTINCT FROM r.project_id AND a.revision = 1
"""


async def first_checks(decisions: Collection[Decision], service: Service) -> dict[Decision, Any]:
    """The guardrail_checks of those of `decisions` that are recorded already, None where the row has none."""
    sent = to_json([decision._asdict() for decision in decisions]).decode()
    async with service.database.transaction() as connection:
        found = await connection.exec_driver_sql(_FIRST_CHECKS, (sent,))
        return {Decision(row.decision_id, row.project_id): row.guardrail_checks for row in found}
