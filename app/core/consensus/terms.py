"""The relational form that statements are read into: scalar terms, and queries over bags of rows.

A block is `π γ σ` over a product of sources, some of them left-joined, which is the shape in which keys, equalities
and NULL reasoning can be applied. Every table occurrence has its own number, so alias names are gone after reading.
This module is longer than others since the nodes and the walks over them name each other.
All nodes are immutable and hashable; `rewrite` and `rewrite_query` are the two ways to change one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Literal, TypeAlias

Kind = Literal[
    "int", "decimal", "float", "text", "char", "bool", "date", "timestamp", "timestamptz", "null", "raw", "unknown"
]  # fmt: skip


class _Hashed:
    """A hash computed once: terms are used as set members far more often than they are made."""

    def __hash__(self) -> int:
        known = self.__dict__.get("_hash")
        if known is None:
            known = hash((type(self).__name__, *(getattr(self, f.name) for f in fields(self))))  # type: ignore[arg-type]  # every subclass is a dataclass
            object.__setattr__(self, "_hash", known)
        return int(known)


@dataclass(frozen=True)
class Col(_Hashed):
    """A column of the table occurrence `src`: a base column's name, or the position of a derived table's output."""

    src: int
    name: str
    kind: Kind = "unknown"
    not_null: bool = False
    __hash__ = _Hashed.__hash__


@dataclass(frozen=True)
class Free(_Hashed):
    """An unqualified column that no schema places: it belongs to exactly one of `srcs`."""

    name: str
    srcs: tuple[int, ...]
    __hash__ = _Hashed.__hash__


@dataclass(frozen=True)
class Lit(_Hashed):
    """A constant. `value` is its canonical text; NULL has the kind `null`."""

    value: str
    kind: Kind
    __hash__ = _Hashed.__hash__


@dataclass(frozen=True)
class Call(_Hashed):
    """An operator or a scalar function; options that are not terms are part of `op`."""

    op: str
    args: tuple[Term, ...]
    __hash__ = _Hashed.__hash__


@dataclass(frozen=True)
class Agg(_Hashed):
    """An aggregate over the rows of a group for which every one of `where` is true."""

    op: str
    args: tuple[Term, ...]
    distinct: bool = False
    where: tuple[Term, ...] = ()
    __hash__ = _Hashed.__hash__


@dataclass(frozen=True)
class OrderKey(_Hashed):
    term: Term
    desc: bool
    nulls_first: bool | None
    __hash__ = _Hashed.__hash__


@dataclass(frozen=True)
class Over(_Hashed):
    """A window function; `frame` is its frame's canonical text, empty for the default one."""

    func: Term
    partition: tuple[Term, ...]
    order: tuple[OrderKey, ...]
    frame: str
    __hash__ = _Hashed.__hash__


@dataclass(frozen=True)
class Ext(_Hashed):
    """`term` where the left-joined occurrence `src` found a partner, NULL where it did not."""

    src: int
    term: Term
    __hash__ = _Hashed.__hash__


@dataclass(frozen=True)
class Same(_Hashed):
    """Any of `members`: terms that the block's own conditions hold equal, so it does not matter which."""

    members: tuple[Term, ...]
    __hash__ = _Hashed.__hash__


@dataclass(frozen=True)
class Sub(_Hashed):
    """A subquery inside a term: `exists`, `scalar`, or a quantified comparison such as `any:=` over `args`."""

    op: str
    query: Query
    args: tuple[Term, ...] = ()
    __hash__ = _Hashed.__hash__


@dataclass(frozen=True)
class Table(_Hashed):
    name: str
    __hash__ = _Hashed.__hash__


@dataclass(frozen=True)
class Func(_Hashed):
    """A table function, or `VALUES`: rows computed from terms. Its columns are positions."""

    op: str
    args: tuple[Term, ...]
    __hash__ = _Hashed.__hash__


@dataclass(frozen=True)
class Full(_Hashed):
    """A full outer join; both sides' occurrences are seen from outside."""

    left: Source
    right: Source
    on: tuple[Term, ...]
    __hash__ = _Hashed.__hash__


@dataclass(frozen=True)
class Source(_Hashed):
    id: int
    rel: Rel
    __hash__ = _Hashed.__hash__

    @property
    def ids(self) -> tuple[int, ...]:
        """The occurrences whose columns this source gives."""
        if isinstance(self.rel, Full):
            return (*self.rel.left.ids, *self.rel.right.ids)
        return (self.id,)


@dataclass(frozen=True)
class Join(_Hashed):
    """A left join of `source` to all that stands before it."""

    source: Source
    on: tuple[Term, ...]
    __hash__ = _Hashed.__hash__


@dataclass(frozen=True)
class Block(_Hashed):
    """One SELECT: product of `sources`, then `lefts` in order, `where`, grouping, `having`, `outputs`, a limit.

    `group` is None when nothing is grouped and `()` for a grand total. `sets` holds ROLLUP, CUBE or GROUPING SETS.
    `pick` is DISTINCT ON. `order` counts only with a limit, unless the caller compares ordered results.
    """

    sources: tuple[Source, ...] = ()
    lefts: tuple[Join, ...] = ()
    where: tuple[Term, ...] = ()
    group: tuple[Term, ...] | None = None
    sets: tuple[Term, ...] = ()
    having: tuple[Term, ...] = ()
    outputs: tuple[Term, ...] = ()
    pick: tuple[Term, ...] = ()
    order: tuple[OrderKey, ...] = ()
    limit: Term | None = None
    offset: Term | None = None
    ties: bool = False
    __hash__ = _Hashed.__hash__

    @property
    def limited(self) -> bool:
        return self.limit is not None or self.offset is not None

    @property
    def plain(self) -> bool:
        """Nothing but select, project, join: the block may be merged into the one around it."""
        return self.group is None and not self.limited and not self.pick and not any(map(has_window, self.outputs))


@dataclass(frozen=True)
class Union(_Hashed):
    """UNION ALL of its branches."""

    branches: tuple[Query, ...]
    __hash__ = _Hashed.__hash__


@dataclass(frozen=True)
class Minus(_Hashed):
    """`except all` or `intersect all`, which keep count of duplicates."""

    op: str
    left: Query
    right: Query
    __hash__ = _Hashed.__hash__


Term: TypeAlias = Col | Free | Lit | Call | Agg | Over | Ext | Same | Sub
Query: TypeAlias = Block | Union | Minus
Rel: TypeAlias = Table | Func | Full | Query
Rewrite: TypeAlias = Callable[[Term], Term]

TRUE = Lit("true", "bool")
FALSE = Lit("false", "bool")
NULL = Lit("null", "null")
ONE = Lit("1", "int")


def rewrite(term: Term, change: Rewrite) -> Term:
    """`term` with `change` applied to every node, innermost first, subqueries included."""
    match term:
        case Col() | Free() | Lit():
            new: Term = term
        case Call():
            new = replace(term, args=_each(term.args, change)) if term.args else term
        case Agg():
            new = replace(term, args=_each(term.args, change), where=_each(term.where, change))
        case Over():
            new = Over(
                rewrite(term.func, change),
                _each(term.partition, change),
                _each_key(term.order, change),
                term.frame,
            )
        case Ext():
            new = replace(term, term=rewrite(term.term, change))
        case Same():
            new = replace(term, members=_each(term.members, change))
        case Sub():
            new = Sub(term.op, rewrite_query(term.query, change), _each(term.args, change))
    return change(new)


def _each(terms: tuple[Term, ...], change: Rewrite) -> tuple[Term, ...]:
    return tuple([rewrite(t, change) for t in terms])


def _each_key(keys: tuple[OrderKey, ...], change: Rewrite) -> tuple[OrderKey, ...]:
    return tuple([OrderKey(rewrite(k.term, change), k.desc, k.nulls_first) for k in keys])


def rewrite_query(query: Query, change: Rewrite, skip: int | None = None) -> Query:
    """`query` with `change` applied to every term in it, except inside the source numbered `skip`."""
    match query:
        case Union():
            return Union(tuple([rewrite_query(b, change, skip) for b in query.branches]))
        case Minus():
            return Minus(query.op, rewrite_query(query.left, change, skip), rewrite_query(query.right, change, skip))
        case Block():
            return rewrite_block(query, change, skip)


def rewrite_block(block: Block, change: Rewrite, skip: int | None = None) -> Block:
    """`block` with `change` applied to every term in it, except inside the source numbered `skip`."""
    return Block(
        sources=tuple([_source(s, change, skip) for s in block.sources]),
        lefts=tuple([Join(_source(j.source, change, skip), _each(j.on, change)) for j in block.lefts]),
        where=_each(block.where, change),
        group=None if block.group is None else _each(block.group, change),
        sets=_each(block.sets, change),
        having=_each(block.having, change),
        outputs=_each(block.outputs, change),
        pick=_each(block.pick, change),
        order=_each_key(block.order, change),
        limit=block.limit,
        offset=block.offset,
        ties=block.ties,
    )


def _source(source: Source, change: Rewrite, skip: int | None) -> Source:
    if source.id == skip:
        return source
    match source.rel:
        case Table():
            return source
        case Func(op, args):
            return Source(source.id, Func(op, _each(args, change)))
        case Full(left, right, on):
            return Source(source.id, Full(_source(left, change, skip), _source(right, change, skip), _each(on, change)))
        case _:
            return Source(source.id, rewrite_query(source.rel, change, skip))


def subterms(term: Term) -> Iterator[Term]:
    """`term` and every term inside it, those of its subqueries included."""
    yield term
    match term:
        case Col() | Free() | Lit():
            return
        case Call():
            inner: tuple[Term, ...] = term.args
        case Agg():
            inner = (*term.args, *term.where)
        case Over():
            inner = (term.func, *term.partition, *(k.term for k in term.order))
        case Ext():
            inner = (term.term,)
        case Same():
            inner = term.members
        case Sub():
            inner = (*term.args, *query_terms(term.query))
    for part in inner:
        yield from subterms(part)


def query_terms(query: Query) -> Iterator[Term]:
    """The terms that stand directly in `query` or in a source of it, outermost ones only (`subterms` goes deeper)."""
    match query:
        case Union():
            for branch in query.branches:
                yield from query_terms(branch)
        case Minus():
            yield from query_terms(query.left)
            yield from query_terms(query.right)
        case Block():
            yield from block_terms(query)
            for source in (*query.sources, *(j.source for j in query.lefts)):
                yield from source_terms(source)


def block_terms(block: Block) -> Iterator[Term]:
    """The terms of `block` itself, not those inside its sources."""
    for join in block.lefts:
        yield from join.on
    yield from block.where
    yield from block.group or ()
    yield from block.sets
    yield from block.having
    yield from block.outputs
    yield from block.pick
    for key in block.order:
        yield key.term


def source_terms(source: Source) -> Iterator[Term]:
    """The terms inside a source."""
    match source.rel:
        case Table():
            return
        case Func():
            yield from source.rel.args
        case Full(left, right, on):
            yield from on
            yield from source_terms(left)
            yield from source_terms(right)
        case _:
            yield from query_terms(source.rel)


def has_window(term: Term) -> bool:
    """Whether a window function stands in `term`, subqueries aside."""
    match term:
        case Over():
            return True
        case Call(_, args):
            return any(map(has_window, args))
        case Ext(_, inner):
            return has_window(inner)
        case _:
            return False


def has_agg(term: Term) -> bool:
    """Whether an aggregate of the block itself stands in `term`, subqueries aside."""
    match term:
        case Agg():
            return True
        case Call(_, args) | Sub(_, _, args):
            return any(map(has_agg, args))
        case Over(func, partition, order, _):
            inner = func.args if isinstance(func, Agg) else (func,)
            return any(map(has_agg, (*inner, *partition, *(k.term for k in order))))
        case Ext(_, inner):
            return has_agg(inner)
        case _:
            return False


def occurrences(term: Term) -> frozenset[int]:
    """The table occurrences whose columns `term` reads (those bound inside its subqueries among them)."""
    known = term.__dict__.get("_occurrences")
    if known is None:
        found: set[int] = set()
        for part in subterms(term):
            match part:
                case Col(src) | Ext(src):
                    found.add(src)
                case Free(_, srcs):
                    found.update(srcs)
                case _:
                    pass
        known = frozenset(found)
        object.__setattr__(term, "_occurrences", known)
    return known


def unique(terms: tuple[Term, ...] | list[Term]) -> tuple[Term, ...]:
    """The terms without repetition, in first-seen order."""
    return tuple(dict.fromkeys(terms))
