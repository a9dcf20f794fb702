"""Do N statements mean the same, and if not, where do they part?

`round_of` is the whole of one round; `compare` and `decide` are its two halves. See `docs/consensus.md`.
"""

from app.core.consensus.causes import Cause, Step
from app.core.consensus.compare import Candidate, Comparison, Part, Reading, compare
from app.core.consensus.decide import Decision, Dispute, Variant, decide, needed_of, round_of
from app.core.consensus.described import Context
from app.core.consensus.facts import AXES, Axis, Difference
from app.core.consensus.schema import SchemaInput, SchemaRefused, read_schema

__all__ = [
    "AXES",
    "Axis",
    "Candidate",
    "Cause",
    "Comparison",
    "Context",
    "Decision",
    "Difference",
    "Dispute",
    "Part",
    "Reading",
    "SchemaInput",
    "SchemaRefused",
    "Step",
    "Variant",
    "compare",
    "decide",
    "needed_of",
    "read_schema",
    "round_of",
]
