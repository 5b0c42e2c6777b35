"""Brains for whole nights over the wire: the simulated model behind a real protocol."""

from __future__ import annotations

import asyncio

from skillopt_sleep.backend.sim import SimModel, strength_named
from skillopt_sleep.domain.errors import ModelError
from skillopt_sleep.domain.llm import AssistantMessage, Message, Prompt, ToolMessage, ToolSpec, UserMessage
from skillopt_sleep.domain.skills import EditList
from tests.loopback.wire import Answer, Asked, Brain, Fault, Say


def simulated(strength: str = "strong", seed: int = 0) -> Brain:
    """Answers as the simulated model would. Repeats of a prompt count as its samples."""
    model = SimModel(strength_named(strength), seed=seed)
    seen: dict[bytes, int] = {}

    def answer(asked: Asked) -> Answer:
        sample = seen[asked.raw] = seen.get(asked.raw, -1) + 1
        edits = asked.schema is not None and "edits" in asked.schema.get("properties", {})
        prompt = Prompt(
            role="optimizer" if edits else "target",
            system=asked.system,
            messages=_messages(asked),
            tools=tuple(ToolSpec(name=name, description="", parameters={}) for name in asked.tools),
            sample=sample,
        )
        try:
            reply = asyncio.run(model.generate(prompt, schema=EditList if edits else None))
        except ModelError as error:
            return Fault("status", status=500, message=error.message)
        return Say(text=reply.text, tools=tuple((call.name, call.arguments) for call in reply.tool_calls))

    return answer


def _messages(asked: Asked) -> tuple[Message, ...]:
    kinds: dict[str, type[UserMessage] | type[AssistantMessage]] = {"user": UserMessage, "assistant": AssistantMessage}
    return tuple(
        ToolMessage(call_id="wire", text=text) if role == "tool" else kinds[role](text=text)
        for role, text in asked.messages
        if role in kinds or role == "tool"
    )
