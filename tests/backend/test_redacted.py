from __future__ import annotations

import json
from typing import Any

import anyio
from pydantic import BaseModel

from skillopt_sleep.backend.redacted import Masking, Redacted
from skillopt_sleep.domain.llm import AssistantMessage, Prompt, Reply, ToolCall, ToolMessage, UserMessage
from skillopt_sleep.redact import redact
from tests.redact.secrets import made_up

SECRET = "gh" + "p_" + made_up(36)


class Spy:
    """Remembers what it is asked, and answers with what a test prepared."""

    id = "spy"

    def __init__(self, reply: str = "fine", arguments: dict[str, Any] | None = None) -> None:
        self.heard: list[Prompt] = []
        self._reply = Reply(
            text=reply,
            model=self.id,
            tool_calls=() if arguments is None else (ToolCall(id="1", name="f", arguments=arguments),),
        )

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        self.heard.append(prompt)
        return self._reply


def ask(spy: Spy, prompt: Prompt, masking: Masking | None = None) -> Reply:
    return anyio.run(Redacted(spy, masking or Masking(redact)).generate, prompt)


def a_prompt(text: str) -> Prompt:
    return Prompt(role="target", system=f"Use {text}.", messages=(UserMessage(text=text),))


def test_every_part_of_a_prompt_is_masked_on_its_way_in() -> None:
    spy = Spy()
    turns = (
        UserMessage(text=f"use {SECRET}"),
        AssistantMessage(text=f"with {SECRET}", tool_calls=(ToolCall(id="1", name="f", arguments={"q": SECRET}),)),
        ToolMessage(call_id="1", text=f"found {SECRET}"),
    )
    ask(spy, Prompt(role="target", system=f"key {SECRET}", messages=turns))
    assert SECRET not in spy.heard[0].model_dump_json()
    assert spy.heard[0].model_dump_json().count("[masked:github_token]") == 5


def test_a_prompt_without_secrets_arrives_as_it_was_sent() -> None:
    spy, prompt = Spy(), a_prompt("nothing")
    ask(spy, prompt)
    assert spy.heard == [prompt]


def test_a_structured_reply_stays_json_and_a_calls_arguments_stay_an_object() -> None:
    reply = ask(
        Spy(json.dumps({"a": SECRET, "b": 1}), {"password": "hunter2x", "n": [1, {"t": SECRET}]}), a_prompt("x")
    )
    assert json.loads(reply.text) == {"a": "[masked:github_token]", "b": 1}
    assert reply.tool_calls[0].arguments == {
        "password": "[masked:password]",
        "n": [1, {"t": "[masked:github_token]"}],
    }


def test_a_text_that_stands_in_many_prompts_is_counted_once() -> None:
    masking, spy = Masking(redact), Spy()
    for _ in range(3):
        ask(spy, a_prompt(SECRET), masking)
    assert masking.counts == {"github_token": 2}  # the system text and the message
