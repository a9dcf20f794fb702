"""One comparison: what was given, in form, and what is known of it before a cell is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.core.comparator.item_score import ItemScore
from app.core.comparator.match_level import MatchLevel

if TYPE_CHECKING:
    from app.core.comparator.bounds import Bounds
    from app.core.comparator.ordering import Ordering
    from app.core.comparator.result_set import ResultSet


@dataclass(frozen=True, slots=True)
class Case:
    """`golden` and `generated` are well formed, save that `bounded` and `nonempty` do not look at `golden`."""

    golden: ResultSet
    generated: ResultSet
    level: MatchLevel
    bounds: Bounds | None
    ordering: Ordering

    @property
    def has_key(self) -> bool:
        """Whether the level holds the generated result to the golden one."""
        match self.level:
            case MatchLevel.EXACT | MatchLevel.VALUES | MatchLevel.SHAPE:
                return True
            case MatchLevel.BOUNDED | MatchLevel.NONEMPTY:
                return False

    def scored(self, accuracy: float, reason: str) -> ItemScore:
        """A score of this case, its columns not yet told."""
        return self._score(ItemScore("scored", accuracy, reason))

    def unscored(self, reason: str) -> ItemScore:
        """There was nothing to judge."""
        return self._score(ItemScore("unscored", None, reason))

    def error(self, reason: str) -> ItemScore:
        """Judging was not possible."""
        return self._score(ItemScore("error", None, reason))

    def _score(self, score: ItemScore) -> ItemScore:
        by_rows = self.level in (MatchLevel.EXACT, MatchLevel.VALUES)
        return replace(
            score,
            golden_row_count=len(self.golden.rows) if self.has_key else None,
            generated_row_count=len(self.generated.rows),
            order_sensitive=self.ordering.sensitive,
            notes=self.ordering.notes if by_rows else (),
        )
