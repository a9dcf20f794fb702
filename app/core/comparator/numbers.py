"""Numbers as decimals that compare, hash and print alike whenever they are the same number.

Every operation names its context: the ambient one is process-global, may be changed by anyone, and rounds.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
_NINE = Context(prec=9, rounding=ROUND_HALF_EVEN, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
_ZERO = Decimal(0)


def normal_number(number: Decimal, *, round_tail: bool = False) -> Decimal:
    """`number` (never a NaN) in its one normal form: no trailing zeros, no minus zero, every digit kept.

    `round_tail` rounds a number that is not whole to nine significant digits. That is a bucket and not a
    tolerance: a multiset needs an equivalence relation, and "within epsilon" is not one. The price is that two
    numbers on either side of a bucket's edge differ however close they are.

    >>> normal_number(Decimal("-0.00")), normal_number(Decimal("1.500")), normal_number(Decimal("1E+9"))
    (Decimal('0'), Decimal('1.5'), Decimal('1E+9'))
    >>> normal_number(Decimal("0.30000000000000004"), round_tail=True)
    Decimal('0.3')
    """
    # Never expanded to plain digits: 1E+1000000 is four characters, and a gigabyte of zeros would follow it.
    result = number.normalize(_EXACT)
    if round_tail and not is_whole(result):
        result = _NINE.plus(result).normalize(_EXACT)
    return result or _ZERO


def is_whole(number: Decimal) -> bool:
    """Whether a number in normal form has no fraction; an infinity counts as whole, having nothing to round."""
    exponent = number.as_tuple().exponent
    return not isinstance(exponent, int) or exponent >= 0
