"""Brains for whole nights over the wire: the simulated model behind a real protocol."""

from __future__ import annotations

import asyncio
import re

from skillopt_sleep.backend.sim import SimModel, strength_named
from skillopt_sleep.domain.errors import ModelError
from skillopt_sleep.domain.llm import AssistantMessage, Message, Prompt, ToolMessage, ToolSpec, UserMessage
from skillopt_sleep.domain.skills import EditList
from tests.loopback.wire import Answer, Asked, Brain, Fault, Say


def simulated(strength: str = "strong", seed: int = 0) -> Brain:
    """Answers as the simulated model would. Repeats of a prompt count as its samples."""
    model = SimModel(strength_named(strength), seed=seed)
    seen: dict[str, int] = {}

    def answer(asked: Asked) -> Answer:
        edits = _wants_edits(asked)
        prompt = Prompt(
            role="optimizer" if edits else "target",
            system=_CLIENT_HEADER.sub("", asked.system),
            messages=_messages(asked),
            tools=tuple(ToolSpec(name=name, description="", parameters={}) for name in asked.tools),
        )
        # by what was asked, not by its bytes: a client stamps each request with ids of its own
        key = prompt.model_dump_json()
        sample = seen[key] = seen.get(key, -1) + 1
        prompt = prompt.model_copy(update={"sample": sample})
        try:
            reply = asyncio.run(model.generate(prompt, schema=EditList if edits else None))
        except ModelError as error:
            return Fault("status", status=500, message=error.message)
        return Say(text=reply.text, tools=tuple((call.name, call.arguments) for call in reply.tool_calls))

    return answer


_CLIENT_HEADER = re.compile(r"\Ax-anthropic-billing-header:.*\nYou are a Claude agent,.*\n")
_CLIENT_FRAME = re.compile(
    r"\A(?:\s*<(local-command-caveat|command-name|command-message|command-args|local-command-stdout)>.*?</\1>\s*)+",
    re.DOTALL,
)
"""What Claude Code puts around a prompt; a real model passes over it, and the simulated one would read it."""


def _wants_edits(asked: Asked) -> bool:
    """Whether a list of edits is asked for, by the protocol's own means or in words."""
    if asked.schema is not None:
        return "edits" in asked.schema.get("properties", {})
    return "JSON Schema" in asked.system and '"edits"' in asked.system


def _messages(asked: Asked) -> tuple[Message, ...]:
    kinds: dict[str, type[UserMessage] | type[AssistantMessage]] = {"user": UserMessage, "assistant": AssistantMessage}
    return tuple(
        ToolMessage(call_id="wire", text=text) if role == "tool" else kinds[role](text=_CLIENT_FRAME.sub("", text))
        for role, text in asked.messages
        if role in kinds or role == "tool"
    )
