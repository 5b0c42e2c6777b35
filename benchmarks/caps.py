"""Is a cap ever passed? Random nights: many workers, random caps, a model that takes all it may or breaks off.

python -m benchmarks.caps [runs]
"""

from __future__ import annotations

import random
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import anyio
import anyio.lowlevel
from pydantic import BaseModel

from skillopt_sleep.backend.budget import Budget
from skillopt_sleep.backend.metered import Metered
from skillopt_sleep.domain.errors import BudgetExhausted, ModelError, ModelUnavailable
from skillopt_sleep.domain.llm import Prompt, Reply, Usage, UserMessage, most_prompt_tokens
from skillopt_sleep.domain.ports import Model
from skillopt_sleep.domain.spending import Amount, Caps, Price
from skillopt_sleep.store import StateHome


def run_parallel(model: Model, workers: int, *, max_tokens: int = 100) -> tuple[int, int]:
    """How many of the calls were made well, and how many were refused by the budget."""
    ended = {"ok": 0, "refused": 0, "failed": 0}

    async def worker(number: int) -> None:
        question = Prompt(role="target", system="", messages=(UserMessage(text=str(number)),), max_tokens=max_tokens)
        try:
            await model.generate(question)
        except BudgetExhausted:
            ended["refused"] += 1
        except ModelError:
            ended["failed"] += 1
        else:
            ended["ok"] += 1

    async def main() -> None:
        with anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                for number in range(workers):
                    group.start_soon(worker, number)

    anyio.run(main)
    return ended["ok"], ended["refused"]


@dataclass(frozen=True)
class Chance:
    """One random night: caps, prices, a model that takes any part of what it may, or breaks off."""

    seed: int

    def play(self, home: Path) -> tuple[bool, Amount]:
        """Whether any cap was passed, and what was spent."""
        chance = random.Random(self.seed)
        price = Price(
            input=chance.choice([0.1, 3.0]), output=chance.choice([0.5, 15.0]), cache_write=chance.random() * 4
        )
        caps = Caps(
            calls=chance.randrange(0, 12),
            tokens=chance.choice([None, chance.randrange(0, 4000)]),
            usd=chance.choice([None, chance.random() * 0.01]),
        )
        day = Caps(
            calls=chance.choice([None, chance.randrange(0, 12)]), usd=chance.choice([None, chance.random() * 0.01])
        )
        book = StateHome(home).spend("night", day, lambda: datetime(2026, 1, 1, tzinfo=UTC))
        budget = Budget(
            max_calls=caps.calls, max_tokens=caps.tokens, max_usd=caps.usd, price_of=lambda _: price, book=book
        )
        inner = Greedy(chance)
        run_parallel(Metered(inner, budget), chance.randrange(1, 17), max_tokens=chance.randrange(50, 200))
        book.close()
        total = Amount(inner.calls, inner.tokens, inner.usd(price))
        return any(cap.passed_by(total) for cap in (caps, day)), total


class Greedy:
    """Uses any number of tokens that its service could count, all of a call's output, or breaks off in the middle."""

    id = "greedy"

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._failing = chance.random() / 2
        self.usages: list[Usage] = []
        self.calls = 0

    @property
    def tokens(self) -> int:
        return sum(usage.total for usage in self.usages)

    def usd(self, price: Price) -> float:
        return sum(price.cost(usage) for usage in self.usages)

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:  # noqa: ARG002
        self.calls += 1
        given = self._chance.randrange(1, most_prompt_tokens(prompt) + 1)
        usage = Usage(
            input_tokens=given,
            cache_write_tokens=self._chance.randrange(0, given + 1),
            output_tokens=self._chance.choice([prompt.max_tokens, self._chance.randrange(0, prompt.max_tokens + 1)]),
        )
        for _ in range(self._chance.randrange(0, 5)):
            await anyio.lowlevel.checkpoint()
        self.usages.append(usage)  # what breaks off after this was billed all the same
        if self._chance.random() < self._failing:
            raise ModelUnavailable("broke off", retry="transient")
        return Reply(text="ok", model=self.id, usage=usage)


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        played = [Chance(seed).play(Path(folder) / str(seed)) for seed in range(runs)]
    passed = sum(over for over, _ in played)
    calls, usd = sum(total.calls for _, total in played), sum(total.usd for _, total in played)
    print(f"{runs} random parallel runs, {calls} calls, ${usd:.2f} (simulated): a cap was passed in {passed}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
