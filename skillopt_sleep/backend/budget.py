"""Caps on what a run may spend, held *before* each call: sixteen workers and a cap of three make three calls."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from types import TracebackType

import anyio

from skillopt_sleep.domain.errors import BudgetExhausted, ModelAuthError, ModelError
from skillopt_sleep.domain.llm import Role
from skillopt_sleep.domain.reports import RoleSpend


@dataclass(slots=True)
class _Line:
    """Spend of one role on one model. Failed calls are among `calls`: they may have been paid."""

    calls: int = 0
    cached: int = 0
    failed: int = 0
    tokens: int = 0


class Budget:
    """Caps on calls and tokens of a run, and what each role has used of them. None: no cap.

    Calls never overshoot. A call reserves its estimated input plus its longest permitted output in tokens, so tokens
    overshoot only by what an estimate of the input was too low. For one event loop; not for several threads.
    """

    def __init__(self, *, max_calls: int | None = None, max_tokens: int | None = None) -> None:
        self._max_calls = max_calls
        self._max_tokens = max_tokens
        self._lines: defaultdict[tuple[Role, str], _Line] = defaultdict(_Line)
        self._held_tokens = 0
        self._waiting: list[anyio.Event] = []

    @property
    def calls(self) -> int:
        """Calls begun, failed ones included."""
        return sum(line.calls for line in self._lines.values())

    @property
    def tokens(self) -> int:
        """Tokens of finished calls."""
        return sum(line.tokens for line in self._lines.values())

    def spend(self) -> tuple[RoleSpend, ...]:
        """What each role has used, in order of first use."""
        return tuple(
            RoleSpend(
                role=role, model=model, calls=line.calls, cached=line.cached, failed=line.failed, tokens=line.tokens
            )
            for (role, model), line in self._lines.items()
        )

    async def reserve(self, role: Role, model: str, *, tokens: int) -> Booking:
        """Books one call, or raises `BudgetExhausted`.

        Waits while only the reservations of unfinished calls stand in the way: most of them will give tokens back.
        """
        while True:
            if self._max_calls is not None and self.calls >= self._max_calls:
                raise _exhausted(f"{self._max_calls} calls", "--max-calls")
            if self._max_tokens is None or self.tokens + self._held_tokens + tokens <= self._max_tokens:
                break
            if self.tokens + tokens > self._max_tokens:
                raise _exhausted(f"{self._max_tokens} tokens", "--max-tokens")
            await self._change()
        line = self._lines[role, model]
        line.calls += 1
        self._held_tokens += tokens
        return Booking(self, line, tokens)

    def count_cached(self, role: Role, model: str) -> None:
        """Notes a reply that cost nothing because it was known already."""
        self._lines[role, model].cached += 1

    async def _change(self) -> None:
        event = anyio.Event()
        self._waiting.append(event)
        await event.wait()

    def _release(self, tokens: int) -> None:
        self._held_tokens -= tokens
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            event.set()


class Booking:
    """One reserved call, as a context: `settle` it with the real usage, or leave by an exception.

    A call that failed or was cancelled keeps its whole reservation as spent, because its reply may have been written
    and billed; only a service that refused to begin (rate limit, login) gets its tokens back. The call always counts.
    """

    def __init__(self, budget: Budget, line: _Line, tokens: int) -> None:
        self._budget = budget
        self._line = line
        self._tokens = tokens
        self._settled = False

    def __enter__(self) -> Booking:
        return self

    def settle(self, tokens: int) -> None:
        """Replaces the reservation by what was really used."""
        self._settled = True
        self._line.tokens += tokens

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if not self._settled:
            self._line.failed += 1
            self._line.tokens += 0 if _refused(error) else self._tokens
        self._budget._release(self._tokens)


def _refused(error: BaseException | None) -> bool:
    return isinstance(error, ModelAuthError) or (isinstance(error, ModelError) and error.retry == "rate_limit")


def _exhausted(cap: str, option: str) -> BudgetExhausted:
    return BudgetExhausted(f"The next model call would pass the cap of {cap}.", hint=f"Raise it with {option}.")
