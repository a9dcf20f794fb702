"""Read one number as a dashboard prints it: exactly, or not at all."""

from __future__ import annotations

import re
from decimal import Context, Decimal, InvalidOperation
from math import isfinite
from typing import Final

# The ambient decimal context is process-global and anyone may have narrowed it; every calculation on a person's
# number uses this one. MAX_DIGITS digits times MAX_DIGITS digits still fit, so nothing here is ever rounded.
EXACT: Final = Context(prec=400)
MAX_DIGITS: Final = 100
MAX_EXPONENT: Final = 30

_MINUS = str.maketrans({"\u2212": "-", "\ufe63": "-", "\uff0d": "-"})
# Marks that only steer how text is laid out; exports of right-to-left dashboards wrap numbers in them.
_INVISIBLE = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
# The spaces that group digits in print. An ordinary space does not: `12 345` may be two numbers.
_GROUP_SPACE = "[\u00a0\u2007\u2008\u2009\u202f]"
# At most two: several unbounded runs side by side would let a long blank text take minutes to be refused.
_SPACE = "[ \t\r\n\u00a0\u2000-\u200a\u202f\u205f\u3000]{0,2}"

_SCALES: Final = {
    "K": 3, "k": 3, "thousand": 3,
    "M": 6, "m": 6, "mn": 6, "million": 6, "millions": 6,
    "B": 9, "b": 9, "bn": 9, "billion": 9, "billions": 9,
    "T": 12, "tn": 12, "trillion": 12, "trillions": 12,
    "L": 5, "lac": 5, "lacs": 5, "lakh": 5, "lakhs": 5,
    "cr": 7, "crore": 7, "crores": 7,
}  # fmt: skip
_SCALE = r"(?:thousand|millions?|billions?|trillions?|lakhs?|lacs?|crores?|mn|bn|tn|cr)(?![a-z])"

# ISO 4217, the codes in circulation. An unknown word beside a number makes it text: `12 apples`.
_CODE_LIST = (
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF "
    "CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG "
    "HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA "
    "MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD "
    "RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX "
    "USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL"
)
_CODES = _CODE_LIST.split()
# Without the cent sign, which divides by a hundred.
_SIGNS = "[$\u00a3-\u00a5\u20a0-\u20cf\u0e3f\ufdfc]"
_CURRENCY = rf"(?:(?:[A-Z]{{1,3}})?{_SIGNS}|(?i:Rs)\.?|(?i:{'|'.join(_CODES)})(?![A-Za-z]))"
_BODY = rf"(?P<body>(?:[0-9](?:[0-9.,]|{_GROUP_SPACE}(?=[0-9]))*|\.[0-9]+))(?P<exponent>[eE][+-]?[0-9]{{1,2}})?"
_NUMBER = re.compile(
    rf"(?P<sign>[-+])?{_SPACE}(?P<before>{_CURRENCY})?{_SPACE}(?P<inner_sign>[-+])?(?P<open>\()?{_SPACE}"
    rf"(?P<within>{_CURRENCY})?{_SPACE}{_BODY}"
    rf"{_SPACE}(?P<scale>(?i:{_SCALE})|[KkMmBbTL](?![A-Za-z]))?{_SPACE}(?P<percent>%)?"
    rf"(?P<close>\))?(?P<outer_scale>[KkMmBbTL](?![A-Za-z])|(?i:cr|bn)(?![A-Za-z]))?(?P<outer_percent>%)?"
    rf"{_SPACE}(?P<after>{_CURRENCY})?"
)
_WESTERN = re.compile(r"(?:[0-9]+|[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3})(?:\.[0-9]+)?")
_EUROPEAN = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+,[0-9]+|[1-9][0-9]{0,2}(?:\.[0-9]{3}){2,}")
_SPACED = re.compile(rf"[1-9][0-9]{{0,2}}(?:{_GROUP_SPACE}[0-9]{{3}})+(?:[.,][0-9]+)?")


def parse_value(value: object) -> Decimal | None:
    """The number `value` spells, exactly, or None where it is not one.

    A number or a text with one number and what dashboards dress it in: a currency sign or code, western or Indian
    grouping, K, M, bn, lakh, crore, a percent sign (a fraction), accounting parentheses (negative). A text with
    anything more, or grouped wrongly, is None: never a guess.

    >>> parse_value("₹2.16Cr") == 21_600_000
    True
    >>> parse_value("(42%)")
    Decimal('-0.42')
    >>> parse_value("1,2,3") is None
    True

    Of two readings the western one is taken (`1,234` is 1234 and `1.234` is a little over one); a comma is a decimal
    point only where no other reading stands: `1.234,56`, or after digits grouped by no-break spaces.
    Arguments: `value`, text, int, float (through its shortest repr) or Decimal; a bool is never a number.
    Rule: the numbers paragraph of docs/reconcile.md.
    """
    match value:
        case bool() | None:
            return None
        case int() if abs(value) < 10**MAX_DIGITS:
            return Decimal(value)
        case float() if isfinite(value):
            return _bounded(Decimal(repr(value)))
        case Decimal() if value.is_finite():
            return _bounded(value)
        case str():
            return _read(value)
        case _:
            return None


def _bounded(number: Decimal) -> Decimal | None:
    _, digits, exponent = number.as_tuple()
    fits = len(digits) <= MAX_DIGITS and isinstance(exponent, int) and abs(exponent) <= MAX_DIGITS * 3
    return (number or Decimal(0)) if fits else None  # minus zero is zero


def _read(text: str) -> Decimal | None:
    if len(text) > 2 * MAX_DIGITS:
        return None
    found = _NUMBER.fullmatch(_INVISIBLE.sub("", text).strip().translate(_MINUS))
    if found is None:
        return None
    signs = [s for s in (found["sign"], found["inner_sign"]) if s]
    bracketed = found["open"] is not None
    scales = [s for s in (found["scale"], found["outer_scale"]) if s]
    percents = [s for s in (found["percent"], found["outer_percent"]) if s]
    currencies = [c for c in (found["before"], found["within"], found["after"]) if c]
    if (
        bracketed != (found["close"] is not None)
        or (not bracketed and (found["outer_scale"] or found["outer_percent"]))
        or len(signs) + bracketed > 1  # `--5` and `(-5)` say minus twice, and mean nobody knows what
        or len(scales) + len(percents) > 1
        or (percents and currencies)
        or (found["before"] and found["within"])
    ):
        return None
    digits = _ungroup(found["body"])
    if digits is None:
        return None
    try:
        number = EXACT.create_decimal(digits + (found["exponent"] or ""))
    except InvalidOperation:
        return None
    exponent = abs(int((found["exponent"] or "e0")[1:]))
    if exponent > MAX_EXPONENT:
        return None
    shift = -2 if percents else _SCALES.get(scales[0], _SCALES.get(scales[0].lower(), 0)) if scales else 0
    number = number.scaleb(shift, EXACT)
    return _bounded(-number if bracketed or "-" in signs else number)


def _ungroup(body: str) -> str | None:
    if body.startswith(".") or _WESTERN.fullmatch(body):
        return body.replace(",", "")
    if _EUROPEAN.fullmatch(body):
        return body.replace(".", "").replace(",", ".")
    if _SPACED.fullmatch(body):
        return re.sub(_GROUP_SPACE, "", body).replace(",", ".")
    return None
