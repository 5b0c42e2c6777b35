"""A model whose calls are told to an event sink, with their times."""

from __future__ import annotations

import time
from collections.abc import Callable

from pydantic import BaseModel

from skillopt_sleep.domain.errors import ModelError
from skillopt_sleep.domain.events import CallFinished
from skillopt_sleep.domain.llm import Prompt, Reply
from skillopt_sleep.domain.ports import EventSink, Model

Clock = Callable[[], float]


class Recorded:
    """Emits one `CallFinished` for each call, however it ends; a cancelled call counts as failed."""

    def __init__(self, model: Model, events: EventSink, *, clock: Clock = time.monotonic) -> None:
        self._model = model
        self._events = events
        self._clock = clock

    @property
    def id(self) -> str:
        return self._model.id

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        started = self._clock()
        reply: Reply | None = None
        problem = "cancelled"
        try:
            reply = await self._model.generate(prompt, schema=schema)
        except ModelError as error:
            problem = f"{error.code}: {error.message}"
            raise
        finally:
            self._events(
                CallFinished(
                    role=prompt.role,
                    model=self.id,
                    started=started,
                    ended=self._clock(),
                    tokens=reply.usage.total if reply else 0,
                    outcome="ok" if reply else "failed",
                    error=None if reply else problem,
                )
            )
        return reply


def cached_call(prompt: Prompt, model: str, *, clock: Clock = time.monotonic) -> CallFinished:
    """The event of a call that did not have to be made."""
    now = clock()
    return CallFinished(role=prompt.role, model=model, started=now, ended=now, tokens=0, outcome="cached")
