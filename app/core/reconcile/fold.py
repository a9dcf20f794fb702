"""Case and white space taken out of a name, so that one name has one spelling."""

from __future__ import annotations


def fold(text: str) -> str:
    """`text` in one case, its runs of white space (of any script) one blank each, none at the ends.

    >>> fold("  Q3\\u00a0 Revenue ")
    'q3 revenue'
    """
    return " ".join(text.split()).casefold()
