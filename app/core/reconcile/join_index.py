"""Which joins a total stands on, by whatever name it knows them."""

from __future__ import annotations

import re
from itertools import combinations_with_replacement, pairwise
from typing import TYPE_CHECKING, Final

from app.core.reconcile.fold import fold
from app.core.reconcile.same_table import same_table, table_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.core.reconcile.graded_joins import GradedJoin

MAX_REFERENCES: Final = 200
"""Of one total. What is named beyond is taken for a join the statement does not list."""

_MAX_WORDS = 12
_ARROW = re.compile(r"\s*(?:→|⟶|⇒|->|=>|⋈|[\u2013\u2014])\s*|\s+(?:-|join|to)\s+", re.IGNORECASE)
_NAME = re.compile(r"[\w$]+")

Named = tuple[tuple["GradedJoin", ...], tuple[str, ...]]
"""Joins of the statement, and part ids for named ones that are none of its own."""


class JoinIndex:
    """The joins of one statement, found by id, by part, or by the tables they join.

    Looked up once for each name and not searched, because a file may hold a thousand joins, all between the same two
    tables, and a thousand totals that name them all.
    """

    def __init__(self, joins: Sequence[GradedJoin]) -> None:
        self._joins = tuple(joins)
        self._by_name: dict[str, list[GradedJoin]] = {}
        self._by_tables: dict[frozenset[str], list[GradedJoin]] = {}
        self._known: dict[str, Named] = {}
        for join in joins:
            names = {fold(join.part.part).removeprefix("join:"), fold(join.id or "")} - {""}
            for name in names:
                self._by_name.setdefault(name, []).append(join)
            if join.endpoints:
                self._by_tables.setdefault(frozenset(map(table_name, join.endpoints)), []).append(join)

    def dependencies(self, references: Sequence[str] | None) -> Named:
        """What `references` name. None, where nobody said, is every join.

        A reference is a join's id, its part, or tables along an arrow, each two neighbours a join. Of two joins
        between the same tables a reference cannot mean one alone, so it stands on both.
        """
        if references is None:
            return self._joins, ()
        found: dict[int, GradedJoin] = {}
        unlisted: dict[str, None] = {}
        named = list(dict.fromkeys(map(fold, references)))
        for reference in named[:MAX_REFERENCES]:
            if reference not in self._known:
                self._known[reference] = self._look_up(reference)
            joins, missing = self._known[reference]
            found |= {id(join): join for join in joins}
            unlisted |= dict.fromkeys(missing)
        beyond = ("join:*",) if len(named) > MAX_REFERENCES else ()
        return tuple(found.values()), (*unlisted, *beyond)

    def _look_up(self, reference: str) -> Named:
        name = reference.removeprefix("join:")
        tables = [table for table in _ARROW.split(reference) if table]
        if name in self._by_name:
            exact = self._by_name[name]
            pairs = dict.fromkeys(join.endpoints for join in exact if join.endpoints)
            return (*(j for j in exact if not j.endpoints), *(j for pair in pairs for j in self._between(pair))), ()
        if len(tables) < 2:
            mentioned = self._mentioned(list(dict.fromkeys(_NAME.findall(name))))
            return mentioned, () if mentioned else ("join:*",)
        between = [(pair, self._between(pair)) for pair in pairwise(tables)]
        missing = ("join:" + "-".join(sorted(pair)) for pair, joins in between if not joins)
        return tuple(join for _, joins in between for join in joins), tuple(missing)

    def _mentioned(self, words: list[str]) -> tuple[GradedJoin, ...]:
        """The joins whose tables are both among the words of a predicate: `orders.customer_id = customers.id`."""
        if len(words) > _MAX_WORDS:
            return ()
        pairs = (frozenset(pair) for pair in combinations_with_replacement(words, 2))
        return tuple(join for pair in pairs for join in self._by_tables.get(pair, ()))

    def _between(self, tables: tuple[str, str]) -> list[GradedJoin]:
        one, other = tables
        return [
            join
            for join in self._by_tables.get(frozenset(map(table_name, tables)), ())
            if join.endpoints
            and any(
                same_table(left, one) and same_table(right, other)
                for left, right in (join.endpoints, join.endpoints[::-1])
            )
        ]
