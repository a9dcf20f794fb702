"""Bounds of one term by constants, gathered: the tightest of each side, and FALSE where nothing is left between."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from fractions import Fraction

from app.core.consensus.nulls import kind_of
from app.core.consensus.rules.env import conjunction, in_order
from app.core.consensus.terms import FALSE, Call, Kind, Lit, Term

Point = Fraction | str


@dataclass
class _Bounds:
    low: tuple[Point, bool, Lit] | None = None  # value, whether it is itself excluded, the literal
    high: tuple[Point, bool, Lit] | None = None
    options: list[Lit] | None = None
    excluded: list[Lit] = field(default_factory=list)


def merge_ranges(terms: list[Term]) -> Term:
    """The conjunction of `terms` with the bounds of each term merged.

    `x > 3 AND x > 5` is `x > 5`; `x >= 5 AND x <= 5` is `x = 5`; `x = 5 AND x > 7` is never TRUE. Over integers and
    dates `x > 5` is `x >= 6`, so each range has one form. All only where the constants compare by value: numbers and
    dates. For text just equal texts are merged, since a collation orders the rest.
    """
    bounds: dict[Term, _Bounds] = {}
    rest = [t for t in terms if not _gather(t, bounds)]
    for value, bound in bounds.items():
        rest += _written(value, bound)
    return conjunction(rest)


def _point(literal: Lit, kind: Kind) -> Point | None:
    if kind in ("int", "decimal", "float") and literal.kind in ("int", "decimal"):
        return Fraction(literal.value) if len(literal.value) < 60 else None
    return literal.value if kind == literal.kind and kind in ("date", "timestamp", "timestamptz") else None


def _gather(term: Term, bounds: dict[Term, _Bounds]) -> bool:
    """Notes `term` in `bounds` if it bounds something by a constant; False if it does not."""
    match term:
        case Call("<" | "<=" as op, (Lit() as literal, value)) if not isinstance(value, Lit):
            return _bound(bounds, value, literal, low=True, excluded=op == "<")
        case Call("<" | "<=" as op, (value, Lit() as literal)) if not isinstance(value, Lit):
            return _bound(bounds, value, literal, low=False, excluded=op == "<")
        case Call("=", (Lit() as literal, value)) | Call("=", (value, Lit() as literal)) if not isinstance(value, Lit):
            return _options(bounds, value, [literal])
        case Call("in", (value, *options)):
            return _options(bounds, value, [o for o in options if isinstance(o, Lit)], len(options))
        case Call("<>", (Lit() as literal, value)) | Call("<>", (value, Lit() as literal)):
            if _point(literal, kind_of(value)) is None:
                return False
            bounds.setdefault(value, _Bounds()).excluded.append(literal)
            return True
        case _:
            return False


def _bound(bounds: dict[Term, _Bounds], value: Term, literal: Lit, *, low: bool, excluded: bool) -> bool:
    kind = kind_of(value)
    point = _point(literal, kind)
    if point is None:
        return False
    found = bounds.setdefault(value, _Bounds())
    point, excluded, literal = _whole(point, excluded, literal, kind, low=low)
    if low:
        if found.low is None or (point, excluded) > found.low[:2]:
            found.low = (point, excluded, literal)
    elif found.high is None or (found.high[0], not found.high[1]) > (point, not excluded):
        found.high = (point, excluded, literal)
    return True


def _whole(
    point: Point, excluded: bool, literal: Lit, kind: Kind, *, low: bool
) -> tuple[Point, bool, Lit]:  # a triple, taken and given back
    """Over whole numbers and days: a bound that is included."""
    if kind == "int" and isinstance(point, Fraction):
        if point.denominator != 1:
            number = point.__ceil__() if low else point.__floor__()
        else:
            number = int(point) + ((1 if low else -1) if excluded else 0)
        return Fraction(number), False, Lit(str(number), "int")
    if kind == "date" and isinstance(point, str) and excluded:
        try:
            day = dt.date.fromisoformat(point) + dt.timedelta(days=1 if low else -1)
        except (ValueError, OverflowError):
            return point, excluded, literal
        return day.isoformat(), False, Lit(day.isoformat(), "date")
    return point, excluded, literal


def _options(bounds: dict[Term, _Bounds], value: Term, literals: list[Lit], count: int = 1) -> bool:
    kind = kind_of(value)
    if len(literals) != count:
        return False
    if any(_point(o, kind) is None for o in literals):
        return False
    found = bounds.setdefault(value, _Bounds())
    points = {_point(o, kind) for o in literals}
    if found.options is None:
        found.options = literals
    else:
        found.options = [o for o in found.options if _point(o, kind) in points]
    return True


def _written(value: Term, bound: _Bounds) -> list[Term]:
    """The conditions for the gathered bounds of `value`."""
    kind = kind_of(value)
    excluded = {_point(o, kind) for o in bound.excluded}
    if bound.options is not None:
        kept = {
            _point(o, kind): o for o in bound.options if _inside(o, bound, kind) and _point(o, kind) not in excluded
        }
        return _equal(value, list(kept.values()))
    low, high = bound.low, bound.high
    if low is not None and high is not None:
        if low[0] > high[0] or (low[0] == high[0] and (low[1] or high[1])):  # type: ignore[operator]
            return [FALSE]
        if low[0] == high[0]:
            return [FALSE] if low[0] in excluded else _equal(value, [low[2]])
    terms: list[Term] = []
    if low is not None:
        terms.append(Call("<" if low[1] else "<=", (low[2], value)))
    if high is not None:
        terms.append(Call("<" if high[1] else "<=", (value, high[2])))
    seen = {_point(o, kind): o for o in bound.excluded if _inside(o, bound, kind)}
    return [*terms, *[Call("<>", _pair(value, o)) for o in seen.values()]]


def _equal(value: Term, options: list[Lit]) -> list[Term]:
    if not options:
        return [FALSE]
    if len(options) == 1:
        return [Call("=", _pair(value, options[0]))]
    return [Call("in", (value, *in_order(tuple(options))))]


def _pair(value: Term, literal: Lit) -> tuple[Term, ...]:
    return in_order((value, literal))


def _inside(literal: Lit, bound: _Bounds, kind: Kind) -> bool:
    point = _point(literal, kind)
    assert point is not None
    low, high = bound.low, bound.high
    if low is not None and (point < low[0] or (point == low[0] and low[1])):  # type: ignore[operator]
        return False
    return not (high is not None and (point > high[0] or (point == high[0] and high[1])))  # type: ignore[operator]
