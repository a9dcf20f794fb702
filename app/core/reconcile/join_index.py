"""Which joins a total stands on, by whatever name it knows them."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from app.core.reconcile.fold import fold
from app.core.reconcile.same_table import same_table, table_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.core.reconcile.graded_joins import GradedJoin

_ARROW = re.compile(r"\s*(?:→|⟶|⇒|->|=>|⋈|[\u2013\u2014])\s*|\s+(?:-|join|to)\s+", re.IGNORECASE)
_NAME = re.compile(r"[\w$]+")


class JoinIndex:
    """The joins of one statement, found by id, by part, or by the tables they join.

    Looked up and not searched, because a file may hold a thousand joins and a thousand totals that name them all.
    """

    def __init__(self, joins: Sequence[GradedJoin]) -> None:
        self._joins = joins
        self._by_name: dict[str, list[GradedJoin]] = {}
        self._by_tables: dict[frozenset[str], list[GradedJoin]] = {}
        self._by_table: dict[str, list[GradedJoin]] = {}
        for join in joins:
            self._by_name.setdefault(fold(join.part.part).removeprefix("join:"), []).append(join)
            if join.endpoints:
                tables = frozenset(map(table_name, join.endpoints))
                self._by_tables.setdefault(tables, []).append(join)
                for table in tables:
                    self._by_table.setdefault(table, []).append(join)
            if join.id:
                self._by_name.setdefault(fold(join.id), []).append(join)

    def dependencies(self, references: Sequence[str] | None) -> tuple[list[GradedJoin], list[str]]:
        """The joins that `references` name, and part ids for those they name that the statement does not list.

        A reference is a join's id, its part, or tables along an arrow, each two neighbours a join. Of two joins
        between the same tables a reference cannot mean one alone, so it stands on both. None, where nobody said, is
        every join.
        """
        if references is None:
            return list(self._joins), []
        found: dict[int, GradedJoin] = {}
        unlisted: list[str] = []
        for reference in references:
            named, missing = self._named(reference)
            found |= {id(join): join for join in named}
            unlisted += missing
        return list(found.values()), unlisted

    def _named(self, reference: str) -> tuple[list[GradedJoin], list[str]]:
        folded = fold(reference).removeprefix("join:")
        exact = self._by_name.get(folded)
        if exact:
            return [j for join in exact for j in (self._between(join.endpoints) if join.endpoints else [join])], []
        tables = [table for table in _ARROW.split(reference.strip()) if table]
        if len(tables) < 2:
            words = set(_NAME.findall(folded))
            near = [join for word in words for join in self._by_table.get(word, ())]
            named = [join for join in near if join.endpoints and {table_name(e) for e in join.endpoints} <= words]
            return named, [] if named else ["join:*"]
        found: list[GradedJoin] = []
        unlisted: list[str] = []
        for pair in pairwise(tables):
            between = self._between(pair)
            found += between
            if not between:
                unlisted.append("join:" + "-".join(sorted(pair, key=fold)))
        return found, unlisted

    def _between(self, tables: tuple[str, str]) -> list[GradedJoin]:
        one, other = tables
        near = self._by_tables.get(frozenset(map(table_name, tables)), ())
        return [
            join
            for join in near
            if join.endpoints
            and any(
                same_table(left, one) and same_table(right, other)
                for left, right in (join.endpoints, join.endpoints[::-1])
            )
        ]
