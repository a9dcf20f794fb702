"""The digest that proves what was graded, to whoever holds the evidence. The form is documented in docs/grading.md."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import date, datetime, time, timedelta
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any
from uuid import UUID

# An explicit context: the ambient one may round. This one takes any number that the reader lets through.
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_PLAIN_DIGITS = 4000
"""Whole numbers up to here are written out; the reader makes an `int` of no longer one."""


def evidence_digest(evidence: Any) -> str:
    """SHA-256 of the canonical form of `evidence`, in hexadecimal.

    Arguments: `evidence`, as `read_tagged_json` reads it. Two spellings of the same values have one digest: white
    space, the order of an object's keys, `1.50` or `1.5` or `{"$decimal": "1.5"}` make no difference.

    >>> from app.core.tagged_json import read_tagged_json
    >>> one = evidence_digest(read_tagged_json('[{"kind": "number", "expected": 1.50, "actual": 2}]'))
    >>> one == evidence_digest(read_tagged_json('[{"actual":2.0,"expected":{"$decimal":"1.5"},"kind":"number"}]'))
    True
    """
    return hashlib.sha256(canonical_form(evidence)).hexdigest()


def canonical_form(evidence: Any) -> bytes:
    """The text that is digested.

    >>> canonical_form({"b": [Decimal("1.50"), Decimal("2.0"), None], "a": date(2026, 1, 2)})
    b'{"a":{"$date":"2026-01-02"},"b":[{"$decimal":"1.5"},2,null]}'
    """
    return json.dumps(evidence, default=_spelled, sort_keys=True, separators=(",", ":"), check_circular=False).encode()


def _spelled(value: Any) -> Any:
    """What JSON cannot spell, as the tag that spells it."""
    match value:
        case Decimal():
            return _spelled_number(value)
        case datetime():  # before date, which it is one of
            return {"$datetime": value.isoformat()}
        case date():
            return {"$date": value.isoformat()}
        case time():
            return {"$time": value.isoformat()}
        case timedelta():
            return {"$timedelta_s": Decimal(value // timedelta(microseconds=1)).scaleb(-6, _EXACT)}
        case UUID():
            return {"$uuid": str(value)}
        case bytes():
            return {"$bytes": base64.b64encode(value).decode()}
    raise TypeError(f"a {type(value).__name__} is not read from JSON")


def _spelled_number(value: Decimal) -> Any:
    if not value.is_finite():
        return {"$decimal": str(value)}
    if not value:
        return 0  # minus zero too
    number = value.normalize(_EXACT)
    exponent = number.as_tuple().exponent
    if isinstance(exponent, int) and exponent >= 0 and number.adjusted() < _PLAIN_DIGITS:
        return int(number)
    return {"$decimal": str(number)}
