"""From a decision to the next round: nothing settled is lost, and nothing is said twice."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.consensus.note_keys import note_name
from app.core.consensus.vault import assemble_context
from app.runner.read_vault import read_vault
from app.runner.refine import Brief, refine
from app.runner.ruling import NextStep

SHOP = read_vault(Path(__file__).parents[2] / "examples/vault")
SHOP_NAMES = {note_name(file) for file in SHOP}
BLOCK = assemble_context(SHOP, ["orders.count"])
START = Brief(("orders.count",), ("Grain: one order.",))
NAMES = st.sampled_from(
    ["orders", "[[customers]]", "shop.customers", "ORDER_LINES", "orders.status", "weather", "", "lines_to_orders"]
)
STEPS = st.lists(
    st.builds(
        NextStep,
        st.sampled_from(["ask_user", "refine_context", "state_grain"]),
        st.sampled_from(["Gross or net?", "One row is one order.", "The region."]),
        st.lists(NAMES, max_size=3).map(tuple),
        st.booleans(),
    ),
    max_size=5,
)


def refined(brief, *steps, answer=None, context=BLOCK):
    return refine(brief, steps, vault=SHOP, context=context, ask=lambda question: answer)


def test_refine_says_again_what_the_context_settles():
    after = refined(START, NextStep("refine_context", "Count each order once.", ("orders",), settled=True))
    assert after == Brief(START.names, (*START.refinements, "Count each order once."))


def test_refine_fetches_a_view_with_its_fields_by_its_table():
    after = refined(START, NextStep("refine_context", "Fetch the views of: customers.", ("customers",)))
    assert after.names == ("orders.count", "customers", "customers.credit", "customers.id", "customers.region")
    assert after.refinements[1].startswith(
        "Fetch the views of: customers. Added to the context: customers, customers.credit"
    )


def test_refine_fetches_the_fields_that_a_narrowed_view_was_left_without():
    after = refined(START, NextStep("refine_context", "Fetch the metric.", ("shop.orders",)))
    assert "orders.net_revenue" in after.names
    assert "orders.count" in after.names


def test_refine_asks_a_person_when_the_vault_has_no_more_to_give():
    step = NextStep("refine_context", "Which holds?", ("orders",))
    everything = assemble_context(SHOP, ["orders"])
    assert refined(START, step, context=everything).open_questions == ("Which holds?",)
    after = refined(START, step, context=everything, answer="the first")
    assert after.refinements[1:] == ("Asked: Which holds? Answered: the first",)


def test_refine_says_what_is_described_nowhere():
    after = refined(START, NextStep("refine_context", "Fetch it.", ("weather",)))
    assert after.refinements[1] == (
        "Fetch it. Not described anywhere: weather; what you need of it goes under not_in_data_model."
    )
    assert after.open_questions == ()


@settings(deadline=None, max_examples=25)
@given(STEPS, st.sampled_from([None, "net"]))
def test_refine_keeps_what_was_there_and_repeats_nothing(steps, answer):
    after = refined(START, *steps, answer=answer)
    assert after.names[:1] == START.names
    assert after.refinements[:1] == START.refinements
    assert len(set(after.names)) == len(after.names)
    assert len(set(after.refinements)) == len(after.refinements)
    assert set(after.names) <= SHOP_NAMES
    asked = {step.text for step in steps if step.kind == "ask_user" and not step.settled}
    assert set(after.open_questions) >= (asked if answer is None else set())
    assert answer is None or after.open_questions == ()


@settings(deadline=None, max_examples=25)
@given(STEPS)
def test_refine_by_the_same_steps_again_fetches_nothing_new(steps):
    once = refined(START, *steps, answer="net")
    assert refined(once, *steps, answer="net", context=assemble_context(SHOP, once.names)).names == once.names
