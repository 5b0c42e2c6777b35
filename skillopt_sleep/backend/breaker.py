"""A model that is left alone while its service is down, and asked by one call at a time whether it is back."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated

import anyio
from pydantic import BaseModel, Field

from skillopt_sleep.domain.base import Frozen, sha256_hex
from skillopt_sleep.domain.errors import ModelDown, ModelError, ModelUnavailable
from skillopt_sleep.domain.events import Warned
from skillopt_sleep.domain.llm import Prompt, Reply
from skillopt_sleep.domain.ports import EventSink, Model


class BreakerPolicy(Frozen):
    """When a service counts as down, and how long it is waited for. Times are seconds."""

    failures: Annotated[int, Field(ge=1)] = 6
    """Outages in a row, without an answer between them, ..."""
    prompts: Annotated[int, Field(ge=1)] = 3
    """... of at least so many different prompts: one prompt that always fails says nothing about the service."""
    first_pause: Annotated[float, Field(ge=0)] = 2.0
    """Pause before the first probe; doubled for each further one."""
    longest_pause: Annotated[float, Field(ge=0)] = 60.0
    patience: Annotated[float, Field(gt=0)] = 600.0
    """A service that has answered before is waited for so long."""
    first_patience: Annotated[float, Field(gt=0)] = 60.0
    """One that has not is more likely a wrong address, or a server that nobody has started."""


@dataclass(slots=True)
class _Outage:
    began: float
    pause: float
    probing: bool = False
    changed: anyio.Event = field(default_factory=anyio.Event)


class Breaker:
    """Holds calls back during an outage, instead of letting each of them fail.

    The first call that waits becomes the probe: it tries again and again, with growing pauses, and when it is answered
    all go on. So an outage costs time and no observations. When patience ends, every call raises `ModelDown`.
    """

    def __init__(
        self,
        model: Model,
        policy: BreakerPolicy,
        events: EventSink,
        *,
        service: str,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._model = model
        self._policy = policy
        self._events = events
        self._service = service
        self._clock = clock
        self._sleep = sleep
        self._failures = 0
        self._prompts: set[str] = set()
        self._has_answered = False
        self._outage: _Outage | None = None
        self._given_up: str | None = None

    @property
    def id(self) -> str:
        return self._model.id

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        while self._outage is not None:
            if self._given_up is not None:
                raise self._down(self._given_up)
            if not self._outage.probing:
                return await self._probe(self._outage, prompt, schema)
            await self._outage.changed.wait()
        try:
            reply = await self._model.generate(prompt, schema=schema)
        except ModelError as error:
            self._note(prompt, error)
            raise
        self._alive()
        return reply

    async def _probe(self, outage: _Outage, prompt: Prompt, schema: type[BaseModel] | None) -> Reply:
        """One call on behalf of all. It ends with the outage, with patience, or by being cancelled."""
        outage.probing = True
        try:
            while True:
                await self._sleep(outage.pause)
                try:
                    reply = await self._model.generate(prompt, schema=schema)
                except ModelError as error:
                    if not _is_outage(error):
                        self._alive()
                        raise
                    self._still_down(outage, error)
                else:
                    self._alive()
                    return reply
        finally:
            outage.probing = False  # whoever waits takes over, or goes on
            outage.changed.set()
            outage.changed = anyio.Event()

    def _note(self, prompt: Prompt, error: ModelError) -> None:
        if not _is_outage(error):
            self._alive()
        elif self._outage is None:
            self._failures += 1
            if len(self._prompts) < self._policy.prompts:
                self._prompts.add(sha256_hex(prompt.model_dump_json()))
            if self._failures >= self._policy.failures and len(self._prompts) >= self._policy.prompts:
                self._events(Warned(message=f"{self._service} does not answer; waiting for it. {error.message}"))
                self._outage = _Outage(self._clock(), self._pause(self._policy.first_pause, error))

    def _alive(self) -> None:
        """An answer, or an error that only a service which works can give."""
        self._has_answered = True
        self._failures = 0
        self._prompts.clear()
        if self._outage is not None:
            self._outage = None
            self._events(Warned(message=f"{self._service} answers again."))

    def _still_down(self, outage: _Outage, error: ModelError) -> None:
        patience = self._policy.patience if self._has_answered else self._policy.first_patience
        waited = self._clock() - outage.began
        if waited >= patience:
            self._given_up = f"{self._service} has been down for {_span(waited)}: {error.message}"
            raise self._down(self._given_up) from error
        outage.pause = min(self._pause(outage.pause * 2, error), max(patience - waited, self._policy.first_pause))

    def _pause(self, wanted: float, error: ModelError) -> float:
        return min(max(wanted, error.retry_after or 0.0), self._policy.longest_pause)

    @staticmethod
    def _down(why: str) -> ModelDown:
        return ModelDown(why, hint="Nothing is lost: run again later, and known replies cost nothing.")


def _is_outage(error: ModelError) -> bool:
    return isinstance(error, ModelUnavailable) and error.retry != "no"


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
