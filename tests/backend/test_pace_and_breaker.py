"""A service that is slow is asked less; one that is away is waited for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import anyio
import anyio.lowlevel
import pytest

from skillopt_sleep.backend.breaker import Breaker, BreakerPolicy
from skillopt_sleep.backend.budget import Budget
from skillopt_sleep.backend.paced import Paced
from skillopt_sleep.backend.stack import compose
from skillopt_sleep.domain.errors import ModelDown, ModelError, ModelMalformed, ModelUnavailable
from skillopt_sleep.domain.events import Event, Warned
from skillopt_sleep.domain.ports import Model
from tests.backend.fakes import Turnstile, Watch, ask

Outcome = Callable[[int], int | ModelError]


def busy() -> ModelError:
    return ModelUnavailable("busy", retry="rate_limit")


def away() -> ModelError:
    return ModelUnavailable("away", retry="transient")


async def all_at_once(model: Model, count: int) -> list[str]:
    """How each of so many prompts ended: "ok", or the code of its error."""
    ends: list[str] = []

    async def one(number: int) -> None:
        try:
            ends.append((await model.generate(ask(f"{number:03d}"))).text)
        except ModelError as error:
            ends.append(error.code)

    async with anyio.create_task_group() as group:
        for number in range(count):
            group.start_soon(one, number)
    return ends


async def one_by_one(model: Model, count: int) -> None:
    """So many different prompts, each after the one before has ended, however it ended."""
    for number in range(count):
        with suppress(ModelUnavailable, ModelMalformed):
            await model.generate(ask(f"{number:03d}"))


# ---- pace


def test_calls_that_are_refused_together_halve_the_pace_once() -> None:
    model = Paced(Turnstile(lambda _: busy()), 16)
    anyio.run(all_at_once, model, 16)
    assert model.permitted == 8


def test_the_pace_never_falls_below_one_call_and_what_waits_is_still_asked() -> None:
    inner = Turnstile(lambda _: busy())
    model = Paced(inner, 8)
    ends = anyio.run(all_at_once, model, 60)
    assert (model.permitted, inner.calls, len(ends)) == (1, 60, 60)


def test_the_pace_grows_back_call_by_call_up_to_where_it_was() -> None:
    inner = Turnstile(lambda n: busy() if n == 1 else 5, steps=0)
    model = Paced(inner, 4)
    seen = []

    async def main() -> None:
        for _ in range(12):
            await all_at_once(model, 1)
            seen.append(model.permitted)

    anyio.run(main)
    assert seen == [2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4]


def test_other_failures_leave_the_pace_alone() -> None:
    model = Paced(Turnstile(lambda _: away()), 8)
    anyio.run(all_at_once, model, 8)
    assert model.permitted == 8


def test_after_a_refusal_fewer_calls_are_really_under_way() -> None:
    inner = Turnstile(lambda n: busy() if n <= 8 else 5)
    model = Paced(inner, 8)

    async def main() -> None:
        await all_at_once(model, 8)
        inner.most_running = 0
        await all_at_once(model, 4)

    anyio.run(main)
    assert inner.most_running == 4


# ---- breaker


class Told:
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def __call__(self, event: Event, /) -> None:
        if isinstance(event, Warned):
            self.warnings.append(event.message)


def breaker(inner: Model, watch: Watch, told: Told | None = None, policy: BreakerPolicy | None = None) -> Breaker:
    return Breaker(
        inner,
        policy or BreakerPolicy(),
        told or Told(),
        service="models.example",
        clock=watch.time,
        sleep=watch.sleep,
    )


def whole(inner: Model, watch: Watch, told: Told | None = None, slots: int = 16) -> Model:
    return compose(
        inner,
        budget=Budget(),
        limiter=anyio.CapacityLimiter(slots),
        events=told or Told(),
        clock=watch.time,
        sleep=watch.sleep,
    )


class Flaky(Turnstile):
    """Away while the clock stands between two times."""

    def __init__(self, watch: Watch, begin: float, end: float) -> None:
        super().__init__(lambda _: away() if begin <= watch.now < end else 5)


def test_an_outage_costs_time_and_not_one_observation() -> None:
    watch, told = Watch(), Told()
    inner = Flaky(watch, 0.0, 100.0 + 45.0)
    ends = anyio.run(all_at_once, whole(inner, watch, told), 40)
    assert ends == ["ok"] * 40
    assert len(told.warnings) == 2
    assert "does not answer" in told.warnings[0]
    assert "answers again" in told.warnings[1]


def test_while_a_service_is_away_one_call_at_a_time_asks_whether_it_is_back() -> None:
    watch = Watch()
    inner = Flaky(watch, 0.0, 100.0 + 40.0)
    model = breaker(inner, watch, policy=BreakerPolicy(failures=3, prompts=2, first_patience=600))

    async def main() -> None:
        await all_at_once(model, 3)
        inner.most_running = 0
        before = inner.calls
        await all_at_once(model, 20)
        assert inner.calls - before == 5 + 19  # four probes in vain, one that was answered, then the others

    anyio.run(main)
    assert [round(pause) for pause in watch.pauses] == [2, 4, 8, 16, 32]


def test_when_patience_ends_the_run_stops_and_says_for_how_long() -> None:
    watch = Watch()
    inner = Turnstile(lambda n: 5 if n == 1 else away())

    async def main() -> list[str]:
        model = whole(inner, watch)
        await model.generate(ask("it worked once"))
        await one_by_one(model, 2)
        with pytest.raises(ModelDown, match=r"has been down for 10 min: away") as caught:
            await model.generate(ask("one more"))
        assert "Nothing is lost" in caught.value.hint
        before = inner.calls
        ends = await all_at_once(model, 5)
        assert inner.calls == before
        return ends

    assert anyio.run(main) == ["model_down"] * 5


def test_a_service_that_never_answered_is_not_waited_for_so_long() -> None:
    watch = Watch()
    ends = anyio.run(all_at_once, whole(Turnstile(lambda _: away()), watch), 20)
    assert set(ends) == {"model_down"}
    assert watch.now - 100.0 < 200.0


def test_one_prompt_that_always_fails_says_nothing_about_the_service() -> None:
    watch, told = Watch(), Told()
    model = breaker(Turnstile(lambda _: away()), watch, told)

    async def main() -> None:
        for _ in range(30):
            with pytest.raises(ModelUnavailable):
                await model.generate(ask("the same"))

    anyio.run(main)
    assert (told.warnings, watch.pauses) == ([], [])


@pytest.mark.parametrize("alive", [ModelMalformed("half", retry="transient"), None])
def test_whatever_only_a_working_service_can_say_ends_the_count(alive: ModelError | None) -> None:
    watch, told = Watch(), Told()
    model = breaker(Turnstile(lambda n: (alive or 5) if n % 5 == 0 else away(), steps=0), watch, told)

    anyio.run(one_by_one, model, 30)
    assert told.warnings == []


def test_a_probe_that_is_cancelled_hands_over_to_another_call() -> None:
    watch = Watch()
    inner = Flaky(watch, 0.0, 100.0 + 10.0)
    model = breaker(inner, watch, policy=BreakerPolicy(failures=1, prompts=1))

    async def main() -> list[str]:
        await all_at_once(model, 1)
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(model.generate, ask("probe"))
                await anyio.lowlevel.checkpoint()
                scope.cancel()
        return await all_at_once(model, 3)

    assert anyio.run(main) == ["ok"] * 3


def test_a_service_that_asks_for_a_longer_pause_gets_it_up_to_the_cap() -> None:
    watch = Watch()
    inner = Turnstile(
        lambda n: ModelUnavailable("busy", retry="rate_limit", retry_after=17.0 if n == 1 else 9999.0) if n < 3 else 5
    )
    model = breaker(inner, watch, policy=BreakerPolicy(failures=1, prompts=1, first_patience=600))

    async def main() -> None:
        await all_at_once(model, 1)
        await model.generate(ask())

    anyio.run(main)
    assert watch.pauses == [17.0, 60.0]
