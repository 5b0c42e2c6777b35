"""The simulated model as target: one turn of a conversation, with or without tools."""

from __future__ import annotations

from collections.abc import Sequence

from skillopt_sleep.backend.sim.aims import Instruction, UseTool
from skillopt_sleep.backend.sim.dice import Dice
from skillopt_sleep.backend.sim.obeying import obeyed
from skillopt_sleep.backend.sim.prose import topic_of
from skillopt_sleep.backend.sim.reading import Reading, read
from skillopt_sleep.backend.sim.temperament import Temperament
from skillopt_sleep.backend.sim.writing import write
from skillopt_sleep.domain.base import short_hash
from skillopt_sleep.domain.llm import AssistantMessage, Prompt, ToolCall, ToolMessage, ToolSpec, UserMessage


def answer(prompt: Prompt, temperament: Temperament, dice: Dice) -> str | ToolCall:
    """The text of the reply, or the call of a declared tool that was not called yet."""
    requests = [message.text for message in prompt.messages if isinstance(message, UserMessage)]
    request = requests[0] if requests else ""
    followed = obeyed(_everything([prompt.system, *requests]), request, temperament, dice)
    tool = _next_tool(followed, prompt)
    if tool is not None:
        return ToolCall(
            id=f"call_{short_hash(f'{tool.name}|{request}|{prompt.sample}')}",
            name=tool.name,
            arguments=_arguments(tool, topic_of(request)),
        )
    found = [message.text for message in prompt.messages if isinstance(message, ToolMessage)]
    return write(request, followed, found, dice)


def _everything(texts: Sequence[str]) -> Reading:
    readings = [read(text) for text in texts]
    return Reading(
        instructions=tuple(one for reading in readings for one in reading.instructions),
        ignored=sum(reading.ignored for reading in readings),
    )


def _next_tool(followed: Sequence[Instruction], prompt: Prompt) -> ToolSpec | None:
    called = {
        call.name for message in prompt.messages if isinstance(message, AssistantMessage) for call in message.tool_calls
    }
    wanted = [one.aim for one in followed if isinstance(one.aim, UseTool) and one.wanted]
    for aim in wanted:
        for tool in prompt.tools:
            if tool.name not in called and aim.name in (None, tool.name):
                return tool
    return None


def _arguments(tool: ToolSpec, topic: str) -> dict[str, str]:
    """The topic for every argument that the tool requires, or for its only one."""
    properties = list(tool.parameters.get("properties", {}))
    return dict.fromkeys(tool.parameters.get("required", properties[:1]), topic)
