"""Cells as keys: hashable `(tag, value)` pairs that are equal exactly when two cells say the same thing.

Raw cells cannot be compared. `True == 1 == 1.0 == Decimal(1)` share one bucket of a dict, two NaN objects do not, and
`Decimal("0.1") != 0.1`. A key is normalised when it is made, so equal cells also sort and print alike.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np

from app.core.comparator.instants import instant_of_date, instant_of_datetime, instant_of_text, microseconds
from app.core.comparator.numbers import normal_number

Key = tuple[str, Any]

NULL: Key = ("null", 0)
NAN: Key = ("nan", 0)
BOOLEAN_WORDS = {"t": True, "true": True, "yes": True, "f": False, "false": False, "no": False}

MAX_DEPTH = 64
"""Levels of arrays and objects in one cell; hashing a key descends in C, where nothing stops an overflow."""

MAX_PARTS = 1_000_000
"""Values in one cell; a few lists that hold each other twice are exponentially many."""

_COARSE_UNITS = frozenset({"Y", "M", "W", "h", "m"})
_UNIT_US = {
    "W": Fraction(7 * 86_400_000_000),
    "D": Fraction(86_400_000_000),
    "h": Fraction(3_600_000_000),
    "m": Fraction(60_000_000),
    "s": Fraction(1_000_000),
    "ms": Fraction(1000),
    "us": Fraction(1),
    "ns": Fraction(1, 1000),
    "ps": Fraction(1, 10**6),
    "fs": Fraction(1, 10**9),
    "as": Fraction(1, 10**12),
}
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


class CellTooDeep(ValueError):
    """One cell nests deeper than `MAX_DEPTH`, or holds more than `MAX_PARTS` values."""


def cell_key(cell: Any, *, round_tail: bool = False) -> Key:
    """The key of one cell. `round_tail` buckets a number that is not whole, the `values` level's rule.

    Boolean spellings are not read here: they belong to a column (`boolean_key`). Raises `CellTooDeep`, and whatever
    a hostile object's own methods raise.

    >>> cell_key(1) == cell_key(1.0) == cell_key(Decimal("1.00")) != cell_key(True)
    True
    >>> cell_key("2026-01-02T00:00:00Z") == cell_key(date(2026, 1, 2)), cell_key("007")
    (True, ('text', '007'))
    """
    return _Keys(round_tail=round_tail).key(cell, 0)


def boolean_key(word: str) -> Key:
    """The key of a boolean spelling, once its column is known to hold nothing else.

    >>> boolean_key("No") == cell_key(False)
    True
    """
    return ("bool", BOOLEAN_WORDS[word.lower()])


def text_key(text: str) -> Key:
    """The key of a text: itself, unless its shape is unambiguously a date, a timestamp or a UUID."""
    if len(text) >= 10 and text[4] == "-":
        instant = instant_of_text(text)
        if instant is not None:
            return ("instant", instant)
    if len(text) == 36 and _UUID.fullmatch(text):
        return ("uuid", text.lower())
    return ("text", text)


class _Keys:
    """Makes the key of one cell, counting what it holds."""

    def __init__(self, *, round_tail: bool) -> None:
        self._round_tail = round_tail
        self._parts = 0

    def key(self, cell: Any, depth: int) -> Key:
        self._parts += 1
        if depth > MAX_DEPTH or self._parts > MAX_PARTS:
            raise CellTooDeep
        if cell is None:
            return NULL
        make = _BY_TYPE.get(type(cell)) or _maker(cell)
        return make(self, cell, depth)

    def number(self, cell: Any, _depth: int) -> Key:
        # From the base type's own conversion: a subclass may override anything.
        return self._decimal(Decimal(int.__int__(cell)))

    def float(self, cell: Any, _depth: int) -> Key:
        return NAN if math.isnan(cell) else self._decimal(Decimal(float.__repr__(cell)))

    def decimal(self, cell: Any, _depth: int) -> Key:
        exact = Decimal(cell)
        return NAN if exact.is_nan() else self._decimal(exact)

    def _decimal(self, number: Decimal) -> Key:
        return ("number", normal_number(number, round_tail=self._round_tail))

    def array(self, cell: Iterable[Any], depth: int) -> Key:
        return ("array", tuple(self.key(part, depth + 1) for part in cell))

    def object(self, cell: Mapping[Any, Any], depth: int) -> Key:
        pairs = [(self.key(name, depth + 1), self.key(part, depth + 1)) for name, part in cell.items()]
        return ("object", tuple(sorted(pairs, key=lambda pair: pair[0])))

    def numpy(self, cell: Any, depth: int) -> Key:
        """A NumPy value, unwrapped. `item()` would count nanoseconds as a plain integer."""
        if isinstance(cell, np.datetime64):
            return NULL if np.isnat(cell) else _numpy_instant(cell)
        if isinstance(cell, np.timedelta64):
            return NULL if np.isnat(cell) else _numpy_interval(cell)
        if isinstance(cell, np.longdouble):
            return NAN if np.isnan(cell) else self._decimal(Decimal(str(cell)))
        if isinstance(cell, np.ndarray):
            return self.array(cell, depth) if cell.ndim else self.key(cell[()], depth + 1)
        plain = cell.item()
        return _other_key(cell) if isinstance(plain, np.generic) else self.key(plain, depth + 1)

    def other(self, cell: Any, _depth: int) -> Key:
        return _other_key(cell)


Maker = Callable[[_Keys, Any, int], Key]


def _bool(_keys: _Keys, cell: Any, _depth: int) -> Key:
    return ("bool", cell)


def _text(_keys: _Keys, cell: Any, _depth: int) -> Key:
    return text_key(str.__str__(cell))


def _datetime(_keys: _Keys, cell: Any, _depth: int) -> Key:
    # pandas keeps nanoseconds beside the microseconds that it inherits.
    return ("instant", _with_nanoseconds(instant_of_datetime(cell), getattr(cell, "nanosecond", 0)))


def _date(_keys: _Keys, cell: Any, _depth: int) -> Key:
    return ("instant", instant_of_date(cell))


def _time(_keys: _Keys, cell: Any, _depth: int) -> Key:
    return ("time", time.isoformat(cell))


def _interval(_keys: _Keys, cell: Any, _depth: int) -> Key:
    return ("interval", _with_nanoseconds(microseconds(cell), getattr(cell, "nanoseconds", 0)))


def _uuid(_keys: _Keys, cell: Any, _depth: int) -> Key:
    return ("uuid", str(UUID(int=cell.int)))


def _bytes(_keys: _Keys, cell: Any, _depth: int) -> Key:
    return ("bytes", bytes(cell))


def _null(_keys: _Keys, _cell: Any, _depth: int) -> Key:
    return NULL


def _with_nanoseconds(whole: int, nanoseconds: int) -> int | Fraction:
    return whole + Fraction(nanoseconds, 1000) if nanoseconds else whole


def _numpy_instant(cell: np.datetime64) -> Key:
    unit = np.datetime_data(cell.dtype)[0]
    if unit in _COARSE_UNITS:  # printed without the day, or without the minutes, that ISO text has to have
        cell = cell.astype("datetime64[s]")
    return text_key(str(cell))


def _numpy_interval(cell: np.timedelta64) -> Key:
    unit, step = np.datetime_data(cell.dtype)
    if unit not in _UNIT_US:  # months and years have no length
        return _other_key(cell)
    exact = int(cell.astype(np.int64)) * step * _UNIT_US[unit]
    return ("interval", int(exact) if exact.denominator == 1 else exact)


def _other_key(cell: Any) -> Key:
    kind = type(cell)
    return ("other", (f"{kind.__module__}.{kind.__qualname__}", str.__str__(str(cell))))


_BY_TYPE: dict[type, Maker] = {
    bool: _bool,
    int: _Keys.number,
    float: _Keys.float,
    Decimal: _Keys.decimal,
    str: _text,
    datetime: _datetime,
    date: _date,
    time: _time,
    timedelta: _interval,
    UUID: _uuid,
    bytes: _bytes,
    bytearray: _bytes,
    memoryview: _bytes,
    list: _Keys.array,
    tuple: _Keys.array,
    dict: _Keys.object,
}


def _maker(cell: Any) -> Maker:
    """How to key a cell whose exact type is not listed: a wrapper, a subclass of a listed type, or a stranger."""
    kind = type(cell)
    # pandas is recognised by name: importing it to ask would make it a dependency of every comparison.
    if kind.__module__.partition(".")[0] == "pandas" and kind.__name__ in ("NaTType", "NAType"):
        return _null
    if isinstance(cell, (np.generic, np.ndarray)) and not isinstance(cell, (float, str, bytes)):
        return _Keys.numpy
    for base, make in _BY_TYPE.items():
        if issubclass(kind, base):
            return make
    return _Keys.object if issubclass(kind, Mapping) else _Keys.other
