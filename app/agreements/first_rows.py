"""What was recorded first of some decisions: asked before anything costly is done for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from app.agreements import store

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from app.platform.service import Service


class Decision(NamedTuple):
    """What names a decision."""

    decision_id: str
    project_id: UUID | None


async def first_checks(decisions: Collection[Decision], service: Service) -> dict[Decision, Any]:
    """The guardrail_checks of those of `decisions` that are recorded already, None where the row has none."""
    async with service.database.transaction() as connection:
        found = await store.first_checks(connection, [decision._asdict() for decision in decisions])
    return {Decision(row["decision_id"], row["project_id"]): row["guardrail_checks"] for row in found}
