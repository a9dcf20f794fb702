"""From a vault of notes to the block of context that five writers of one statement are given.

A vault is a folder of Markdown files with YAML front matter; `docs/vault.md` has every key. Nothing is opened here:
the caller reads the files.
"""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from app.core.consensus.context_block import (
    ConceptContext,
    ContextBlock,
    FieldContext,
    NamedText,
    RelationContext,
    ViewContext,
)
from app.core.consensus.links import check_links, end_target, ends_of, field_named
from app.core.consensus.note_keys import (
    ConceptKeys,
    FieldKeys,
    LoreKeys,
    RelationKeys,
    SourceKeys,
    TopicKeys,
    ViewKeys,
    links_in,
    note_name,
    without_links,
)
from app.core.consensus.notes import read_notes
from app.core.consensus.selection import select
from app.core.consensus.substitute import mentions_table, references, substitute
from app.core.consensus.vault_errors import BrokenSql

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from app.core.consensus.notes import Note

_COLUMN = re.compile(r"""\w+(?:[ $#-]\w+)*|"[^"]+"|`[^`]+`|\[[^\[\]]+\]""")
_OWN_COLUMN = re.compile(r"""\$\{\s*TABLE\s*\}\.([^\W\d]\w*|"[^"]+"|`[^`]+`)""")


def assemble_context(vault: Mapping[str, str], names: Iterable[str]) -> ContextBlock:
    """The context for a question about the notes `names`, complete without the vault.

    Arguments: `vault`, file name (folders and all) to the file's text; `names`, notes by name, in any order, with
    or without the `[[ ]]`.
    Raises a `VaultError` that names what is wrong with the vault, or the name that is not in it. The whole vault is
    checked, not only the part asked for.

    >>> vault = {
    ...     "orders.md": "---\\ntype: view\\ntable: shop.orders\\nprimary_key: id\\n---\\n",
    ...     "orders.net.md": '''---
    ... type: field
    ... view: "[[orders]]"
    ... kind: metric
    ... sql: SUM(${TABLE}.gross - ${TABLE}.tax)
    ... ---''',
    ... }
    >>> assemble_context(vault, ["orders.net"]).fields[0].sql
    'SUM(shop.orders.gross - shop.orders.tax)'
    """
    notes = read_notes(vault)
    check_links(notes)
    return _Assembly(notes, select(notes, names)).block()


class _Assembly:
    """The parts of a block, from the notes chosen for it and the SQL of their fields."""

    def __init__(self, notes: Mapping[str, Note], chosen: frozenset[str]) -> None:
        self.notes = notes
        self.chosen = [notes[name] for name in sorted(chosen)]
        self.sql = self._resolved(chosen)

    def block(self) -> ContextBlock:
        # One tuple a type, each in the order of names, which `chosen` already is.
        return ContextBlock(
            sources=tuple(_named(n) for n in self.chosen if isinstance(n.keys, SourceKeys)),
            views=tuple(self._view(n, n.keys) for n in self.chosen if isinstance(n.keys, ViewKeys)),
            fields=tuple(self._field(n, n.keys) for n in self.chosen if isinstance(n.keys, FieldKeys)),
            relations=tuple(self._relation(n, n.keys) for n in self.chosen if isinstance(n.keys, RelationKeys)),
            concepts=tuple(self._concept(n, n.keys) for n in self.chosen if isinstance(n.keys, ConceptKeys)),
            topics=tuple(_named(n) for n in self.chosen if isinstance(n.keys, TopicKeys)),
            lore=tuple(_named(n) for n in self.chosen if isinstance(n.keys, LoreKeys)),
        )

    def _resolved(self, chosen: frozenset[str]) -> dict[str, str]:
        """The complete SQL of each chosen field. What a field names is chosen too, and comes before it."""
        graph = {
            name: [note_name(ref) for ref in references(keys.sql)]
            for name in sorted(chosen)
            if isinstance(keys := self.notes[name].keys, FieldKeys)
        }
        sql: dict[str, str] = {}
        for name in TopologicalSorter(graph).static_order():
            keys = self.notes[name].keys
            if isinstance(keys, FieldKeys):
                sql[name] = self._inlined(self.notes[name], keys.sql, self._table(keys.view), sql)
        return sql

    def _inlined(self, note: Note, sql: str, table: str, fields: Mapping[str, str]) -> str:
        written = {name: fields[note_name(name)] for name in references(sql)}
        try:
            return substitute(sql, table, written)
        except OverflowError:
            raise BrokenSql(note.file, "with everything inlined the SQL is too long; name fewer fields in it") from None

    def _table(self, view: str) -> str:
        keys = self.notes[view].keys
        return keys.table if isinstance(keys, ViewKeys) else view

    def _view(self, note: Note, keys: ViewKeys) -> ViewContext:
        source = links_in(keys.source or "")
        return ViewContext(
            name=note.name,
            table=keys.table,
            primary_key=tuple(self._column(text) for text in keys.primary_key),
            one_row_means=" ".join((keys.one_row_means or "").split()) or None,
            dedup_key=tuple(self._column(text) for text in keys.dedup_key),
            restricted_columns=self._restricted(note, keys),
            source=source[0] if source else keys.source,
            text=without_links(note.body),
        )

    def _column(self, text: str) -> str:
        """A key as a column: a field that is one is given by its column, another by its SQL."""
        name = field_named(text, self.notes)
        keys = self.notes[name].keys if name is not None else None
        sql = keys.sql if isinstance(keys, FieldKeys) else text
        own = _OWN_COLUMN.fullmatch(sql.strip())
        return own[1] if own else self.sql[name] if name is not None else text

    def _restricted(self, note: Note, keys: ViewKeys) -> tuple[str, ...]:
        columns = tuple(self._column(text) for text in keys.restricted_columns)
        for column in columns:
            if not _COLUMN.fullmatch(column):
                # A calculation names no column, and a statement that reads what is in it would pass.
                raise BrokenSql(note.file, f"`restricted_columns` are columns by name, and `{column}` is none")
        return columns

    def _field(self, note: Note, keys: FieldKeys) -> FieldContext:
        table, sql = self._table(keys.view), self.sql[note.name]
        view = self.notes[keys.view]
        restricted = self._restricted(view, view.keys) if isinstance(view.keys, ViewKeys) else ()
        return FieldContext(
            name=note.name,
            view=keys.view,
            kind=keys.kind,
            sql=sql,
            agg=keys.agg,
            filters=tuple(self._inlined(note, condition, table, self.sql) for condition in keys.filters),
            semi_additive=", ".join(" ".join(links_in(text)) or text for text in keys.semi_additive) or None,
            built_from=tuple(dict.fromkeys(note_name(ref) for ref in references(keys.sql))),
            restricted=tuple(c for c in restricted if re.search(rf"(?<!\w){re.escape(c)}(?!\w)", sql, re.IGNORECASE)),
            text=without_links(note.body),
        )

    def _relation(self, note: Note, keys: RelationKeys) -> RelationContext:
        (left, left_key), (right, right_key) = (self._end(text) for _, text in ends_of(keys))
        name = re.sub(r"\W", "_", left)
        left_alias, right_alias = (f"{name}_left", f"{name}_right") if left == right else (None, None)
        if keys.join_sql is not None:
            join_sql = self._join_condition(note, keys.join_sql, to_itself=left == right)
        elif left_key is None or right_key is None:
            raise BrokenSql(note.file, "`from` and `to` are fields, or `join_sql` says how the views are joined")
        elif left == right and references(left_key + right_key):
            raise BrokenSql(note.file, "a view is joined to itself by plain columns, or `join_sql` says how")
        else:
            sides = {
                "left": self._inlined(note, left_key, left_alias or self._table(left), self.sql),
                "right": self._inlined(note, right_key, right_alias or self._table(right), self.sql),
            }
            join_sql = self._inlined(note, "${[[left]]} = ${[[right]]}", "", sides)
        return RelationContext(
            name=note.name,
            left=left,
            right=right,
            cardinality=keys.cardinality,
            join_type=keys.join_type,
            join_sql=join_sql,
            left_alias=left_alias,
            right_alias=right_alias,
            text=without_links(note.body),
        )

    def _join_condition(self, note: Note, sql: str, *, to_itself: bool) -> str:
        if mentions_table(sql):
            raise BrokenSql(note.file, "`join_sql` joins two tables; write ${[[view.field]]} for ${TABLE}")
        if to_itself and references(sql):
            # Both sides of the view would get the same table name, and the condition compare a row with itself.
            raise BrokenSql(
                note.file, "in `join_sql` of a view to itself, write view_left.column and view_right.column"
            )
        return self._inlined(note, sql, "", self.sql)

    def _end(self, text: str) -> tuple[str, str | None]:
        """The view at an end of a relation, and the SQL of its key before any table is put in; None: a whole view."""
        target = end_target(text, self.notes)
        keys = self.notes[target].keys
        if isinstance(keys, FieldKeys):
            return keys.view, keys.sql
        column = note_name(text).removeprefix(f"{target}.")
        return target, f"${{TABLE}}.{column}" if column != target and not links_in(text) else None

    def _concept(self, note: Note, keys: ConceptKeys) -> ConceptContext:
        """A concept with what it inherits, the furthest ancestor first."""
        line = [(note, keys)]
        while (extends := line[0][1].extends) and isinstance(base := self.notes[extends].keys, ConceptKeys):
            line.insert(0, (self.notes[extends], base))
        fields: dict[str, None] = {}
        filters: dict[str, None] = {}
        for ancestor, said in line:
            fields |= dict.fromkeys(said.fields_)
            if said.filter:
                filters[self._concept_filter(ancestor, said.filter, tuple(fields))] = None
        return ConceptContext(note.name, tuple(fields), tuple(filters), without_links(note.body))

    def _concept_filter(self, note: Note, condition: str, fields: tuple[str, ...]) -> str:
        views = {keys.view for name in fields if isinstance(keys := self.notes[name].keys, FieldKeys)}
        if mentions_table(condition) and len(views) != 1:
            raise BrokenSql(
                note.file, "`filter` has ${TABLE}, and its fields are of several views; write ${[[view.field]]}"
            )
        return self._inlined(note, condition, self._table(min(views)) if views else "", self.sql)


def _named(note: Note) -> NamedText:
    return NamedText(note.name, without_links(note.body))
