"""Do two result sets say the same thing? Judged in code, at the strictness the author of the answer key asked for."""

from app.core.comparator.bounds import Bounds
from app.core.comparator.compare_result_sets import compare_result_sets
from app.core.comparator.item_score import ItemScore
from app.core.comparator.match_level import MatchLevel
from app.core.comparator.result_set import ResultSet

__all__ = ["Bounds", "ItemScore", "MatchLevel", "ResultSet", "compare_result_sets"]
