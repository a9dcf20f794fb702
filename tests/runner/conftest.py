"""A vault, a model that says what a test wants, and judges that stand in for the comparison."""

from pathlib import Path

import pytest
from pydantic_ai.messages import ModelResponse, SystemPromptPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel

from app.runner.read_vault import read_vault
from app.runner.ruling import Ruling


class Scripted:
    """A model that gives `says(call)` for each call in turn, and remembers what it was asked."""

    def __init__(self, says):
        self.says, self.asked = says, []

    def model(self):
        return FunctionModel(self._answer, model_name="scripted")

    async def _answer(self, messages, info):
        text = [p.content for m in messages for p in m.parts if isinstance(p, (UserPromptPart, SystemPromptPart))]
        self.asked.append((info.instructions, *text))
        said = self.says(len(self.asked) - 1)
        if hasattr(said, "__await__"):
            said = await said
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, said)])


class Rulings:
    """A judge that hands out its rulings in turn, and remembers what it was given."""

    def __init__(self, *rulings):
        self.rulings, self.given = list(rulings), []

    def __call__(self, answers, *, number, refinements, context):
        self.given.append((tuple(answers), number, tuple(refinements), context))
        return self.rulings[number - 1]


@pytest.fixture(scope="session")
def shop():
    return read_vault(Path(__file__).parents[2] / "examples/vault")


@pytest.fixture
def scripted():
    return Scripted


@pytest.fixture
def rulings():
    """Makes a judge from outcomes, each with the steps after it: `rulings(("disagreement", step), ("consensus",))`."""

    def make(*given):
        return Rulings(
            *(
                Ruling(outcome, {"sql": "SELECT 1" if outcome == "consensus" else None}, steps, {"outcome": outcome})
                for outcome, *steps in given
                for steps in [tuple(steps)]
            )
        )

    return make
