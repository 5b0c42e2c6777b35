"""A model that is asked less often when its service says that it is too much."""

from __future__ import annotations

import anyio
from pydantic import BaseModel

from skillopt_sleep.domain.errors import ModelError
from skillopt_sleep.domain.llm import Prompt, Reply
from skillopt_sleep.domain.ports import Model


class Paced:
    """Halves the calls under way at a rate limit or an overload, and lets them grow back one by one.

    Additive increase, multiplicative decrease, as networks share a line: one more call for each round of answers, half
    as many after a complaint, never none. Calls that were under way together complain together, and count once.
    """

    def __init__(self, model: Model, most: int) -> None:
        self._model = model
        self._most = most
        self._slots = anyio.CapacityLimiter(most)
        self._round = 0
        self._answers = 0

    @property
    def id(self) -> str:
        return self._model.id

    @property
    def permitted(self) -> int:
        """Calls that may be under way now."""
        return int(self._slots.total_tokens)

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        async with self._slots:
            begun_in = self._round
            try:
                reply = await self._model.generate(prompt, schema=schema)
            except ModelError as error:
                if error.retry == "rate_limit" and begun_in == self._round:
                    self._slow_down()
                raise
            self._speed_up()
            return reply

    def _slow_down(self) -> None:
        self._round += 1
        self._answers = 0
        self._slots.total_tokens = max(1, self.permitted // 2)

    def _speed_up(self) -> None:
        if self.permitted >= self._most:
            return
        self._answers += 1
        if self._answers >= self.permitted:
            self._answers = 0
            self._slots.total_tokens = self.permitted + 1
