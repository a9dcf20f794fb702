"""`agreement-log consensus run`, from the command line to the real comparison, by a scripted model."""

import json
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from typer.testing import CliRunner

from app.cli import app
from app.commands import consensus_run

VAULT = str(Path(__file__).parents[2] / "examples/vault")

REVENUE = "SELECT SUM(o.amount - o.tax) AS revenue FROM shop.orders AS o WHERE o.status = 'completed'"
DONE = "WITH done AS (SELECT o.amount, o.tax FROM shop.orders AS o WHERE o.status = 'completed')"
SAME = [
    REVENUE,
    "SELECT SUM(orders.amount - orders.tax) FROM shop.orders WHERE 'completed' = orders.status",
    f"{DONE} SELECT SUM(d.amount - d.tax) AS net FROM done AS d",
]
GROSS = "SELECT SUM(o.amount) AS revenue FROM shop.orders AS o WHERE o.status = 'completed'"
MARGIN = "SELECT SUM(o.internal_margin) AS revenue FROM shop.orders AS o WHERE o.status = 'completed'"


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Runs the command with a model that gives `said` in turn; the result, and the transcript if there is one."""

    def run(said, *arguments, names=("orders.net_revenue",)):
        left = list(said)

        async def answer(messages, info):
            sql = left.pop(0)
            if sql is None:
                raise ConnectionError("https://secret@provider")
            given = {"sql": sql, "in_data_model": ["orders.net_revenue"], "not_in_data_model": []}
            return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, given)])

        monkeypatch.setattr(consensus_run, "_model", lambda name: FunctionModel(answer, model_name="scripted"))
        target = tmp_path / "t.json"
        options = ["--vault", VAULT, "--question", "What is our revenue?", "--model", "x", "--transcript", str(target)]
        result = CliRunner().invoke(app, ["consensus", "run", *options, "--names", *names, *arguments])
        return result, json.loads(target.read_text()) if target.exists() else None

    return run


def test_run_that_agrees_prints_the_cleanest_statement(call):
    result, transcript = call([SAME[1], SAME[0], SAME[2], SAME[0], SAME[0]])
    record = json.loads(result.stdout)
    assert result.exit_code == 0
    assert record == {
        "sql": min(SAME[:2], key=len),
        "in_data_model": ["orders.net_revenue"],
        "not_in_data_model": [],
        "consensus_round": 1,
        "refinements": [],
        "unresolved": None,
    }
    assert transcript["outcome"] == "consensus"
    assert transcript["rounds"][0]["decision"]["classes"] == [[0, 1, 2, 3, 4]]
    assert [a["sql"] for a in transcript["rounds"][0]["answers"]] == [SAME[1], SAME[0], SAME[2], SAME[0], SAME[0]]


def test_run_of_four_that_agree_and_one_that_does_not(call):
    result, _ = call([REVENUE] * 4 + [GROSS])
    assert (result.exit_code, json.loads(result.stdout)["sql"]) == (0, REVENUE)


def test_run_settled_by_the_context_agrees_in_the_second_round(call):
    result, transcript = call([REVENUE] * 3 + [GROSS] * 2 + [REVENUE] * 5)
    record = json.loads(result.stdout)
    assert (result.exit_code, record["consensus_round"]) == (0, 2)
    assert record["refinements"] == [
        "orders.net_revenue is SUM(shop.orders.amount - shop.orders.tax), only where shop.orders.status = 'completed'."
    ]
    assert len({played["prompt_sha256"] for played in transcript["rounds"]}) == 2


def test_run_that_never_agrees_ends_after_three_rounds_with_what_was_tried(call):
    result, transcript = call(([REVENUE] * 3 + [GROSS] * 2) * 3)
    record = json.loads(result.stdout)
    assert (result.exit_code, record["sql"], len(transcript["rounds"])) == (1, None, 3)
    assert "No agreement after 3 rounds" in record["unresolved"]
    assert "orders.net_revenue is SUM" in record["unresolved"]


def test_run_with_a_question_for_a_person_and_nobody_there_stops_with_it(call):
    some = [f"SELECT o.order_id FROM shop.orders AS o WHERE o.status = 'completed' LIMIT {n}" for n in (5, 10)]
    result, transcript = call([some[0]] * 3 + [some[1]] * 2, names=("orders.id",))
    assert result.exit_code == 1
    assert "How many rows" in json.loads(result.stdout)["unresolved"]
    assert (transcript["outcome"], len(transcript["rounds"])) == ("question", 1)


def test_run_of_five_that_read_a_restricted_column_is_no_consensus(call):
    result, transcript = call([MARGIN] * 15)
    assert (result.exit_code, json.loads(result.stdout)["sql"]) == (1, None)
    assert {a["failure"] for played in transcript["rounds"] for a in played["answers"]} == {"RestrictedColumn"}
    assert json.loads(result.stdout)["unresolved"].endswith("Failed in the last round: RestrictedColumn.")
    assert [len(played["refinements"]) for played in transcript["rounds"]] == [0, 1, 1]
    assert transcript["rounds"][1]["refinements"][0].startswith("An answer read a restricted column.")


def test_run_of_three_that_agree_and_two_that_failed_is_no_consensus(call):
    result, transcript = call([REVENUE, None, REVENUE, None, REVENUE] * 3)
    assert result.exit_code == 1
    assert len(transcript["rounds"]) == 3
    assert "secret" not in json.dumps(transcript) + result.output


def test_run_in_which_no_call_comes_back_has_its_own_exit_code(call):
    result, transcript = call([None] * 5)
    assert (result.exit_code, transcript["outcome"]) == (3, "not_run")
    assert json.loads(result.stdout)["unresolved"] == "Not one call to the model came back: ConnectionError."


def test_run_takes_several_names(call):
    _, transcript = call([REVENUE] * 5, names=("orders.net_revenue", "customers", "order_lines"))
    assert transcript["rounds"][0]["names"] == ["orders.net_revenue", "customers", "order_lines"]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("--dialect", "klingon"), "klingon is no SQL dialect"),
        (("--schema", "nowhere.sql"), "nowhere.sql: No such file"),
    ],
)
def test_run_with_a_wrong_option_is_refused_before_any_call(call, arguments, match):
    result, transcript = call([], *arguments)
    assert (result.exit_code, transcript) == (2, None)
    assert match in result.stderr


def test_run_with_an_unknown_name_is_refused_before_any_call(call):
    result, transcript = call([], names=("revenu",))
    assert (result.exit_code, transcript) == (2, None)
    assert "the vault has no note [[revenu]]; did you mean [[revenue]]" in result.stderr


def test_run_never_writes_over_a_transcript(call, tmp_path):
    (tmp_path / "t.json").write_text("{}")
    result, transcript = call([])
    assert (result.exit_code, transcript) == (2, {})
    assert "never written over" in result.stderr


def test_run_with_a_model_that_is_not_there_says_what_to_install(tmp_path):
    options = ["--vault", VAULT, "--question", "?", "--names", "sales", "--transcript", str(tmp_path / "t.json")]
    result = CliRunner().invoke(app, ["consensus", "run", *options, "--model", "nobody:nothing"])
    assert result.exit_code == 2
    assert result.stderr.startswith("model: ")
    assert not (tmp_path / "t.json").exists()
