"""A model that answers only so many prompts at a time."""

from __future__ import annotations

import anyio
from pydantic import BaseModel

from skillopt_sleep.domain.llm import Prompt, Reply
from skillopt_sleep.domain.ports import Model


class Limited:
    """Takes a slot of `limiter` for each call, first come, first served. One limiter bounds one provider account."""

    def __init__(self, model: Model, limiter: anyio.CapacityLimiter) -> None:
        self._model = model
        self._limiter = limiter

    @property
    def id(self) -> str:
        return self._model.id

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        async with self._limiter:
            return await self._model.generate(prompt, schema=schema)
