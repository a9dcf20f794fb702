"""JSON in, read strictly: what a lenient reader would bend (NaN, a repeated key, a lost digit) is refused by name.

The standard library's reader is used for its hooks; what it lets through is found in one walk over the result, so
that each error has a pointer.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from app.platform.problems import FieldError, Invalid, MalformedJson, pointer_to

if TYPE_CHECKING:
    from collections.abc import Iterable

# C0 and C1 controls but tab, line feed and carriage return; DEL; surrogates that stand alone after decoding
UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
MAX_EXPONENT = 300
"""Numbers beyond 10^±300 are refused: a reader that uses floats would make them infinite or zero."""
MAX_DIGITS = 1000
_PLAIN_DIGITS = 18


@dataclass(frozen=True, slots=True)
class _Refused:
    """Stands in the tree for a value that cannot be taken, until the walk has found where it is."""

    detail: str


def _object(pairs: list[tuple[str, Any]]) -> Any:
    members = dict(pairs)
    if len(members) != len(pairs):
        return _Refused("a key is given twice in this object")
    return members


def _integer(text: str) -> Any:
    if len(text) <= _PLAIN_DIGITS:
        return int(text)
    return _number(text)


def _number(text: str) -> Any:
    if len(text) > MAX_DIGITS:
        return _Refused(f"a number has more than {MAX_DIGITS} digits")
    value = Decimal(text)
    if value and not -MAX_EXPONENT <= value.adjusted() <= MAX_EXPONENT:
        return _Refused("a number is too large or too small")
    return value


def _constant(_text: str) -> Any:
    return _Refused("NaN and Infinity are not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_number, parse_constant=_constant
)


def parse_json(body: bytes, *, max_depth: int) -> Any:
    """The value of a JSON text: int up to 18 digits, Decimal for every other number, and dict, list, str, bool, None.

    Arguments: `body` in UTF-8; `max_depth`, levels of objects and arrays.
    Raises `MalformedJson` for what is not JSON, `Invalid` with a pointer for what this service cannot keep.
    """
    try:
        value = _DECODER.decode(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise MalformedJson(f"the body is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise MalformedJson(f"{error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise MalformedJson(f"the body is nested deeper than {max_depth} levels") from None
    errors = _faults(value, max_depth)
    if errors:
        raise Invalid(errors=errors)
    return value


def _long_integer(text: str) -> int | Decimal:
    return int(text) if len(text) <= _PLAIN_DIGITS else Decimal(text)


_KEPT = json.JSONDecoder(parse_int=_long_integer, parse_float=Decimal)


def read_json(text: str | bytes) -> Any:
    """Reads JSON that was accepted before, into the same types: what comes out of the database."""
    return _KEPT.decode(text if isinstance(text, str) else text.decode())


def _faults(root: Any, max_depth: int) -> list[FieldError]:
    """What is wrong anywhere in the tree. Iterative: a hostile body must not decide how deep our stack goes."""
    errors: list[FieldError] = []
    pending: list[tuple[tuple[str | int, ...], Any]] = [((), root)]
    while pending:
        path, value = pending.pop()
        if (detail := _fault_of(value)) is not None:
            errors.append(_fault(path, detail))
        elif type(value) in (dict, list):
            if len(path) >= max_depth:
                errors.append(_fault(path, f"is nested deeper than {max_depth} levels"))
                continue
            members: Iterable[tuple[str | int, Any]] = enumerate(value)
            if type(value) is dict:
                errors += [_fault(path, "has a key that cannot be kept") for key in value if UNFIT.search(key)]
                members = value.items()
            # Most members are sound leaves; a path is made only for those that are looked at again.
            pending += [
                ((*path, key), member)
                for key, member in members
                if type(member) in (dict, list) or _fault_of(member) is not None
            ]
    return errors[::-1]


def _fault_of(value: Any) -> str | None:
    if type(value) is str:
        return "holds a control character, NUL or a lone surrogate" if UNFIT.search(value) else None
    return value.detail if type(value) is _Refused else None


def _fault(path: tuple[str | int, ...], detail: str) -> FieldError:
    # A key that cannot be kept cannot be printed either.
    return FieldError(detail, pointer=UNFIT.sub("\N{REPLACEMENT CHARACTER}", pointer_to(path)))
