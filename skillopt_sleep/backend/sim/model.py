"""The simulated model behind the Model seam."""

from __future__ import annotations

import anyio
from pydantic import BaseModel

from skillopt_sleep.backend.briefed import read_briefing
from skillopt_sleep.backend.sim.answering import answer
from skillopt_sleep.backend.sim.dice import Dice
from skillopt_sleep.backend.sim.optimizing import propose
from skillopt_sleep.backend.sim.temperament import TEMPERAMENTS, Strength
from skillopt_sleep.domain.errors import ModelMalformed
from skillopt_sleep.domain.llm import Prompt, Reply, StopReason, ToolCall, Usage, estimate_tokens, prompt_tokens
from skillopt_sleep.domain.skills import EditList

_CHARACTERS_PER_TOKEN = 4


class SimModel:
    """Answers in text, or proposes edits when asked for an `EditList`; it cannot grade.

    The reply is a function of seed, strength and the whole prompt, its sample included. A seed other than 0 shows in
    the id, since it changes every reply. `latency` in seconds makes a call last, for benchmarks.
    """

    def __init__(self, strength: Strength = "mid", seed: int = 0, *, latency: float = 0.0) -> None:
        self._strength: Strength = strength
        self._seed = seed
        self._latency = latency

    @property
    def id(self) -> str:
        return f"sim:{self._strength}" + (f"#{self._seed}" if self._seed else "")

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        await anyio.sleep(self._latency)
        temperament = TEMPERAMENTS[self._strength]
        dice = Dice(f"{self._seed}|{self._strength}|{prompt.model_dump_json()}")
        if prompt.role == "judge" or schema not in (None, EditList):
            wanted = schema.__name__ if schema else "a judgement"
            raise ModelMalformed(
                f"{self.id} is not able to give {wanted}; grading is not supported.",
                hint="The simulated model answers requests and proposes edits; choose another model for this role.",
            )
        if schema is EditList:
            return self._reply(prompt, propose(read_briefing(prompt), temperament, dice).model_dump_json())
        said = answer(prompt, temperament, dice)
        if isinstance(said, ToolCall):
            return self._reply(prompt, "", tool_calls=(said,), stop="tool_use")
        longest = prompt.max_tokens * _CHARACTERS_PER_TOKEN
        if estimate_tokens(said) > prompt.max_tokens:
            return self._reply(prompt, said[:longest], stop="max_tokens")
        return self._reply(prompt, said)

    def _reply(
        self, prompt: Prompt, text: str, *, tool_calls: tuple[ToolCall, ...] = (), stop: StopReason = "end"
    ) -> Reply:
        spoken = text + "".join(call.model_dump_json() for call in tool_calls)
        usage = Usage(
            input_tokens=prompt_tokens(prompt),
            output_tokens=min(estimate_tokens(spoken), prompt.max_tokens),
            estimated=True,
        )
        return Reply(text=text, model=self.id, tool_calls=tool_calls, stop=stop, usage=usage)
