"""What one running service is made of; every route finds it on the app."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.platform.database import Database
    from app.platform.schema_state import SchemaState
    from app.platform.telemetry import Telemetry
    from app.platform.tokens import TokenFile
    from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Service:
    """The parts."""

    settings: Settings
    database: Database
    schema: SchemaState
    tokens: TokenFile
    telemetry: Telemetry
