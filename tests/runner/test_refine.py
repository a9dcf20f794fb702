"""From a decision to the next round: nothing settled is lost, and nothing is said twice."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from app.runner.read_vault import read_vault
from app.runner.refine import Brief, refine
from app.runner.ruling import NextStep

SHOP = read_vault(Path(__file__).parents[2] / "examples/vault")
NAMES = st.sampled_from(
    ["orders", "[[customers]]", "shop.customers", "shop.order_lines", "orders.status", "weather", ""]
)
STEPS = st.lists(
    st.builds(
        NextStep,
        st.sampled_from(["ask_user", "refine_context", "state_grain"]),
        st.sampled_from(["Gross or net?", "One row is one order.", "The region."]),
        st.lists(NAMES, max_size=3).map(tuple),
    ),
    max_size=5,
)


@given(STEPS, st.sampled_from([None, "net"]))
def test_refine_keeps_what_was_there_and_repeats_nothing(steps, answer):
    before = Brief(("orders.count",), ("Grain: one order.",))
    after = refine(before, steps, SHOP, lambda question: answer)
    assert after.names[:1] == before.names
    assert after.refinements[:1] == before.refinements
    assert len(set(after.names)) == len(after.names)
    assert len(set(after.refinements)) == len(after.refinements)
    assert set(after.names) <= {"orders.count", "orders", "customers", "order_lines", "orders.status"}
    asked = {step.text for step in steps if step.kind == "ask_user"}
    assert set(after.open_questions) == (asked if answer is None else set())


@given(STEPS)
def test_refine_by_the_same_steps_again_fetches_nothing_new(steps):
    once = refine(Brief(("orders.count",)), steps, SHOP, lambda question: "net")
    assert refine(once, steps, SHOP, lambda question: "net").names == once.names
