"""Whether two spellings name one table."""

from __future__ import annotations

from app.core.reconcile.fold import fold

_QUOTES = str.maketrans("", "", '"`[]')


def same_table(one: str, other: str) -> bool:
    """Whether the two names are one, folded for case and without quotes; a name without its schema is any schema's.

    >>> same_table("Orders", 'public."orders"'), same_table("hr.orders", "sales.orders")
    (True, False)
    """
    a, b = _parts(one), _parts(other)
    shared = min(len(a), len(b))
    return a[-shared:] == b[-shared:]


def table_name(name: str) -> str:
    """The table's own name, folded and without its schema: the same for any two names that `same_table` holds equal.

    >>> table_name('public."Orders"')
    'orders'
    """
    return _parts(name)[-1]


def _parts(name: str) -> list[str]:
    return fold(name.translate(_QUOTES)).split(".")
