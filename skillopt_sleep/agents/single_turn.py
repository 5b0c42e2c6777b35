"""The plainest agent: one request, one reply."""

from __future__ import annotations

from skillopt_sleep.agents.request import first_prompt, require_answer
from skillopt_sleep.domain.ports import Model
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.domain.trials import Attempt


class SingleTurn:
    """Asks the model once, without tools."""

    def __init__(self, model: Model, memory: str = "") -> None:
        self._model = model
        self._memory = memory

    @property
    def id(self) -> str:
        return f"single-turn({self._model.id})"

    async def attempt(self, task: Task, skill: str, *, sample: int) -> Attempt:
        """One attempt. Raises what the model raises, and `ModelMalformed` for an empty reply."""
        reply = await self._model.generate(first_prompt(task, skill, self._memory, sample=sample))
        require_answer(reply)
        return Attempt(task_id=task.id, text=reply.text, usage=reply.usage)
