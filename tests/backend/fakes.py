"""Prompts and models that tests of the wrappers share."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import anyio.lowlevel
from pydantic import BaseModel

from skillopt_sleep.domain.errors import ModelError
from skillopt_sleep.domain.llm import Prompt, Reply, Role, Usage, UserMessage


def ask(text: str = "Hello?", *, role: Role = "target", sample: int = 0, max_tokens: int = 100) -> Prompt:
    return Prompt(role=role, system="", messages=(UserMessage(text=text),), sample=sample, max_tokens=max_tokens)


class Turnstile:
    """A model that yields `steps` times during a call, so that calls overlap, and counts them.

    `outcome` decides each call by its number: a number of tokens used, or the error that is raised.
    """

    def __init__(self, outcome: Callable[[int], int | ModelError] = lambda _n: 10, *, steps: int = 3) -> None:
        self._outcome = outcome
        self._steps = steps
        self.calls = 0
        self.running = 0
        self.most_running = 0
        self.order: list[str] = []

    @property
    def id(self) -> str:
        return "turnstile"

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        self.calls += 1
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        self.order.append(prompt.messages[0].text)
        try:
            outcome = self._outcome(self.calls)
            for _ in range(self._steps):
                await anyio.lowlevel.checkpoint()
            if isinstance(outcome, ModelError):
                raise outcome
            return Reply(text="ok", model=self.id, usage=Usage(input_tokens=outcome))
        finally:
            self.running -= 1


class Watch:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.pauses: list[float] = []

    def time(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
        await anyio.lowlevel.checkpoint()
