"""One round of a consensus over HTTP: read, decided, answered; nothing is kept."""

from __future__ import annotations

from typing import Any

from app.core.consensus import SchemaRefused, compare, decide
from app.grading.graders import to_candidates
from app.grading.read_evidence import EvidenceRefused, read_round


def decide_round(body: bytes) -> dict[str, Any]:
    """The decision on a round, as JSON holds it. Raises `EvidenceRefused`.

    >>> decide_round(b'{"candidates": ["SELECT a FROM t", "SELECT t.a FROM t"]}')["outcome"]
    'consensus'
    """
    sent = read_round(body)
    try:
        comparison = compare(
            to_candidates(sent.candidates), dialect=sent.dialect, schema=sent.tables, ordered=sent.ordered
        )
    except SchemaRefused as refused:
        raise EvidenceRefused([("/schema", str(refused))]) from None
    try:
        decision = decide(
            comparison, round=sent.round, refinements=sent.refinements, context=sent.context, needed=sent.needed
        )
    except ValueError as refused:  # its messages are its own words
        raise EvidenceRefused([("/needed", str(refused))]) from None
    return decision.as_dict()
