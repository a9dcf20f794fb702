"""Why candidates part, and what to do next: stated rules over the differing axis and the context, first match counts.

The context is whatever describes the tables to the agents; only the attributes named here are read. Where no rule
fits the cause is `unexplained`, which is said as such.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from app.core.consensus.described import Context, Field, Relation, View
    from app.core.consensus.facts import Axis, Difference

Cause = Literal["ambiguous_question", "missing_context", "conflicting_context", "grain_confusion", "unexplained"]
StepKind = Literal["ask_user", "refine_context", "state_grain"]


@dataclass(frozen=True)
class Step:
    """What to do about a dispute. `names` are the items of the context it is about, or the tables it lacks."""

    kind: StepKind
    text: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """`settled_by` names the item of the context that decides the matter; None when none does."""

    cause: Cause
    step: Step
    settled_by: str | None = None


@dataclass(frozen=True)
class Situation:
    """One difference, the tables that the two statements read, and the context, if there is one."""

    difference: Difference
    tables: tuple[str, ...]
    context: Context | None

    @property
    def texts(self) -> tuple[str, ...]:
        return (*self.difference.left, *self.difference.right)

    def views(self) -> list[View]:
        """The views of the tables that the difference names, or else of all tables read."""
        if self.context is None:
            return []
        # A statement may write the schema and the context not, or the other way round.
        tables = [_short(t) for t in self.tables]
        named = [t for t in tables if any(re.search(rf"\b{re.escape(t)}(_\d+)?\b", x) for x in self.texts)]
        return [v for v in self.context.views if _short(v.table) in (named or tables)]


def _short(table: str) -> str:
    return table.lower().rsplit(".", 1)[-1]


def find_cause(situation: Situation) -> Finding:
    """The cause of a difference by the first of `RULES` that fits, with the next step."""
    for rule in RULES:
        found = rule(situation)
        if found is not None:
            return found
    raise AssertionError("the last rule always fits")


def unproven(situation: Situation) -> Finding | None:
    """`undetermined` is no difference in meaning that could be explained."""
    if situation.difference.axis != "undetermined":
        return None
    reasons = ", ".join(sorted(set(situation.texts))) or "no difference was found, and no proof that there is none"
    return Finding("unexplained", Step("refine_context", f"Ask for a plainer statement: {reasons}."))


def conflicting_relations(situation: Situation) -> Finding | None:
    """Two relations of the context between the same views join them differently."""
    if situation.context is None or situation.difference.axis not in ("joins", "tables"):
        return None
    views = {v.name for v in situation.views()}
    by_ends: dict[frozenset[str], list[Relation]] = {}
    for relation in situation.context.relations:
        if relation.left in views or relation.right in views:
            by_ends.setdefault(frozenset((relation.left, relation.right)), []).append(relation)
    for relations in by_ends.values():
        if len({(r.join_sql, r.join_type) for r in relations}) > 1:
            names = tuple(sorted(r.name for r in relations))
            return Finding(
                "conflicting_context",
                Step("refine_context", f"Say which relation holds here: {', '.join(names)}.", names),
            )
    return None


def conflicting_metrics(situation: Situation) -> Finding | None:
    """Two metrics of one view are about the same column and aggregate or filter it differently, and the candidates
    part on just that."""
    if situation.context is None or situation.difference.axis not in ("aggregates", "filters", "having"):
        return None
    views = {v.name for v in situation.views()}
    metrics = [
        f for f in situation.context.fields if f.kind == "metric" and f.view in views and _mentioned(f, situation)
    ]
    for i, one in enumerate(metrics):
        for other in metrics[i + 1 :]:
            same = _columns(one) & _columns(other)
            if same and one.view == other.view and (one.agg, one.filters) != (other.agg, other.filters):
                names = tuple(sorted((one.name, other.name)))
                return Finding(
                    "conflicting_context",
                    Step("refine_context", f"Say which metric is meant: {', '.join(names)}.", names),
                )
    return None


def _columns(field: Field) -> set[str]:
    words = re.findall(r"[a-z_][a-z0-9_]*", (field.sql or "").replace("${TABLE}", "").lower())
    return set(words) - {"sum", "count", "avg", "min", "max", "distinct", "table", "cast", "as"}


def _mentioned(field: Field, situation: Situation) -> bool:
    words = set(re.findall(r"[a-z_][a-z0-9_]*", " ".join(situation.texts).lower()))
    filtered = {w for f in field.filters for w in re.findall(r"[a-z_][a-z0-9_]*", f.lower())}
    return bool((_columns(field) | filtered) & words)


def grain(situation: Situation) -> Finding | None:
    """The statements count different things: duplicates removed in one, groups of another kind, rows against values."""
    axis, difference = situation.difference.axis, situation.difference
    distinct = [x for x in situation.texts if "DISTINCT" in x]
    counts = [x for x in situation.texts if x.startswith("COUNT(")]
    same_but_distinct = bool(distinct) and {x.replace("DISTINCT ", "") for x in difference.left} == {
        x.replace("DISTINCT ", "") for x in difference.right
    }
    both_count = (
        bool(counts) and len(counts) == len(situation.texts) and bool(difference.left) and bool(difference.right)
    )
    union = axis == "set_operations" and {"UNION"} & set(situation.texts)
    if not (axis in ("distinct", "grouping") or (axis == "aggregates" and (same_but_distinct or both_count)) or union):
        return None
    views = situation.views()
    stated = [v for v in views if v.one_row_means or v.dedup_key]
    if stated:
        text = " ".join(_grain_of(v) for v in stated)
        names = tuple(v.name for v in stated)
        return Finding("grain_confusion", Step("state_grain", text, names), settled_by=", ".join(names))
    tables = ", ".join(situation.tables)
    return Finding(
        "grain_confusion",
        Step(
            "state_grain", f"State what one row means, and what makes rows duplicates, in: {tables}.", situation.tables
        ),
    )


def _grain_of(view: View) -> str:
    text = f"One row of {view.table} is {view.one_row_means}." if view.one_row_means else f"Rows of {view.table}:"
    return f"{text} Duplicates share {', '.join(view.dedup_key)}." if view.dedup_key else text


def described_join(situation: Situation) -> Finding | None:
    """The context has one relation for the tables that are joined differently: it settles the matter."""
    if situation.context is None or situation.difference.axis not in ("joins", "tables"):
        return None
    views = {v.name for v in situation.views()}
    found = [r for r in situation.context.relations if r.left in views and r.right in views]
    if len(found) != 1:
        return None
    relation = found[0]
    how = f"{relation.join_type.upper()} JOIN ON {relation.join_sql}"
    text = f"Join {relation.left} and {relation.right} by {relation.name}: {how}."
    return Finding("unexplained", Step("refine_context", text, (relation.name,)), settled_by=relation.name)


def missing_tables(situation: Situation) -> Finding | None:
    """A table that a candidate reads, or a way to join the tables, is not in the context."""
    if situation.difference.axis not in ("joins", "tables"):
        return None
    if situation.context is None:
        tables = ", ".join(situation.tables)
        return Finding(
            "missing_context",
            Step("refine_context", f"Fetch how these tables are related: {tables}.", situation.tables),
        )
    known = {_short(v.table) for v in situation.context.views}
    absent = tuple(t for t in situation.tables if _short(t) not in known)
    if absent:
        return Finding("missing_context", Step("refine_context", f"Fetch the views of: {', '.join(absent)}.", absent))
    views = [v.name for v in situation.views()]
    text = f"Fetch the relation between: {', '.join(views or situation.tables)}."
    return Finding("missing_context", Step("refine_context", text, tuple(views or situation.tables)))


def described_metric(situation: Situation) -> Finding | None:
    """The context defines one metric over what is aggregated or filtered differently: it settles the matter."""
    if situation.context is None or situation.difference.axis not in ("aggregates", "filters", "having"):
        return None
    views = {v.name for v in situation.views()}
    found = [f for f in situation.context.fields if f.kind == "metric" and f.view in views and _mentioned(f, situation)]
    if len(found) != 1 or (situation.difference.axis == "filters" and not found[0].filters):
        return None
    metric = found[0]
    only = f", only where {' AND '.join(metric.filters)}" if metric.filters else ""
    text = f"{metric.name} is {(metric.agg or '').upper()}({metric.sql}){only}."
    return Finding("unexplained", Step("refine_context", text, (metric.name,)), settled_by=metric.name)


def missing_metric(situation: Situation) -> Finding | None:
    """What is to be computed is not defined anywhere."""
    if situation.difference.axis != "aggregates":
        return None
    tables = ", ".join(situation.tables)
    return Finding(
        "missing_context",
        Step("refine_context", f"Fetch the definition of the metric asked for, over: {tables}.", situation.tables),
    )


def ambiguous(situation: Situation) -> Finding | None:
    """Which rows, which columns, which order, how many: what the question leaves open, only its author can say."""
    question = _QUESTIONS.get(situation.difference.axis)
    if question is None:
        return None
    left, right = (
        " and ".join(side) or "nothing of the kind" for side in (situation.difference.left, situation.difference.right)
    )
    return Finding("ambiguous_question", Step("ask_user", f"{question} {left}, or {right}?"))


_QUESTIONS: dict[Axis, str] = {
    "filters": "Which rows count:",
    "having": "Which groups count:",
    "outputs": "Which columns are wanted:",
    "ordering": "Which order is meant:",
    "limit": "How many rows are wanted:",
    "windows": "What is ranked or accumulated:",
}


def nothing_fits(situation: Situation) -> Finding | None:
    """The last rule: no cause is stated where none is known."""
    axis = situation.difference.axis.replace("_", " ")
    return Finding("unexplained", Step("ask_user", f"The answers differ in {axis}: which is meant?"))


RULES: tuple[Callable[[Situation], Finding | None], ...] = (
    unproven,
    conflicting_relations,
    conflicting_metrics,
    grain,
    described_join,
    missing_tables,
    described_metric,
    missing_metric,
    ambiguous,
    nothing_fits,
)


def tables_of(facts: Iterable[tuple[str, tuple[str, ...]]]) -> tuple[str, ...]:
    """The tables among a reading's facts."""
    return tuple(dict.fromkeys(t for axis, items in facts if axis == "tables" for t in items))
