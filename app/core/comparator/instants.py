"""Dates and timestamps as instants: the count of microseconds from 1970-01-01T00:00 UTC.

A count rather than text, for three reasons. Two spellings of an instant become one value without a formatter, a
midnight is its date by arithmetic, and an instant whose UTC year is 0 or 10000 has a count though no `datetime`.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from fractions import Fraction

_EPOCH = date(1970, 1, 1).toordinal()
_DAY_S = 86_400
_US = 1_000_000

# ASCII digits only and the whole text: `\d` takes other scripts' digits, `$` lets a newline through. More than nine
# digits of fraction is no timestamp that a database prints.
_ISO = re.compile(
    r"(?P<y>[0-9]{4})-(?P<mo>[0-9]{2})-(?P<d>[0-9]{2})"
    r"(?:[T ](?P<h>[0-9]{2}):(?P<mi>[0-9]{2})(?::(?P<s>[0-9]{2})(?:\.(?P<f>[0-9]{1,9}))?)?"
    r"(?:(?P<utc>Z)|(?P<sign>[+-])(?P<oh>[0-9]{2})(?::?(?P<om>[0-9]{2})(?::?(?P<os>[0-9]{2}))?)?)?)?"
)

Instant = int | Fraction
"""Microseconds; a `Fraction` only where text carries nanoseconds."""


def instant_of_date(day: date) -> int:
    """The midnight, UTC, at which `day` starts.

    >>> instant_of_date(date(1970, 1, 2))
    86400000000
    """
    return (day.toordinal() - _EPOCH) * _DAY_S * _US


def instant_of_datetime(moment: datetime) -> int:
    """The instant of `moment`; a naive one is taken as UTC.

    >>> instant_of_datetime(datetime.fromisoformat("0001-01-01T00:00:00+01:00"))
    -62135600400000000
    """
    seconds = (moment.hour * 60 + moment.minute) * 60 + moment.second
    local = instant_of_date(moment) + seconds * _US + moment.microsecond
    # Whole-number arithmetic, not `astimezone`: that overflows at both ends of the calendar.
    offset = moment.utcoffset()
    return local if offset is None else local - microseconds(offset)


def instant_of_text(text: str) -> Instant | None:
    """The instant that `text` spells as a strict ISO date or timestamp, or None where it is only text.

    >>> instant_of_text("1970-01-01 01:00:00+01"), instant_of_text("1970-02-30"), instant_of_text("19700101")
    (0, None, None)
    """
    found = _ISO.fullmatch(text)
    if found is None:
        return None
    part = {name: int(digits or 0) for name, digits in found.groupdict().items() if name not in ("f", "utc", "sign")}
    if max(part["h"], part["oh"]) > 23 or max(part["mi"], part["s"], part["om"], part["os"]) > 59:
        return None
    try:
        day = instant_of_date(date(part["y"], part["mo"], part["d"]))
    except ValueError:
        return None
    offset = (part["oh"] * 60 + part["om"]) * 60 + part["os"]
    seconds = (part["h"] * 60 + part["mi"]) * 60 + part["s"] - (-offset if found["sign"] == "-" else offset)
    fraction = Fraction(int((found["f"] or "0").ljust(9, "0")), 1000)
    exact = day + seconds * _US + fraction
    return int(exact) if exact.denominator == 1 else exact


def microseconds(span: timedelta) -> int:
    """The length of `span`, signed.

    >>> microseconds(timedelta(seconds=-60))
    -60000000
    """
    return (span.days * _DAY_S + span.seconds) * _US + span.microseconds
