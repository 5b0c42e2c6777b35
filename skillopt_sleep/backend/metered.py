"""A model whose calls are booked on a budget."""

from __future__ import annotations

import json

from pydantic import BaseModel

from skillopt_sleep.backend.budget import Budget
from skillopt_sleep.domain.llm import Prompt, Reply, estimate_tokens, most_prompt_tokens, prompt_tokens
from skillopt_sleep.domain.ports import Bounded, Model


class Metered:
    """Reserves before each call and settles after it. Raises `BudgetExhausted` instead of passing a cap.

    `bounded` is the model that really answers, where it knows how much a call of its can take at most.
    """

    def __init__(self, model: Model, budget: Budget, *, bounded: Model | None = None) -> None:
        self._model = model
        self._budget = budget
        self._bounded = bounded if isinstance(bounded, Bounded) else None

    @property
    def id(self) -> str:
        return self._model.id

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        given, written = self._bounded.most_tokens(prompt, schema) if self._bounded else most_tokens(prompt, schema)
        with await self._budget.reserve(prompt.role, self.id, input_tokens=given, output_tokens=written) as booking:
            reply = await self._model.generate(prompt, schema=schema)
            usage = reply.usage
            if not usage.total:  # a service that reports no usage has not worked for nothing
                usage = usage.model_copy(
                    update={"input_tokens": prompt_tokens(prompt), "output_tokens": estimate_tokens(reply.text)}
                )
            booking.settle(usage)
        return reply


def most_tokens(prompt: Prompt, schema: type[BaseModel] | None) -> tuple[int, int]:
    """Most input and output tokens of a call to a service that adds nothing of its own to the prompt."""
    return most_prompt_tokens(prompt, json.dumps(schema.model_json_schema()) if schema else ""), prompt.max_tokens
