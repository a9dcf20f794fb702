"""One text for all queries that differ only in how their table occurrences are numbered.

Occurrences get numbers by colour: first what they are, then, round by round, what the terms around them say with
their neighbours' colours. Those still alike are tried in every order, and the least text is taken. Where there are
too many orders, some of them are: two equal queries may then get two texts, never two different ones the same.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from hashlib import blake2b

from app.core.consensus.context import Context, Unread
from app.core.consensus.terms import (
    Agg,
    Block,
    Call,
    Col,
    Ext,
    Free,
    Full,
    Func,
    Lit,
    Minus,
    OrderKey,
    Over,
    Query,
    Same,
    Source,
    Sub,
    Table,
    Term,
    Union,
    block_terms,
    occurrences,
)


class _Names(dict[int, str]):
    """Occurrences' names, and the texts of derived tables' columns by place: where a column stands does not matter."""

    def __init__(self, names: Mapping[int, str], places: dict[tuple[int, str], str] | None = None) -> None:
        super().__init__(names)
        inherited = getattr(names, "places", {})
        self.places: dict[tuple[int, str], str] = places if places is not None else dict(inherited)


Names = Mapping[int, str]
_MOST_ORDERS = 120
_UNORDERED = frozenset({"=", "<>", "same?", "same", "+", "*"})


def label(query: Query, ctx: Context, *, ordered: bool = False) -> str:
    """The canonical text of `query`. With `ordered`, the order of its rows is part of it."""
    return _query(query, {}, ctx, top=True, ordered=ordered)[0]


def _query(
    query: Query, names: Names, ctx: Context, *, top: bool = False, ordered: bool = False
) -> tuple[str, tuple[str, ...]]:
    """The text of `query`, and for each of its columns one that tells which of them it is."""
    ctx.tick()
    match query:
        case Block():
            return _block(query, names, ctx, top=top, ordered=ordered)
        case Union():
            branches = sorted(_query(b, names, ctx) for b in query.branches)
            columns = tuple("+".join(c) for c in zip(*[b[1] for b in branches], strict=True))
            # The branches' columns go together by place, whatever the places are called.
            return f"union({';'.join(b[0] for b in branches)} as {sorted(columns)})", columns
        case Minus():
            left, right = _query(query.left, names, ctx), _query(query.right, names, ctx)
            columns = tuple("-".join(c) for c in zip(left[1], right[1], strict=True))
            return f"{query.op}({left[0]};{right[0]} as {sorted(columns)})", columns


def _members(block: Block) -> list[tuple[int, str, Source]]:
    """The occurrences of a block with the part they play."""
    found = []
    for source in block.sources:
        if isinstance(source.rel, Full):
            for side, inner in (("f", source.rel.left), ("f", source.rel.right)):
                found += [(inner.id, side, inner)]
        else:
            found.append((source.id, "s", source))
    return found + [(j.source.id, "l", j.source) for j in block.lefts]


def _block(block: Block, names: Names, ctx: Context, *, top: bool, ordered: bool) -> tuple[str, tuple[str, ...]]:
    members = _members(block)
    if not members:
        return _written(block, _Names(names, _places(names)), ctx, top=top, ordered=ordered)
    colours = _refined(block, members, names, ctx, top=top, ordered=ordered)
    best: tuple[str, tuple[str, ...]] | None = None
    for numbered in _orders(colours):
        ctx.tick()
        mine = _Names({**names, **{i: f"t{n}d{len(names)}" for n, i in enumerate(numbered)}}, _places(names))
        text = _written(block, mine, ctx, top=top, ordered=ordered)
        if best is None or text < best:
            best = text
            ctx.numbers.update({i: (len(names), n) for n, i in enumerate(numbered)})
    assert best is not None
    return best


def _places(names: Names) -> dict[tuple[int, str], str]:
    return dict(getattr(names, "places", {}))


def _orders(colours: dict[int, str]) -> list[tuple[int, ...]]:
    """The orders to try: by colour, and all orders of those of one colour, as far as there are not too many."""
    ranked = sorted(colours, key=lambda i: colours[i])
    groups = [list(g) for _, g in itertools.groupby(ranked, key=lambda i: colours[i])]
    if math.prod(math.factorial(len(g)) for g in groups) > _MOST_ORDERS:
        return [tuple(ranked)]
    choices = itertools.product(*[list(itertools.permutations(g)) for g in groups])
    return [tuple(i for group in choice for i in group) for choice in choices]


def _refined(  # what is labelled, and how  # noqa: PLR0913  # all that it is about
    block: Block, members: list[tuple[int, str, Source]], names: Names, ctx: Context, *, top: bool, ordered: bool
) -> dict[int, str]:
    unknown = {**names, **dict.fromkeys((m[0] for m in members), "?")}
    places = _places(names)
    rel = {i: _rel(s, _Names(unknown, places), ctx) for i, _, s in members}
    colours = {i: _digest(f"{part}:{rel[i]}") for i, part, _ in members}
    if len(set(colours.values())) == len(colours):
        return colours
    terms = [(t, occurrences(t)) for t in block_terms(block)]
    for _ in range(len(members)):
        new = {}
        for i, colour in colours.items():
            seen = _Names({**names, **colours, i: "@"}, places)
            said = sorted(_term(t, seen, ctx) for t, inside in terms if i in inside)
            new[i] = _digest(colour + "|" + _roles(block, i, seen, ctx, top=top, ordered=ordered) + "|".join(said))
        settled = len(set(new.values())) == len(set(colours.values()))
        colours = new
        if settled or len(set(colours.values())) == len(colours):
            break
    return colours


def _roles(  # noqa: PLR0913  # all that it is about
    block: Block, i: int, seen: Names, ctx: Context, *, top: bool, ordered: bool
) -> str:  # what is labelled, and how
    """What part the terms that read occurrence `i` play: a column may be output in one and joined in another."""
    outputs = sorted(_term(o, seen, ctx) for o in block.outputs if i in occurrences(o))
    group = sorted(_term(g, seen, ctx) for g in block.group or () if i in occurrences(g))
    on = sorted(_all(j.on, seen, ctx) for j in block.lefts if j.source.id == i)
    order = _order(block.order, seen, ctx) if block.limited or (top and ordered) else ""
    return f"{outputs}{group}{on}{order}"


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()


def _rel(source: Source, names: _Names, ctx: Context) -> str:
    match source.rel:
        case Table(name):
            return name
        case Func(op, args):
            return f"{op}({','.join(_term(a, names, ctx) for a in args)})"
        case Full():
            raise Unread("a full join inside a full join")
        case _:
            text, columns = _query(source.rel, names, ctx)
            names.places.update({(source.id, str(i)): _digest(c) for i, c in enumerate(columns)})
            return f"[{text}]"


def _written(block: Block, names: _Names, ctx: Context, *, top: bool, ordered: bool) -> tuple[str, tuple[str, ...]]:
    sources = []
    for source in block.sources:
        if isinstance(source.rel, Full):
            left, right, on = source.rel.left, source.rel.right, source.rel.on
            sides = sorted([f"{names[s.id]}={_rel(s, names, ctx)}" for s in (left, right)])
            sources.append(f"full({';'.join(sides)} on {_all(on, names, ctx)})")
        else:
            sources.append(f"{names[source.id]}={_rel(source, names, ctx)}")
    lefts = [f"{names[j.source.id]}={_rel(j.source, names, ctx)} on {_all(j.on, names, ctx)}" for j in block.lefts]
    found = [f"from {';'.join(sorted(sources))}", f"left {';'.join(sorted(lefts))}", _all(block.where, names, ctx)]
    if block.group is not None:
        keys = dict.fromkeys(_term(g, names, ctx) for g in block.group)
        # Where a choice is left to the engine, it may choose by the order of the groups.
        found.append(f"group {'&'.join(keys if ctx.choice else sorted(keys))} {_all(block.sets, names, ctx)}")
        found.append(f"having {_all(block.having, names, ctx)}")
    outputs = tuple(_term(o, names, ctx) for o in block.outputs)
    found.append(f"select {';'.join(sorted(outputs if top else set(outputs)))}")
    if block.pick:
        found.append(f"pick {_all(block.pick, names, ctx)} {_order(block.order, names, ctx)}")
    if block.limited or (top and ordered):
        bounds = [_term(b, names, ctx) if b is not None else "-" for b in (block.limit, block.offset)]
        found.append(f"order {_order(block.order, names, ctx)} {bounds} {block.ties}")
    return " / ".join(found), outputs


def _all(terms: tuple[Term, ...], names: Names, ctx: Context) -> str:
    """A set of conditions, or of keys: saying one twice says nothing more."""
    return "&".join(sorted({_term(t, names, ctx) for t in terms}))


def _order(keys: tuple[OrderKey, ...], names: Names, ctx: Context) -> str:
    return ",".join(f"{_term(k.term, names, ctx)} {k.desc:d}{k.nulls_first!s}" for k in keys)


def _name(src: int, names: Names) -> str:
    found = names.get(src)
    if found is None:
        raise Unread("a column of no visible table")
    return found


def _term(term: Term, names: Names, ctx: Context) -> str:  # one branch for each kind  # noqa: C901, PLR0912  # one branch for each kind
    match term:
        case Col(src, name):
            place = getattr(names, "places", {}).get((src, name), name)
            return f"{_name(src, names)}.{place}"
        case Free(name, srcs):
            return f"{name}?{','.join(_name(s, names) for s in srcs)}"
        case Lit(value, kind):
            return f"{kind}:{value!r}"
        case Call(op, args):
            inner = [_term(a, names, ctx) for a in args]
            if op in ("and", "or"):
                inner = sorted(set(inner))
                if len(inner) == 1:
                    return inner[0]
            elif op in _UNORDERED:
                inner.sort()
            elif op == "in":
                inner = [inner[0], *sorted(inner[1:])]
            return f"{op}({','.join(inner)})"
        case Same(members):
            return f"one({','.join(sorted(_term(m, names, ctx) for m in members))})"
        case Ext(src, inner_term):
            return f"ext({_name(src, names)},{_term(inner_term, names, ctx)})"
        case Agg(op, args, distinct, where):
            shown = ",".join(_term(a, names, ctx) for a in args)
            return f"agg {op}({'distinct ' if distinct else ''}{shown} | {_all(where, names, ctx)})"
        case Over(func, partition, order, frame):
            split = _all(partition, names, ctx)
            return f"over({_term(func, names, ctx)} by {split} order {_order(order, names, ctx)} {frame})"
        case Sub(op, query, args):
            text, columns = _query(query, names, ctx)
            # IN over several columns pairs them by place; every other subquery has one column.
            return f"{op}({','.join(_term(a, names, ctx) for a in args)}:{text}{columns if len(args) > 1 else ''})"
