"""How strictly the author of an answer key asked for it to be met."""

from __future__ import annotations

from enum import StrEnum


class MatchLevel(StrEnum):
    """The five levels, each described in docs/comparator.md.

    >>> MatchLevel("values") is MatchLevel.VALUES
    True
    """

    EXACT = "exact"
    VALUES = "values"
    SHAPE = "shape"
    BOUNDED = "bounded"
    NONEMPTY = "nonempty"
