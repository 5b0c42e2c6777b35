"""What every agent says to its model, and what it takes for an answer."""

from __future__ import annotations

from skillopt_sleep import prompts
from skillopt_sleep.domain.errors import ModelMalformed
from skillopt_sleep.domain.llm import Prompt, Reply, ToolSpec, UserMessage
from skillopt_sleep.domain.tasks import Task


def first_prompt(task: Task, skill: str, memory: str, *, sample: int, tools: tuple[ToolSpec, ...] = ()) -> Prompt:
    """The task as its person typed it, under the skill and the memory. The criterion is never part of it."""
    system = prompts.render("target", skill=skill.strip(), memory=memory.strip())
    return Prompt(
        role="target",
        system=system.text,
        messages=(UserMessage(text=task.prompt),),
        tools=tools,
        sample=sample,
        template=system.id,
    )


def require_answer(reply: Reply) -> None:
    """Raise `ModelMalformed` for a reply that is no whole answer: empty, cut off, or withheld by the service.

    Such a reply is a fault of the call and no behaviour of the agent, so it must not be scored. A model that declines
    in words has answered.
    """
    if reply.stop == "max_tokens":
        raise ModelMalformed(f"The reply of {reply.model} was cut off before its end.")
    if reply.stop == "refusal":
        raise ModelMalformed(f"The service withheld the reply of {reply.model} (refusal).")
    if not reply.text.strip() and not reply.tool_calls:
        raise ModelMalformed(f"{reply.model} gave an empty reply (stopped: {reply.stop}).", retry="transient")
