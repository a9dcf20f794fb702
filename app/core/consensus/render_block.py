"""A context block as Markdown, one fact a line."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from app.core.consensus.context_block import (
        ConceptContext,
        ContextBlock,
        FieldContext,
        NamedText,
        RelationContext,
        ViewContext,
    )

_HEADING = re.compile(r"(#{1,6})\s")

_HEAD = """\
# Context

This is all that is described. Columns are written with the name of their table; where a statement gives a table an
alias, the alias takes its place. An aggregation says how a metric's SQL is aggregated, and is not applied again where
the SQL already holds it. What is "not stated" is not known.
"""


def render_block(block: ContextBlock) -> str:
    """`block` as Markdown; parts that hold nothing are left out.

    >>> from app.core.consensus.context_block import ContextBlock, NamedText
    >>> rule = NamedText("tax", "Revenue excludes tax.")
    >>> render_block(ContextBlock((), (), (), (), (), (), (rule,))).splitlines()[-3:]
    ['### tax', '', 'Revenue excludes tax.']
    """
    tables = {view.name: view.table for view in block.views}
    parts = (
        ("Sources", [_named(source) for source in block.sources]),
        ("Topics", [_named(topic) for topic in block.topics]),
        ("Tables", [_view(view) for view in block.views]),
        ("Fields", [_field(field) for field in block.fields]),
        ("Relations", [_relation(relation, tables) for relation in block.relations]),
        ("Concepts", [_concept(concept) for concept in block.concepts]),
        ("Rules", [_named(lore) for lore in block.lore]),
    )
    return _HEAD + "".join(f"\n## {title}\n" + "".join(entries) for title, entries in parts if entries)


def _named(note: NamedText) -> str:
    return _entry(note.name, (), note.text)


def _view(view: ViewContext) -> str:
    facts = [
        ("table", _code(view.table)),
        ("source", view.source),
        ("primary key", _codes(view.primary_key) or "not stated"),
        ("one row means", view.one_row_means or "not stated"),
        ("dedup key", _codes(view.dedup_key)),
        ("restricted columns (never select them or filter on them)", _codes(view.restricted_columns)),
    ]
    return _entry(view.name, facts, view.text)


def _field(field: FieldContext) -> str:
    facts = [
        ("view", field.view),
        ("kind", field.kind),
        ("SQL", _code(field.sql)),
        ("aggregation", field.agg),
        *(("default filter", _code(condition)) for condition in field.filters),
        ("semi-additive: not to be summed over", field.semi_additive),
        ("built from, each with its own filters", ", ".join(field.built_from)),
        ("reads restricted columns", _codes(field.restricted)),
    ]
    return _entry(field.name, facts, field.text)


def _relation(relation: RelationContext, tables: dict[str, str]) -> str:
    def side(view: str, alias: str | None) -> str:
        return f"{view}, table {_code(f'{tables[view]} AS {alias}' if alias else tables[view])}"

    facts = [
        ("left", side(relation.left, relation.left_alias)),
        ("right", side(relation.right, relation.right_alias)),
        ("cardinality, left to right", relation.cardinality),
        ("join type", f"{relation.join_type.upper()} JOIN"),
        ("on", _code(relation.join_sql)),
    ]
    return _entry(relation.name, facts, relation.text)


def _concept(concept: ConceptContext) -> str:
    facts = [("fields", ", ".join(concept.fields)), *(("filter", _code(sql)) for sql in concept.filters)]
    return _entry(concept.name, facts, concept.text)


def _entry(name: str, facts: Iterable[tuple[str, str | None]], text: str) -> str:
    lines = [f"- {label}: {value}" for label, value in facts if value]
    parts = ["\n".join(lines), _demoted(text)]
    return f"\n### {name}\n" + "".join(f"\n{part}\n" for part in parts if part)


def _demoted(text: str) -> str:
    """Prose with its headings below the block's own, so that a note's `# Orders` does not end the section."""
    lines, in_code = [], False
    for line in text.split("\n"):
        in_code ^= line.lstrip().startswith(("```", "~~~"))
        heading = None if in_code else _HEADING.match(line)
        lines.append("#" * min(6, len(heading[1]) + 3) + line[heading.end(1) :] if heading else line)
    return "\n".join(lines)


def _code(sql: str) -> str:
    """SQL as written; on lines of its own when it has several, since a code span would run them together."""
    if "\n" in sql:
        return f"\n\n{textwrap.indent(textwrap.dedent(sql), '      ')}\n"
    fence = "``" if "`" in sql else "`"
    return f"{fence} {sql} {fence}" if fence == "``" else f"`{sql}`"


def _codes(columns: Sequence[str]) -> str:
    return ", ".join(_code(column) for column in columns)
