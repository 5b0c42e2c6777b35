"""A model whose calls are booked on a budget."""

from __future__ import annotations

from pydantic import BaseModel

from skillopt_sleep.backend.budget import Budget
from skillopt_sleep.domain.llm import Prompt, Reply, estimate_tokens, prompt_tokens
from skillopt_sleep.domain.ports import Model


class Metered:
    """Reserves before each call and settles after it. Raises `BudgetExhausted` instead of passing a cap."""

    def __init__(self, model: Model, budget: Budget) -> None:
        self._model = model
        self._budget = budget

    @property
    def id(self) -> str:
        return self._model.id

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        expected = prompt_tokens(prompt)
        with await self._budget.reserve(prompt.role, self.id, tokens=expected + prompt.max_tokens) as booking:
            reply = await self._model.generate(prompt, schema=schema)
            # A service that reports no usage has not worked for nothing.
            booking.settle(reply.usage.total or expected + estimate_tokens(reply.text))
        return reply
