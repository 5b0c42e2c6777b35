from __future__ import annotations

import anyio
import pytest

from skillopt_sleep.backend.scripted import ScriptedModel
from skillopt_sleep.domain.errors import ModelError, ModelMalformed, ModelUnavailable
from skillopt_sleep.domain.llm import Reply
from skillopt_sleep.domain.skills import EditList
from tests.backend.fakes import ask


def test_lines_come_in_order_and_prompts_are_kept() -> None:
    model = ScriptedModel(["one", Reply(text="two", model="other"), ModelUnavailable("gone")])
    assert anyio.run(model.generate, ask("a")).text == "one"
    assert anyio.run(model.generate, ask("b")).model == "other"
    with pytest.raises(ModelUnavailable, match="gone"):
        anyio.run(model.generate, ask("c"))
    assert [prompt.messages[0].text for prompt in model.prompts] == ["a", "b", "c"]


def test_a_script_that_has_run_out_says_so() -> None:
    model = ScriptedModel([])
    with pytest.raises(ModelError, match="no reply left") as caught:
        anyio.run(model.generate, ask())
    assert caught.value.retry == "no"


def test_a_line_that_does_not_fit_the_schema_is_malformed() -> None:
    async def main() -> None:
        with pytest.raises(ModelMalformed, match="EditList"):
            await ScriptedModel(["not json"]).generate(ask(), schema=EditList)
        with pytest.raises(ModelMalformed, match="edits"):
            await ScriptedModel(['{"edits": 3}']).generate(ask(), schema=EditList)

    anyio.run(main)
