from __future__ import annotations

import anyio
import pytest

from skillopt_sleep.backend.budget import Budget
from skillopt_sleep.backend.cached import MemoryCache
from skillopt_sleep.backend.limited import Limited
from skillopt_sleep.backend.recorded import Recorded
from skillopt_sleep.backend.retrying import RetryPolicy
from skillopt_sleep.backend.stack import compose
from skillopt_sleep.domain.errors import BudgetExhausted, ModelUnavailable
from skillopt_sleep.domain.events import CallFinished, Event
from skillopt_sleep.domain.ports import Model
from tests.backend.fakes import Turnstile, ask

QUICK = RetryPolicy(first_delay=0.0)


class Journal:
    def __init__(self) -> None:
        self.calls: list[CallFinished] = []

    def __call__(self, event: Event, /) -> None:
        assert isinstance(event, CallFinished)
        self.calls.append(event)

    @property
    def outcomes(self) -> list[str]:
        return [call.outcome for call in self.calls]


def stacked(inner: Model, journal: Journal, budget: Budget, slots: int = 2, *, cached: bool = True) -> Model:
    return compose(
        inner,
        budget=budget,
        limiter=anyio.CapacityLimiter(slots),
        events=journal,
        cache=MemoryCache() if cached else None,
        retry=QUICK,
    )


def test_a_hit_costs_neither_budget_nor_a_slot() -> None:
    journal, budget = Journal(), Budget(max_calls=1)
    model = stacked(Turnstile(), journal, budget)

    async def twice() -> None:
        await model.generate(ask())
        await model.generate(ask())

    anyio.run(twice)
    assert journal.outcomes == ["ok", "cached"]
    assert (budget.calls, budget.spend()[0].cached) == (1, 1)


def test_each_attempt_of_a_retried_call_is_booked_and_told() -> None:
    journal, budget = Journal(), Budget()
    inner = Turnstile(lambda n: ModelUnavailable("reset", retry="transient") if n == 1 else 5)
    assert anyio.run(stacked(inner, journal, budget).generate, ask()).text == "ok"
    assert journal.outcomes == ["failed", "ok"]
    assert journal.calls[0].error == "model_unavailable: reset"
    assert (budget.calls, budget.spend()[0].failed) == (2, 1)


def test_retries_stop_at_the_cap() -> None:
    budget = Budget(max_calls=2)
    inner = Turnstile(lambda _n: ModelUnavailable("reset", retry="transient"))
    with pytest.raises(BudgetExhausted):
        anyio.run(stacked(inner, Journal(), budget).generate, ask())
    assert inner.calls == 2


def test_only_so_many_calls_run_at_a_time_and_the_first_come_first() -> None:
    inner = Turnstile()
    model = stacked(inner, Journal(), Budget(), slots=3, cached=False)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for number in range(12):
                group.start_soon(model.generate, ask(f"{number:02d}"))

    anyio.run(main)
    assert inner.most_running == 3
    assert inner.order == sorted(inner.order)


def test_one_limiter_bounds_several_models_of_one_account() -> None:
    inner, limiter = Turnstile(), anyio.CapacityLimiter(2)
    models = [Limited(inner, limiter), Limited(inner, limiter)]

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for number in range(10):
                group.start_soon(models[number % 2].generate, ask(str(number)))

    anyio.run(main)
    assert inner.most_running == 2


def test_recorded_times_are_those_of_the_call() -> None:
    ticks = iter([10.0, 12.5])
    journal = Journal()
    anyio.run(Recorded(Turnstile(lambda _n: 7), journal, clock=lambda: next(ticks)).generate, ask(role="judge"))
    assert journal.calls == [
        CallFinished(role="judge", model="turnstile", started=10.0, ended=12.5, tokens=7, outcome="ok")
    ]


def test_a_cancelled_call_is_told_as_failed() -> None:
    journal = Journal()

    async def cancel() -> None:
        with anyio.move_on_after(0):
            await Recorded(Turnstile(steps=1000), journal).generate(ask())

    anyio.run(cancel)
    assert (journal.outcomes, journal.calls[0].error) == (["failed"], "cancelled")
