"""A model that is asked again when the error says that this makes sense.

Whether to retry is data of the error (`ModelError.retry`), set by the backend that knows; it is never guessed here.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Annotated

import anyio
from pydantic import BaseModel, Field

from skillopt_sleep.domain.base import Frozen, sha256_hex
from skillopt_sleep.domain.errors import ModelError
from skillopt_sleep.domain.llm import Prompt, Reply
from skillopt_sleep.domain.ports import Model


class RetryPolicy(Frozen):
    """How patient to be. Times are seconds."""

    attempts: Annotated[int, Field(ge=1)] = 4
    """Calls in all, the first included."""
    first_delay: Annotated[float, Field(ge=0)] = 1.0
    """Pause before the second attempt; doubled for each further one."""
    longest_delay: Annotated[float, Field(ge=0)] = 60.0
    """No pause is longer, whatever the service asks for."""
    deadline: Annotated[float, Field(gt=0)] = 300.0
    """No attempt begins later than this after the first one began."""

    def delay(self, attempt: int, error: ModelError, spread: float) -> float:
        """Pause after failed attempt number `attempt` (from 1); `spread` in [0, 1) keeps workers out of step.

        A pause that the service asked for is never shortened by the spread, only by the cap.
        """
        if error.retry_after is not None:
            return min(max(error.retry_after, 0.0) + spread * self.first_delay, self.longest_delay)
        return float(min(self.first_delay * 2 ** (attempt - 1), self.longest_delay) * (0.5 + 0.5 * spread))


class Retrying:
    """Repeats calls that failed in passing. The last error is raised as it came."""

    def __init__(
        self,
        model: Model,
        policy: RetryPolicy,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._model = model
        self._policy = policy
        self._clock = clock
        self._sleep = sleep

    @property
    def id(self) -> str:
        return self._model.id

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        began = self._clock()
        for attempt in range(1, self._policy.attempts):
            try:
                return await self._model.generate(prompt, schema=schema)
            except ModelError as error:
                if error.retry == "no":
                    raise
                delay = self._policy.delay(attempt, error, _spread(prompt, attempt))
                if self._clock() + delay - began > self._policy.deadline:
                    raise
            await self._sleep(delay)
        return await self._model.generate(prompt, schema=schema)


def _spread(prompt: Prompt, attempt: int) -> float:
    """A number in [0, 1) that differs between prompts, so that parallel workers do not all come back at once."""
    return int(sha256_hex(f"{attempt}:{prompt.model_dump_json()}")[:8], 16) / 16**8
