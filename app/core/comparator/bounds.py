"""The bands a generated result is held to where there is no answer key."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from app.core.comparator.cells import cell_key

Number = int | float | Decimal


@dataclass(frozen=True, slots=True)
class Bounds:
    """A row band, a value band, or both; every edge is inclusive and None leaves that side open.

    Arguments: `min_rows`, `max_rows`, counts of generated rows; `min_value`, `max_value`, numbers that a result of one
    numeric cell is held to. Raises `ValueError` for a band with nothing set, a floor above its ceiling, a row count
    that is not a whole number from 0 up, or a value that is not a number: such a band would pass or fail everything.

    >>> Bounds(min_rows=1, max_rows=10).has_row_band
    True
    >>> Bounds(min_value=5, max_value=1)
    Traceback (most recent call last):
    ...
    ValueError: min_value is above max_value
    """

    min_rows: int | None = None
    max_rows: int | None = None
    min_value: Number | None = None
    max_value: Number | None = None

    def __post_init__(self) -> None:
        for name in ("min_rows", "max_rows"):
            rows = getattr(self, name)
            if rows is not None and (type(rows) is not int or rows < 0):
                raise ValueError(f"{name} must be a whole number from 0 up")
        for name in ("min_value", "max_value"):
            value = getattr(self, name)
            if value is not None and cell_key(value)[0] != "number":
                raise ValueError(f"{name} must be a number")
        if not self.has_row_band and not self.has_value_band:
            raise ValueError("a band needs at least one edge")
        if self.min_rows is not None and self.max_rows is not None and self.min_rows > self.max_rows:
            raise ValueError("min_rows is above max_rows")
        # As keys: the band is held against keys, and a float beside a Decimal is trapped in some ambient contexts.
        edges = (self.min_value, self.max_value)
        if None not in edges and cell_key(edges[0])[1] > cell_key(edges[1])[1]:
            raise ValueError("min_value is above max_value")

    @property
    def has_row_band(self) -> bool:
        """Whether either row edge is set."""
        return self.min_rows is not None or self.max_rows is not None

    @property
    def has_value_band(self) -> bool:
        """Whether either value edge is set."""
        return self.min_value is not None or self.max_value is not None
