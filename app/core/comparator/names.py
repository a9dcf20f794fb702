"""Column names, folded: what is left when spelling and qualifier are taken off."""

from __future__ import annotations

import re

_QUALIFIED = re.compile(r"""(?:[\w$"`\[\] ]+\.)+(?P<name>[\w$"`\[\] ]+)""")


def folded_name(name: str) -> str:
    """`name` without its qualifier, its quotes and its case; an expression is left whole.

    >>> folded_name('t."Order_ID"'), folded_name("sum(t.x)")
    ('order_id', 'sum(t.x)')
    """
    qualified = _QUALIFIED.fullmatch(name)
    bare = qualified["name"] if qualified else name
    return bare.strip(' "`[]').casefold()
