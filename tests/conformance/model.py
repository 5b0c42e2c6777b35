"""What every Model keeps to. Subclass, say how to make one, and pytest runs the suite against it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import anyio
import pytest
from pydantic import BaseModel, ConfigDict

from skillopt_sleep.domain.briefing import Requirement, requirements_block
from skillopt_sleep.domain.errors import ModelError, ModelMalformed
from skillopt_sleep.domain.llm import Prompt, Reply, ToolSpec, UserMessage
from skillopt_sleep.domain.ports import Closable, Model
from skillopt_sleep.domain.skills import EditList

TOOL = ToolSpec(
    name="lookup",
    description="Looks through the notes.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)


async def close(model: Model) -> None:
    """Ends what the model has opened, as whoever builds a model does."""
    if isinstance(model, Closable):
        await model.aclose()


class Unheard(BaseModel):
    """A schema that no model has been prepared for."""

    model_config = ConfigDict(extra="forbid")
    colour_of_the_sky: int


def request(text: str = "Write a note about the weather.", *, sample: int = 0) -> Prompt:
    return Prompt(role="target", system="Answer politely.", messages=(UserMessage(text=text),), sample=sample)


def briefing(*, sample: int = 0) -> Prompt:
    block = requirements_block(
        (
            Requirement(text='Include a section headed "Scope".', example="## Scope", failed=6, seen=8, families=4),
            Requirement(text="Keep the reply at or under 900 characters.", failed=3, seen=8, families=4),
        )
    )
    text = f"Propose at most 2 edits.\n\n{block}"
    return Prompt(role="optimizer", system="Improve the rules.", messages=(UserMessage(text=text),), sample=sample)


class ModelConformance(ABC):
    """The suite. Class variables say what a model is for; the defaults demand most."""

    answers_requests: ClassVar[bool] = True
    proposes_edits: ClassVar[bool] = True
    samples_differ: ClassVar[bool] = True
    """Whether another sample of the same prompt may get another reply."""
    repeatable: ClassVar[bool] = True
    """Whether the same prompt and sample get the same reply."""

    @abstractmethod
    def make(self) -> Model:
        """A fresh model."""

    def _asked(self, prompt: Prompt, schema: type[BaseModel] | None = None, model: Model | None = None) -> Reply:
        async def ask() -> Reply:
            asked = model or self.make()
            with anyio.fail_after(10):
                try:
                    return await asked.generate(prompt, schema=schema)
                finally:
                    await close(asked)

        return anyio.run(ask)

    def test_the_id_is_stable_and_can_stand_in_a_key(self) -> None:
        one, other = self.make(), self.make()
        assert one.id == one.id == other.id
        assert one.id
        assert not any(ch.isspace() for ch in one.id)

    def test_a_request_gets_a_real_reply_or_a_model_error(self) -> None:
        if not self.answers_requests:
            with pytest.raises(ModelError):
                self._asked(request())
            return
        reply = self._asked(request())
        assert reply.text.strip()
        assert reply.model
        assert reply.stop in ("end", "max_tokens")

    def test_usage_is_counted_or_estimated(self) -> None:
        reply = self._asked(request()) if self.answers_requests else self._asked(briefing(), EditList)
        assert reply.usage.input_tokens > 0
        assert reply.usage.output_tokens > 0

    def test_a_reply_to_a_schema_validates(self) -> None:
        if not self.proposes_edits:
            with pytest.raises(ModelError):
                self._asked(briefing(), EditList)
            return
        EditList.model_validate_json(self._asked(briefing(), EditList).text)

    def test_a_schema_that_cannot_be_met_is_malformed_and_nothing_else(self) -> None:
        try:
            reply = self._asked(briefing(), Unheard)
        except ModelMalformed:
            return
        Unheard.model_validate_json(reply.text)

    def test_the_same_prompt_and_sample_get_the_same_reply(self) -> None:
        if not (self.repeatable and self.answers_requests):
            pytest.skip("this model makes no such promise")
        assert self._asked(request(sample=3)) == self._asked(request(sample=3))

    def test_the_sample_is_in_effect(self) -> None:
        if not (self.samples_differ and self.answers_requests):
            pytest.skip("this model makes no such promise")
        assert len({self._asked(request(sample=sample)).text for sample in range(8)}) > 1

    def test_tools_are_called_only_where_they_are_declared(self) -> None:
        if not self.answers_requests:
            pytest.skip("this model does not answer requests")
        for tools in ((), (TOOL,)):
            prompt = Prompt(
                role="target",
                system="Call the `lookup` tool before answering.",
                messages=(UserMessage(text="What is known about tides?"),),
                tools=tools,
            )
            reply = self._asked(prompt)
            assert (reply.stop == "tool_use") == bool(reply.tool_calls)
            assert {call.name for call in reply.tool_calls} <= {tool.name for tool in tools}
            assert len({call.id for call in reply.tool_calls}) == len(reply.tool_calls)

    def test_parallel_prompts_are_not_mixed_up(self) -> None:
        if not (self.repeatable and self.answers_requests):
            pytest.skip("this model makes no such promise")
        prompts = [request(f"Write a note about number {n}.") for n in range(8)]
        together: dict[int, Reply] = {}

        async def ask_all() -> None:
            model = self.make()

            async def ask(index: int) -> None:
                together[index] = await model.generate(prompts[index])

            with anyio.fail_after(10):
                async with anyio.create_task_group() as group:
                    for index in range(len(prompts)):
                        group.start_soon(ask, index)
            await close(model)

        anyio.run(ask_all)
        assert together == {index: self._asked(prompt) for index, prompt in enumerate(prompts)}

    def test_a_cancelled_call_leaves_the_model_usable(self) -> None:
        prompt, schema = (request(), None) if self.answers_requests else (briefing(), EditList)

        async def cancel_then_ask() -> Reply:
            model = self.make()
            with anyio.CancelScope() as scope:
                scope.cancel()
                await model.generate(prompt, schema=schema)
            assert scope.cancelled_caught
            with anyio.fail_after(10):
                reply = await model.generate(prompt, schema=schema)
            await close(model)
            return reply

        assert anyio.run(cancel_then_ask).text
