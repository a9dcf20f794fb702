"""The name of a gap, the same from whichever statement it is seen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from app.core.reconcile.fold import fold

if TYPE_CHECKING:
    from app.core.reconcile.part import Part

# Text in quotes is passed over; what stands in front of a column, `o.` or `public.orders.`, is an alias's.
_QUALIFIER = re.compile(r"""('(?:[^']|'')*')|(?<![\w$."'])(?:(?:[^\W\d][\w$]*|"[^"]*")\s*\.\s*)+(?=[^\W\d]|")""")


def finding_key(part: Part) -> str:
    """The key of the finding that a `model_gap` part belongs to.

    Case and white space are folded, a pair of tables is sorted, a filter loses the alias its statement happened to use,
    and the kind of gap leads, so that one gap seen twice is one key and two kinds never share one.

    >>> from app.core.reconcile.part import grade
    >>> gap = grade("default_filter:orders:o.status  != 'void'", "model_gap", "", gap="filter",
    ...             evidence={"table": "Orders", "expr": "o.status  != 'void'"})
    >>> finding_key(gap)
    "filter:orders:status != 'void'"

    Arguments: `part`, as `ledger` makes them. Rule: docs/reconcile.md, "Findings".
    """
    evidence: dict[str, Any] = part.evidence
    match part.kind:
        case "relationship":
            return "relationship:" + "-".join(sorted(fold(table) for table in evidence["tables"]))
        case "filter":
            return f"filter:{fold(evidence['table'])}:{_without_aliases(fold(evidence['expr']))}"
        case "metric":
            return f"metric:{fold(part.part.removeprefix('metric:'))}"
        case "scope":
            return f"scope:{fold(evidence['rule'])}"
        case "description" if part.part.startswith("values_declared:"):
            # The column's missing list and a stale entry of that list are mended in one place.
            return f"description:{fold(part.part.removeprefix('values_declared:'))}"
        case "description":
            return "description:" + fold(f"{evidence['table']}.{evidence['column']}")
        case "example" | None:
            raise ValueError("only a part that is a model gap belongs to a finding")


def _without_aliases(expression: str) -> str:
    return _QUALIFIER.sub(lambda found: found.group(1) or "", expression)
