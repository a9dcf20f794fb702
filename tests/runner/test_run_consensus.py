"""The loop, played with a model that says what a test wants and a judge that rules as it is told."""

import asyncio
import dataclasses
import json
import time

import pytest
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.test import TestModel

from app.core.consensus.vault_errors import UnknownName
from app.runner.ruling import NextStep
from app.runner.run_consensus import Plan, run_consensus

SAID = {"sql": "SELECT 1", "in_data_model": ["orders.count"], "not_in_data_model": ["x.y"]}
ASK = NextStep("ask_user", "Gross or net?")


def run(shop, model, judge, *, ask=lambda question: None, names=("orders.count",), **settings):
    plan = Plan("How many orders?", shop, model, judge, ask, **settings)
    return asyncio.run(run_consensus(plan, names))


def test_five_get_the_same_prompt_and_the_statement_comes_back(shop, scripted, rulings):
    agent, judge = scripted(lambda call: SAID), rulings(("consensus",))
    done = run(shop, agent.model(), judge)
    assert len(agent.asked) == 5
    assert len(set(agent.asked)) == 1
    (answers, number, refinements, context) = judge.given[0]
    assert [(a.sql, a.in_data_model, a.not_in_data_model, a.failure) for a in answers] == [
        ("SELECT 1", ("orders.count",), ("x.y",), None)
    ] * 5
    assert (number, refinements) == (1, ())
    assert [view.name for view in context.views] == ["orders"]
    assert (done.outcome, done.output["sql"], len(done.rounds)) == ("consensus", "SELECT 1", 1)


@pytest.mark.parametrize(
    "rule",
    [
        "Use only the tables and columns that the context describes",
        "names of tables and of other fields have been put in",
        "Never select a restricted column",
        "apply its default filters",
        "Qualify every column",
        "LEFT JOIN unless the relation says otherwise",
        "in the postgres dialect",
    ],
)
def test_prompt_tells_the_rule(shop, scripted, rulings, rule):
    agent = scripted(lambda call: SAID)
    run(shop, agent.model(), rulings(("consensus",)), dialect="postgres")
    assert rule in agent.asked[0][0]


def test_prompt_holds_context_and_question(shop, scripted, rulings):
    agent = scripted(lambda call: SAID)
    run(shop, agent.model(), rulings(("consensus",)))
    text = agent.asked[0][1]
    assert "- table: `shop.orders`" in text
    assert "COUNT(DISTINCT shop.orders.order_id)" in text
    assert text.endswith("# Question\n\nHow many orders?")


def test_five_are_asked_at_once(shop, scripted, rulings):
    waiting = asyncio.Event()
    count = 0

    async def answer():
        nonlocal count
        count += 1
        if count == 5:
            waiting.set()
        await waiting.wait()  # one after the other, the first would wait here until its time was up
        return SAID

    done = run(shop, scripted(lambda call: answer()).model(), rulings(("consensus",)), timeout=5)
    assert [answer.failure for answer in done.rounds[0].answers] == [None] * 5


def test_failing_call_is_a_candidate_that_failed_and_tells_no_message(shop, scripted, rulings):
    def say(call):
        if call == 2:
            raise ModelHTTPError(500, "m", {"key": "sk-secret"})
        return SAID

    judge = rulings(("consensus",))
    done = run(shop, scripted(say).model(), judge)
    failed = [answer for answer in judge.given[0][0] if answer.failure]
    assert [(answer.sql, answer.failure) for answer in failed] == [("", "ModelHTTPError")]
    assert len(judge.given[0][0]) == 5
    assert "sk-secret" not in json.dumps(dataclasses.asdict(done))


def test_call_that_takes_too_long_is_a_candidate_that_failed(shop, scripted, rulings):
    async def sleep():
        await asyncio.sleep(60)

    began = time.monotonic()
    done = run(shop, scripted(lambda call: sleep() if call else SAID).model(), rulings(("consensus",)), timeout=0.3)
    assert sorted(str(answer.failure) for answer in done.rounds[0].answers) == ["None"] + ["TimeoutError"] * 4
    assert time.monotonic() - began < 30


def test_answer_of_the_wrong_shape_is_a_candidate_that_failed(shop, scripted, rulings):
    judge = rulings(("consensus",))
    run(shop, scripted(lambda call: {"statement": "SELECT 1"} if call % 5 == 0 else SAID).model(), judge)
    assert all(answer.failure in (None, "UnexpectedModelBehavior") for answer in judge.given[0][0])


def test_answer_that_reads_a_restricted_column_is_a_candidate_that_failed(shop, scripted, rulings):
    said = {**SAID, "sql": "SELECT o.internal_margin FROM shop.orders AS o"}
    judge = rulings(("unresolved",))
    run(shop, scripted(lambda call: said).model(), judge)
    assert [answer.failure for answer in judge.given[0][0]] == ["RestrictedColumn"] * 5


def test_no_call_that_comes_back_is_never_ruled_on(shop, scripted, rulings):
    def say(call):
        raise ConnectionError

    judge = rulings(("consensus",))
    done = run(shop, scripted(say).model(), judge)
    assert judge.given == []
    assert (done.outcome, done.output["sql"], len(done.rounds)) == ("not_run", None, 1)
    assert done.output["unresolved"] == "Not one call to the model came back: ConnectionError."


def test_disagreement_is_a_new_quorum_each_time_and_ends_after_three(shop, scripted, rulings):
    agent = scripted(lambda call: SAID)
    grain = NextStep("state_grain", "One row of orders means one order; count each order_id once.")
    judge = rulings(("disagreement", grain), ("disagreement",), ("disagreement",))
    done = run(shop, agent.model(), judge)
    assert len(agent.asked) == 15
    assert [given[1:3] for given in judge.given] == [(1, ()), (2, (grain.text,)), (3, (grain.text,))]
    assert f"- {grain.text}" in agent.asked[5][1]
    assert f"- {grain.text}" not in agent.asked[4][1]
    assert (done.outcome, len(done.rounds)) == ("unresolved", 3)


def test_missing_context_is_fetched_for_the_next_round(shop, scripted, rulings):
    agent = scripted(lambda call: SAID)
    step = NextStep("refine_context", "Which region an order belongs to.", ("[[customers.region]]", "weather"))
    judge = rulings(("disagreement", step), ("consensus",))
    done = run(shop, agent.model(), judge)
    assert done.rounds[1].names == ("orders.count", "customers.region")
    assert [relation.name for relation in judge.given[1][3].relations] == ["orders_to_customers"]
    assert "shop.customers.region" not in agent.asked[0][1]
    assert "shop.customers.region" in agent.asked[5][1]
    assert "Not described anywhere: weather" in agent.asked[5][1]


def test_missing_context_is_found_by_its_table(shop, scripted, rulings):
    step = NextStep("refine_context", "A table nobody described.", ("SHOP.CUSTOMERS", "shop.weather"))
    done = run(shop, scripted(lambda call: SAID).model(), rulings(("disagreement", step), ("consensus",)))
    assert done.rounds[1].names[:3] == ("orders.count", "customers", "customers.credit")
    assert "Not described anywhere: shop.weather;" in done.rounds[1].refinements[0]


def test_question_is_put_to_the_person_and_the_answer_to_the_five(shop, scripted, rulings):
    agent, asked = scripted(lambda call: SAID), []
    judge = rulings(("disagreement", ASK, ASK), ("consensus",))
    done = run(shop, agent.model(), judge, ask=lambda question: asked.append(question) or "net")
    assert asked == ["Gross or net?"]
    assert "- Asked: Gross or net? Answered: net" in agent.asked[5][1]
    assert (done.outcome, len(done.rounds)) == ("consensus", 2)


@pytest.mark.parametrize("nothing", [None, "", "  "])
def test_question_nobody_answers_ends_the_run_with_it(shop, scripted, rulings, nothing):
    agent = scripted(lambda call: SAID)
    done = run(shop, agent.model(), rulings(("disagreement", ASK)), ask=lambda question: nothing)
    assert len(agent.asked) == 5
    assert (done.outcome, done.questions) == ("question", ("Gross or net?",))
    assert (done.output["sql"], done.output["unresolved"]) == (None, "Gross or net?")


def test_question_after_the_last_round_is_not_asked(shop, scripted, rulings):
    asked = []
    judge = rulings(("disagreement",), ("disagreement",), ("disagreement", ASK))
    done = run(shop, scripted(lambda call: SAID).model(), judge, ask=asked.append)
    assert (done.outcome, asked) == ("unresolved", [])


def test_unknown_name_stops_before_any_call(shop, scripted, rulings):
    agent = scripted(lambda call: SAID)
    with pytest.raises(UnknownName):
        run(shop, agent.model(), rulings(("consensus",)), names=("nothing",))
    assert agent.asked == []


def test_transcript_holds_digests_and_no_question_or_context(shop, rulings):
    done = run(shop, TestModel(custom_output_args=SAID), rulings(("consensus",)))
    text = json.dumps(dataclasses.asdict(done))
    assert "How many orders?" not in text
    assert "shop.orders" not in text
    assert done.model == "test:test"
    assert len(done.question_sha256) == len(done.rounds[0].prompt_sha256) == 64
    assert done.rounds[0].decision == {"outcome": "consensus"}
    assert done.seconds >= done.rounds[0].seconds >= max(a.seconds for a in done.rounds[0].answers) > 0


def test_prompt_digest_is_the_same_for_the_same_round_and_another_for_the_next(shop, rulings):
    model = TestModel(custom_output_args=SAID)
    grain = NextStep("state_grain", "One order a row.")
    first, second = (run(shop, model, rulings(("disagreement", grain), ("consensus",))) for _ in range(2))
    digests = [played.prompt_sha256 for played in first.rounds]
    assert digests == [played.prompt_sha256 for played in second.rounds]
    assert len(set(digests)) == 2
