"""What every `Agent` has to keep, whatever it wraps around its model."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from skillopt_sleep.domain.checks import Contains
from skillopt_sleep.domain.errors import BudgetExhausted, ModelMalformed, ModelUnavailable
from skillopt_sleep.domain.llm import Reply
from skillopt_sleep.domain.ports import Agent, Model
from skillopt_sleep.domain.tasks import Rules, Task
from tests.agents.fakes import ListedModel, says

TASK = Task(
    id="t-1",
    prompt="Say something about otters.",
    criterion=Rules(checks=(Contains(arg="unguessable-criterion"),)),
    group="otters",
    family="otters",
    slice="train",
    origin="file",
)


async def check_agent(build: Callable[[Model], Agent]) -> None:
    """Run an agent through the contract; `build` wraps it around a model."""
    await _passes_on_what_matters(build)
    await _takes_what_was_said_for_an_attempt(build)
    await _lets_errors_through(build)


async def _passes_on_what_matters(build: Callable[[Model], Agent]) -> None:
    model = ListedModel([says("They hold hands.")])
    agent = build(model)
    assert model.id in agent.id
    assert agent.id == build(model).id
    attempt = await agent.attempt(TASK, "# Otter skill\n\nBe brief.", sample=3)
    assert (attempt.task_id, attempt.text, attempt.calls) == ("t-1", "They hold hands.", 1)
    assert attempt.usage.total == 12
    (prompt,) = model.prompts
    assert prompt.role == "target"
    assert prompt.sample == 3
    assert prompt.template
    assert "# Otter skill" in prompt.system
    assert [message.text for message in prompt.messages] == [TASK.prompt]
    assert "unguessable-criterion" not in prompt.model_dump_json()


async def _takes_what_was_said_for_an_attempt(build: Callable[[Model], Agent]) -> None:
    declined = says("I cannot help with that.")
    claimed = says("I searched the notes and ran the tests.")
    for reply in (declined, claimed):
        attempt = await build(ListedModel([reply])).attempt(TASK, "", sample=0)
        assert attempt.text == reply.text
        assert attempt.tool_calls == ()


async def _lets_errors_through(build: Callable[[Model], Agent]) -> None:
    for error in (ModelUnavailable("The service is down."), BudgetExhausted("The cap is reached.")):
        with pytest.raises(type(error)):
            await build(ListedModel([error])).attempt(TASK, "", sample=0)
    withheld = Reply(text="They", model="listed:one", stop="refusal")
    cut = Reply(text="They hold", model="listed:one", stop="max_tokens")
    for reply in (says(""), says(" \n"), withheld, cut):
        with pytest.raises(ModelMalformed):
            await build(ListedModel([reply])).attempt(TASK, "", sample=0)
