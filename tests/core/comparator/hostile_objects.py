"""Objects that misbehave. In a module of their own: pytest looks into whatever stands in a test module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo
from decimal import Decimal
from typing import Any

import numpy as np

CANARY = "canary-7f3a"


class CanaryError(Exception):
    pass


def explode(*_: object, **__: object) -> Any:
    raise CanaryError(CANARY)


def hostile(*methods: str, base: type = object) -> Any:
    """An instance whose `methods` raise."""
    return type("Hostile", (base,), dict.fromkeys(methods, explode))


class RaisingZone(tzinfo):
    utcoffset = dst = tzname = explode


class RaisingClass:
    @property
    def __class__(self) -> type:
        raise CanaryError(CANARY)


class EndlessRows(Sequence[Any]):
    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: Any) -> Any:
        raise CanaryError(CANARY)

    def __iter__(self) -> Iterator[Any]:
        raise CanaryError(CANARY)


class LyingRow(list[Any]):
    def __len__(self) -> int:
        return 1


def cyclic() -> list[Any]:
    cell: list[Any] = []
    cell.append(cell)
    return cell


def deep(depth: int) -> list[Any]:
    cell: list[Any] = []
    for _ in range(depth):
        cell = [cell]
    return cell


# What can be keyed is keyed; what cannot is an error that names the exception's type.
CELLS = {
    "eq": hostile("__eq__", "__hash__")(),
    "hash": hostile("__hash__")(),
    "bool_": hostile("__bool__")(),
    "str_of_a_text": hostile("__str__", "__repr__", "__eq__", "__hash__", "lower", "encode", base=str)(CANARY),
    "float_": hostile("__float__", "__repr__", "__eq__", "__hash__", base=float)(1.5),
    "int_": hostile("__int__", "__index__", "__eq__", "__hash__", base=int)(7),
    "decimal_": hostile("is_nan", "normalize", "__eq__", "__hash__", base=Decimal)("1.5"),
    "nan": hostile("__eq__", base=float)("nan"),
    "numpy_object": np.array([object()], dtype=object),
    "numpy_record": np.zeros(1, dtype=[("a", int)])[0],
    "huge_integer": 10**5000,
    "huge_exponent": Decimal("1E+999999999999"),
    "tiny_exponent": Decimal("1E-999999999999"),
    "half_a_surrogate_pair": "\ud800",
    "null_character": "a\x00b",
    "type": int,
    "function": explode,
    "ellipsis": ...,
    "range": range(3),
    "generator": (x for x in ()),
}
FAILING = {
    "str_": hostile("__str__", "__repr__")(),
    "iter_": hostile("__iter__", base=list)([CANARY]),
    "items": hostile("items", base=dict)({CANARY: 1}),
    "getattr_": hostile("__getattribute__", "__str__")(),
    "class_": RaisingClass(),
    "cyclic": cyclic(),
    "deep": deep(100_000),
    "zone": datetime(2026, 1, 2, tzinfo=RaisingZone()),
}

ROWS = {"rows": EndlessRows(), "row": [LyingRow([1, 2])] * 2, "second_row": [[1], LyingRow([1, 2])]}
