"""What a block's conditions and keys prove: equal terms, constants, and which sources a set of values determines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.core.consensus.nulls import kind_of, never_true_when
from app.core.consensus.terms import (
    Block,
    Call,
    Col,
    Free,
    Full,
    Func,
    Join,
    Lit,
    Minus,
    Source,
    Table,
    Term,
    Union,
    has_agg,
    has_window,
    occurrences,
    subterms,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.core.consensus.context import Context


def equalities(conditions: Iterable[Term]) -> list[tuple[Term, Term]]:
    """The pairs that the conjuncts of `conditions` hold equal."""
    found = []
    for term in conditions:
        match term:
            case Call("=", (left, right)) if not any(has_agg(t) or has_window(t) for t in (left, right)):
                found.append((left, right))
            case Call("and", args):
                found += equalities(args)
            case _:
                pass
    return found


@dataclass
class Classes:
    """Terms put together by equalities; each term's class is found by `find`."""

    parent: dict[Term, Term] = field(default_factory=dict)

    def find(self, term: Term) -> Term:
        while term in self.parent:
            term = self.parent[term]
        return term

    def join(self, left: Term, right: Term) -> None:
        left, right = self.find(left), self.find(right)
        if left != right:
            self.parent[left] = right

    def groups(self) -> list[list[Term]]:
        found: dict[Term, list[Term]] = {}
        for term in dict.fromkeys([*self.parent, *self.parent.values()]):
            found.setdefault(self.find(term), []).append(term)
        return list(found.values())


def classes_of(pairs: Iterable[tuple[Term, Term]]) -> Classes:
    classes = Classes()
    for left, right in pairs:
        classes.join(left, right)
    return classes


def exact_classes(pairs: Iterable[tuple[Term, Term]], ctx: Context) -> Classes:
    """Classes of terms whose values are the same wherever they are equal, so that one may be put for another."""
    return classes_of(
        (a, b) for a, b in pairs if ctx.identical(kind_of(a), kind_of(b))
    )  # fmt: skip


@dataclass(frozen=True)
class Key:
    """Columns of a source that no two of its rows share. NULL counts as shared unless `total`."""

    columns: tuple[str, ...]
    total: bool


def keys_of(source: Source, ctx: Context) -> list[Key]:
    """The keys of a source: declared ones of a table, what a derived table is grouped by, none for one row at most."""
    match source.rel:
        case Table(name):
            info = ctx.schema.get(name)
            if info is None:
                return []
            required = {c.name for c in info.columns if c.not_null}
            return [Key(k, set(k) <= required) for k in info.keys]
        case Block() as block:
            return _keys_of_block(block, ctx)
        case Func() | Full() | Union() | Minus():
            return []


def _keys_of_block(block: Block, ctx: Context) -> list[Key]:
    if block.limit == Lit("1", "int") and not block.ties:
        return [Key((), total=True)]
    if block.group is not None:
        if block.sets:
            return []
        places = [_places(g, block.outputs) for g in block.group if not isinstance(g, Lit)]
        return [Key(tuple(p[0] for p in places), total=True)] if all(places) else []
    if block.pick:
        places = [_places(g, block.outputs) for g in block.pick]
        return [Key(tuple(p[0] for p in places), total=True)] if all(places) else []
    facts = BlockFacts(block, ctx)
    every = [o for o in block.outputs if isinstance(o, Col)]
    found = []
    for s in block.sources:
        for key in keys_of(s, ctx):
            columns = [next((o for o in every if (o.src, o.name) == (s.id, c)), None) for c in key.columns]
            if key.total and all(c is not None for c in columns):
                given = {c for c in columns if c is not None}
                if facts.determines(given):
                    found.append(Key(tuple(_places(c, block.outputs)[0] for c in given), total=True))
    return found


def _places(term: Term, outputs: tuple[Term, ...]) -> list[str]:
    return [str(i) for i, o in enumerate(outputs) if o == term]


class BlockFacts:
    """The equalities and keys of one block, before grouping."""

    def __init__(self, block: Block, ctx: Context) -> None:
        self.block, self.ctx = block, ctx
        self.own = {i for s in block.sources for i in s.ids} | {i for j in block.lefts for i in j.source.ids}
        self.pairs = equalities(block.where)
        self.classes = classes_of(self.pairs)
        self.equated = {t for pair in self.pairs for t in pair}

    def determines(self, given: Iterable[Term], but: int | None = None) -> bool:
        """Whether rows that agree on `given` (and on all that is constant here) are one row; `but` is left out."""
        done = self.determined(given, but)
        wanted = {i for s in self.block.sources for i in s.ids} | {i for j in self.block.lefts for i in j.source.ids}
        return wanted - {but} <= done

    def determined(self, given: Iterable[Term], but: int | None = None) -> set[int]:
        """The occurrences whose row is fixed once the values of `given` are."""
        return self.closure(given, but)[1]

    def closure(self, given: Iterable[Term], but: int | None = None) -> tuple[set[Term], set[int]]:
        """The classes and the occurrences whose values are fixed once those of `given` are."""
        known = {self.classes.find(t) for t in given}
        done: set[int] = set()
        grew = True
        while grew:
            self.ctx.tick()
            grew = False
            for left, right in self.pairs:
                root = self.classes.find(left)
                if root not in known and (self.fixed(left, known, done) or self.fixed(right, known, done)):
                    known.add(root)
                    grew = True
            for source in self.block.sources:
                if source.id not in done and source.id != but and self._unique(source, (), known, done):
                    done |= set(source.ids)
                    grew = True
            for join in self.block.lefts:
                if join.source.id not in done and self._unique(join.source, join.on, known, done):
                    done |= set(join.source.ids)
                    grew = True
        return known, done

    def fixed(self, term: Term, known: set[Term], done: set[int]) -> bool:
        """Whether the value of `term` is fixed by the known terms and determined occurrences."""
        if isinstance(term, Lit) or self.classes.find(term) in known:
            return True
        if isinstance(term, (Col, Free)) or any(isinstance(t, Free) for t in subterms(term)):
            return occurrences(term).isdisjoint(self.own) or (isinstance(term, Col) and term.src in done)
        columns = [t for t in subterms(term) if isinstance(t, Col) and t.src in self.own]
        return all(c.src in done or self.classes.find(c) in known for c in columns)

    def _unique(self, source: Source, on: tuple[Term, ...], known: set[Term], done: set[int]) -> bool:
        equal_on = equalities(on)
        for key in keys_of(source, self.ctx):
            if all(self._held(source, c, key, equal_on, known, done) for c in key.columns):
                return True
        return False

    def _held(  # a key column, and all that is known  # noqa: PLR0913, PLR0917  # all that it is about
        self, source: Source, column: str, key: Key, on: list[tuple[Term, Term]], known: set[Term], done: set[int]
    ) -> bool:
        """Whether the key column's value is fixed. One that may be NULL must be fixed by an equality."""

        def is_it(term: Term) -> bool:
            return isinstance(term, Col) and (term.src, term.name) == (source.id, column)

        for left, right in on:
            for mine, other in ((left, right), (right, left)):
                if is_it(mine) and not (occurrences(other) & set(source.ids)) and self.fixed(other, known, done):
                    return True
        members = [t for t in (*self.equated, *known) if is_it(t)]
        if any(self.classes.find(t) in known and (key.total or t in self.equated) for t in members):
            return True
        return key.total and any(is_it(t) for t in known)


def proven_not_null(conditions: Iterable[Term]) -> frozenset[Term]:
    """The columns that some condition rejects when NULL. Conditions with subqueries prove nothing: they may
    themselves have been simplified by these very facts."""
    found = set()
    for term in conditions:
        inside = list(subterms(term))
        if any(type(t).__name__ == "Sub" for t in inside):
            continue
        for column in {t for t in inside if isinstance(t, Col)}:
            if never_true_when(term, lambda t, c=column: t == c):  # type: ignore[misc]  # mypy cannot type a default in a lambda
                found.add(column)
    return frozenset(found)


def left_ids(lefts: Iterable[Join]) -> frozenset[int]:
    return frozenset(i for j in lefts for i in j.source.ids)


def nullable_ids(block: Block) -> frozenset[int]:
    """The occurrences that the block's own outer joins may fill with NULLs."""
    full = [i for s in block.sources if isinstance(s.rel, Full) for i in s.ids]
    return left_ids(block.lefts) | frozenset(full)
