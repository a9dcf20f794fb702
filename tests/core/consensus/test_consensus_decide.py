"""From a comparison to a decision: how many must agree, which cause, which step, and what comes out."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest

from app.core.consensus import Candidate, compare, decide, needed_of, round_of
from app.core.consensus.causes import RULES, Situation, find_cause
from app.core.consensus.facts import Difference

SCHEMA = {"orders": {"id": "int primary key", "status": "text", "qty": "int not null"}}
PAID = "SELECT id FROM orders WHERE status = 'paid'"
PAID_LONG = "SELECT o.id AS order_id FROM orders AS o WHERE 'paid' = o.status AND 1 = 1"
ALL = "SELECT id FROM orders"


@dataclass(frozen=True)
class View:
    name: str
    table: str
    primary_key: tuple[str, ...] = ()
    one_row_means: str | None = None
    dedup_key: tuple[str, ...] = ()
    restricted_columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Metric:
    name: str
    view: str
    sql: str | None
    agg: str | None
    filters: tuple[str, ...] = ()
    kind: str = "metric"


@dataclass(frozen=True)
class Relation:
    name: str
    left: str
    right: str
    join_sql: str | None
    join_type: str = "left"
    cardinality: str | None = None


@dataclass(frozen=True)
class Context:
    views: tuple[View, ...] = ()
    fields: tuple[Metric, ...] = ()
    relations: tuple[Relation, ...] = ()
    lore: tuple[()] = field(default=())


ORDERS = View("orders", "shop.orders", one_row_means="one order", dedup_key=("number",))
CUSTOMERS = View("customers", "customers")
PLACED = Relation("placed_by", "orders", "customers", "orders.customer_id = customers.id")
BILLED = Relation("billed_to", "orders", "customers", "orders.payer_id = customers.id")
GROSS = Metric("gross", "orders", "amount", "sum")
NET = Metric("net", "orders", "amount", "sum", ("status = 'paid'",))
KNOWN = Context((ORDERS, CUSTOMERS), (), (PLACED,))


def situation(axis: str, left: tuple[str, ...], right: tuple[str, ...], context: Context | None = None) -> Situation:
    return Situation(Difference(axis, left, right), ("orders", "customers"), context)  # type: ignore[arg-type]  # an axis by its name


JOINS = (
    "joins",
    ("JOIN ON orders.customer_id = customers.id",),
    ("LEFT JOIN customers ON orders.customer_id = customers.id",),
)
CAUSES = {
    "unproven": (situation("undetermined", (), ()), "unexplained", "refine_context", None),
    "conflicting-relations": (situation(*JOINS, Context((ORDERS, CUSTOMERS), (), (PLACED, BILLED))), "conflicting_context", "refine_context", None),
    "conflicting-metrics": (situation("aggregates", ("SUM(orders.amount)",), ("SUM(orders.amount) FILTER (WHERE orders.status = 'paid')",), Context((ORDERS,), (GROSS, NET))), "conflicting_context", "refine_context", None),
    "grain-stated": (situation("distinct", ("DISTINCT orders.id",), (), KNOWN), "grain_confusion", "state_grain", "orders"),
    "grain-unstated": (situation("aggregates", ("COUNT(*)",), ("COUNT(DISTINCT orders.id)",)), "grain_confusion", "state_grain", None),
    "grain-of-union": (situation("set_operations", ("UNION",), ()), "grain_confusion", "state_grain", None),
    "described-join": (situation(*JOINS, KNOWN), "unexplained", "refine_context", "placed_by"),
    "no-context": (situation(*JOINS), "missing_context", "refine_context", None),
    "missing-view": (situation("tables", ("customers",), (), Context((ORDERS,))), "missing_context", "refine_context", None),
    "missing-relation": (situation(*JOINS, Context((ORDERS, CUSTOMERS))), "missing_context", "refine_context", None),
    "described-metric": (situation("filters", ("orders.status = 'paid'",), (), Context((ORDERS,), (NET,))), "unexplained", "refine_context", "net"),
    "missing-metric": (situation("aggregates", ("SUM(orders.amount)",), ("AVG(orders.amount)",)), "missing_context", "refine_context", None),
    "ambiguous-filter": (situation("filters", ("orders.qty > 1",), ("orders.qty > 2",), KNOWN), "ambiguous_question", "ask_user", None),
    "ambiguous-limit": (situation("limit", ("LIMIT 1",), ()), "ambiguous_question", "ask_user", None),
    "nothing-fits": (situation("set_operations", ("EXCEPT ALL",), ("INTERSECT ALL",)), "unexplained", "ask_user", None),
}  # fmt: skip


@pytest.mark.parametrize(("given", "cause", "step", "settled"), CAUSES.values(), ids=CAUSES.keys())
def test_cause_follows_from_axis_and_context(given: Situation, cause: str, step: str, settled: str | None) -> None:
    found = find_cause(given)
    assert (found.cause, found.step.kind, found.settled_by) == (cause, step, settled)
    assert found.step.text


def test_every_rule_of_causes_decides_some_case() -> None:
    deciding = {next(r for r in RULES if r(given) is not None).__name__ for given, *_ in CAUSES.values()}
    assert deciding == {r.__name__ for r in RULES}


def test_grain_step_states_row_and_duplicates() -> None:
    found = find_cause(CAUSES["grain-stated"][0])
    assert found.step.text == "One row of shop.orders is one order. Duplicates share number."


def test_four_of_five_is_consensus_with_the_cleanest_of_the_four() -> None:
    candidates = [
        Candidate(PAID_LONG, ("orders", "status"), ("refunds",)), Candidate(ALL, ("orders",)), Candidate(PAID, ("orders",)),
        Candidate(PAID_LONG, ("paid",), ("refunds", "tax")), Candidate(PAID + "  ", ()),
    ]  # fmt: skip
    found = round_of(candidates, round=2, refinements=["said before"], schema=SCHEMA)
    assert found.outcome == "consensus"
    assert found.sql == PAID
    assert found.record() == {
        "sql": PAID, "in_data_model": ["orders", "status", "paid"], "not_in_data_model": ["refunds", "tax"],
        "consensus_round": 2, "refinements": ["said before"], "unresolved": None,
    }  # fmt: skip
    assert found.next_round is None
    json.dumps(found.as_dict())


@pytest.mark.parametrize(
    "split",
    [[PAID, PAID_LONG, PAID, ALL, ALL], [PAID, PAID, PAID, ALL, "SELECT 1"], [PAID, PAID, PAID, "SELEC", "nope("]],
)
def test_three_of_five_is_never_consensus(split: list[str]) -> None:
    found = round_of(split, schema=SCHEMA)
    assert (found.outcome, found.sql, found.next_round) == ("disagreement", None, 2)
    assert found.record()["consensus_round"] is None


def test_disagreement_names_both_assumptions_and_the_question() -> None:
    found = round_of([PAID, PAID, PAID, ALL, ALL], schema=SCHEMA)
    (dispute,) = found.disputes
    assert dispute.axis == "filters"
    assert [v.members for v in dispute.variants] == [(0, 1, 2), (3, 4)]
    assert [v.assumption for v in dispute.variants] == [
        "filters: orders.status = 'paid'",
        "filters: nothing besides what both have",
    ]
    assert dispute.step.kind == "ask_user"
    assert not dispute.context_settles
    assert found.next_refinements == (dispute.step.text,)


def test_third_round_without_consensus_is_unresolved_and_readable() -> None:
    found = round_of(
        [PAID, PAID, PAID, ALL, "DELETE FROM orders"], round=3, refinements=["the grain of orders"], schema=SCHEMA
    )
    assert found.outcome == "unresolved"
    assert found.next_round is None
    assert found.unresolved is not None
    for part in ("3 rounds", "orders.status = 'paid'", "it writes", "the grain of orders"):
        assert part in found.unresolved
    assert found.record()["unresolved"] == found.unresolved


def test_rounds_pass_their_state_through_the_caller() -> None:
    refinements: tuple[str, ...] = ()
    number: int | None = 1
    seen = []
    while number is not None:
        found = round_of([PAID, ALL, PAID, ALL, PAID], round=number, refinements=refinements, schema=SCHEMA)
        seen.append(found.outcome)
        number, refinements = found.next_round, found.next_refinements
    assert seen == ["disagreement", "disagreement", "unresolved"]
    assert len(refinements) == 1


def test_no_valid_candidate_is_no_consensus() -> None:
    found = round_of(["nope(", "nope(", "nope("], round=3)
    assert (found.outcome, found.classes) == ("unresolved", ())
    assert [reason for _, reason in found.invalid] == ["unparseable"] * 3


def test_one_candidate_is_no_quorum() -> None:
    assert round_of([PAID]).outcome == "disagreement"


@pytest.mark.parametrize(("round_number", "needed"), [(0, None), (4, None), (1, 3), (1, 6)])
def test_setting_out_of_range_is_refused(round_number: int, needed: int | None) -> None:
    comparison = compare([PAID] * 5)
    with pytest.raises(ValueError, match=r"round|four fifths"):
        decide(comparison, round=round_number, refinements=(), needed=needed)


def test_all_may_be_asked_for() -> None:
    assert round_of([PAID, PAID, PAID, PAID, ALL], needed=5).outcome == "disagreement"
    assert needed_of(5) == 4


def test_answer_does_not_depend_on_the_order_of_candidates() -> None:
    forward = round_of([PAID_LONG, PAID, PAID, PAID, ALL], schema=SCHEMA)
    backward = round_of([ALL, PAID, PAID, PAID, PAID_LONG], schema=SCHEMA)
    assert forward.sql == backward.sql == PAID
