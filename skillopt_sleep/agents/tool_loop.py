"""An agent with tools: ask, run what the model calls, ask again."""

from __future__ import annotations

from skillopt_sleep.agents import notes
from skillopt_sleep.agents.request import first_prompt, require_answer
from skillopt_sleep.domain.llm import AssistantMessage, Message, Reply, ToolCall, ToolMessage, ToolSpec, Usage
from skillopt_sleep.domain.ports import Model
from skillopt_sleep.domain.tasks import Task, Tool
from skillopt_sleep.domain.trials import Attempt

MAX_ROUNDS = 6
"""Most requests of one attempt; a plan's upper bound counts on it."""


class ToolLoop:
    """Runs a task's tools for real until the model answers without calling one.

    After `max_rounds` requests the last text stands as the answer, whatever the model still wanted to call. A task
    without tools takes one request, as with `SingleTurn`. With `as_memory`, the document that is tried stands where a
    memory file stands, and not where a skill does.
    """

    def __init__(
        self, model: Model, memory: str = "", *, as_memory: bool = False, max_rounds: int = MAX_ROUNDS
    ) -> None:
        self._model = model
        self._memory = memory
        self._as_memory = as_memory
        self._max_rounds = max_rounds

    @property
    def id(self) -> str:
        return f"tool-loop({self._model.id}{', memory' if self._as_memory else ''})"

    async def attempt(self, task: Task, skill: str, *, sample: int) -> Attempt:
        """One attempt. Raises what the model raises, and `ModelMalformed` for an empty reply.

        `Attempt.tool_calls` holds only calls that were really run: an unknown tool or a wrong argument gets an error
        as its result and does not count.
        """
        tools = {tool.name: tool for tool in task.tools}
        specs = tuple(_spec(tool) for tool in tools.values())
        skill, memory = ("", skill) if self._as_memory else (skill, self._memory)
        prompt = first_prompt(task, skill, memory, sample=sample, tools=specs)
        text, usage, ran, calls = "", Usage(), list[ToolCall](), 0
        while calls < self._max_rounds:
            reply = await self._model.generate(prompt)
            require_answer(reply)
            calls += 1
            usage += reply.usage
            text = reply.text if reply.text.strip() else text
            if not reply.tool_calls:
                break
            results, called = _run(reply, tools)
            ran += called
            prompt = prompt.model_copy(update={"messages": (*prompt.messages, *results)})
        return Attempt(task_id=task.id, text=text, tool_calls=tuple(ran), usage=usage, calls=calls)


def _spec(tool: Tool) -> ToolSpec:
    parameters = {
        "type": "object",
        "properties": {tool.parameter: {"type": "string"}},
        "required": [tool.parameter],
        "additionalProperties": False,
    }
    return ToolSpec(name=tool.name, description=tool.description, parameters=parameters)


def _run(reply: Reply, tools: dict[str, Tool]) -> tuple[list[Message], list[ToolCall]]:
    """The messages that continue the conversation, and the calls that were really run."""
    messages: list[Message] = [AssistantMessage(text=reply.text, tool_calls=reply.tool_calls)]
    ran: list[ToolCall] = []
    for call in reply.tool_calls:
        tool = tools.get(call.name)
        query = call.arguments.get(tool.parameter) if tool else None
        if tool is None:
            known = ", ".join(tools) or "none"
            result = f"Error: there is no tool called {call.name!r}. Tools: {known}."
        elif not isinstance(query, str) or len(call.arguments) != 1:
            result = f"Error: {tool.name} takes exactly one argument, the string {tool.parameter!r}."
        else:
            result = notes.search(tool.notes, query)
            ran.append(call)
        messages.append(ToolMessage(call_id=call.id, text=result))
    return messages, ran
