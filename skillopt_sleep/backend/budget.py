"""Caps on what a run may spend, held *before* each call: sixteen workers and a cap of three make three calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import TracebackType

import anyio

from skillopt_sleep.domain.errors import BudgetExhausted, ModelError
from skillopt_sleep.domain.llm import Role, Usage
from skillopt_sleep.domain.ports import SpendBook
from skillopt_sleep.domain.reports import RoleSpend
from skillopt_sleep.domain.spending import Amount, Caps, Price, Unit

_OPTIONS: dict[Unit, str] = {"calls": "--max-calls", "tokens": "--max-tokens", "usd": "--max-usd"}
_DAILY: dict[Unit, str] = {"calls": "--daily-calls", "tokens": "--daily-tokens", "usd": "--daily-usd"}

PriceOf = Callable[[str], Price | None]
"""The price of a model by its id; None where it is not known."""


def no_price(_: str) -> None:
    """For callers that count calls and tokens only."""


@dataclass(slots=True)
class _Line:
    """Spend of one role on one model. Failed calls are among `calls`: they may have been paid."""

    price: Price | None
    calls: int = 0
    cached: int = 0
    failed: int = 0
    used: Amount = field(default=Amount())
    output_tokens: int = 0
    unsettled: Amount = field(default=Amount())


class Budget:
    """Caps on calls, tokens and money of a run, and what each role has used of them. None: no cap.

    A call reserves the most that it can take before it begins, so no cap is ever passed, however many run side by side.
    `book` adds the caps of the day. Where a price is not known, calls and tokens still hold. For one event loop; not
    for several threads.
    """

    def __init__(
        self,
        *,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_usd: float | None = None,
        price_of: PriceOf = no_price,
        book: SpendBook | None = None,
        already: Iterable[RoleSpend] = (),
    ) -> None:
        self._caps = Caps(calls=max_calls, tokens=max_tokens, usd=max_usd)
        self._price_of = price_of
        self._book = book
        self._lines: dict[tuple[Role, str], _Line] = {}
        self._held = Amount()
        self._waiting: list[anyio.Event] = []
        for row in already:  # a night that goes on counts what it spent before it was interrupted
            line = self._line(row.role, row.model)
            line.calls, line.failed, line.output_tokens = row.calls, row.failed, row.output_tokens
            line.used = Amount(0, row.tokens, row.usd or 0.0)
            line.unsettled = Amount(0, row.unsettled_tokens, row.unsettled_usd)

    @property
    def calls(self) -> int:
        """Calls begun, failed ones included."""
        return sum(line.calls for line in self._lines.values())

    @property
    def tokens(self) -> int:
        """Tokens of finished calls; those of calls that broke off count at their most."""
        return self._spent().tokens

    def spend(self) -> tuple[RoleSpend, ...]:
        """What each role has used, in order of first use."""
        return tuple(
            RoleSpend(
                role=role,
                model=model,
                calls=line.calls,
                cached=line.cached,
                failed=line.failed,
                tokens=line.used.tokens,
                output_tokens=line.output_tokens,
                usd=None if line.price is None and not line.used.usd else line.used.usd,
                unsettled_tokens=line.unsettled.tokens,
                unsettled_usd=line.unsettled.usd,
            )
            for (role, model), line in self._lines.items()
        )

    async def reserve(self, role: Role, model: str, *, input_tokens: int, output_tokens: int) -> Booking:
        """Books one call that takes at most so many tokens, or raises `BudgetExhausted`.

        Waits while only the reservations of unfinished calls stand in the way: most of them will give something back.
        """
        line = self._line(role, model)
        usd = line.price.most(input_tokens, output_tokens) if line.price else 0.0
        most = Amount(1, input_tokens + output_tokens, usd)
        while True:
            spent = self._spent()
            if unit := self._caps.passed_by(spent + most):
                raise _exhausted(self._caps.in_words(unit), _OPTIONS[unit])
            if not self._caps.passed_by(spent + self._held + most):
                unit = self._book.hold(role, model, most) if self._book else None
                if unit is None:
                    break
                if self._book and not self._held.tokens:
                    raise _exhausted(f"{self._book.limit(unit)} a day", _DAILY[unit])
            await self._change()
        line.calls += 1
        self._held += Amount(0, most.tokens, most.usd)
        return Booking(self, role, model, line, most)

    def count_cached(self, role: Role, model: str) -> None:
        """Notes a reply that cost nothing because it was known already."""
        self._line(role, model).cached += 1

    def _line(self, role: Role, model: str) -> _Line:
        if (role, model) not in self._lines:
            self._lines[role, model] = _Line(price=self._price_of(model))
        return self._lines[role, model]

    def _spent(self) -> Amount:
        rows = self._lines.values()
        total = sum((line.used + line.unsettled for line in rows), Amount())
        return total + Amount(calls=self.calls)

    async def _change(self) -> None:
        event = anyio.Event()
        self._waiting.append(event)
        await event.wait()

    def _release(self, booking: Booking, used: Amount, *, failed: bool) -> None:
        self._held -= Amount(0, booking.most.tokens, booking.most.usd)
        if self._book:
            self._book.settle(booking.role, booking.model, booking.most, used, failed=failed)
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            event.set()


class Booking:
    """One reserved call, as a context: `settle` it with the real usage, or leave by an exception.

    A call that broke off or was cancelled keeps its whole reservation, because its reply may have been written and
    billed; only what a service refused to begin gets it back. The call always counts.
    """

    def __init__(self, budget: Budget, role: Role, model: str, line: _Line, most: Amount) -> None:
        self.role: Role = role
        self.model = model
        self.most = most
        self._budget = budget
        self._line = line
        self._used: Amount | None = None

    def __enter__(self) -> Booking:
        return self

    def settle(self, usage: Usage) -> None:
        """Replaces the reservation by what was really used."""
        usd = self._line.price.cost(usage) if self._line.price else usage.usd or 0.0
        self._used = Amount(1, usage.total, usd)
        self._line.used += Amount(0, usage.total, usd)
        self._line.output_tokens += usage.output_tokens

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        used = self._used
        if used is None:
            refused = isinstance(error, ModelError) and not error.billed
            used = Amount(1) if refused else self.most
            self._line.failed += 1
            self._line.unsettled += used - Amount(1)
        self._budget._release(self, used, failed=self._used is None)


def _exhausted(cap: str, option: str) -> BudgetExhausted:
    return BudgetExhausted(f"The next model call could pass the cap of {cap}.", hint=f"Raise it with {option}.")
