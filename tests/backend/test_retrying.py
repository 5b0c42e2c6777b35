from __future__ import annotations

import anyio
import pytest

from skillopt_sleep.backend.retrying import Retrying, RetryPolicy
from skillopt_sleep.domain.errors import ModelAuthError, ModelError, ModelMalformed, ModelUnavailable
from tests.backend.fakes import Turnstile, Watch, ask


def failing(times: int, error: ModelError) -> Turnstile:
    return Turnstile(lambda n: error if n <= times else 5, steps=0)


def ask_patiently(inner: Turnstile, policy: RetryPolicy) -> tuple[str, Watch]:
    watch = Watch()
    model = Retrying(inner, policy, clock=watch.time, sleep=watch.sleep)
    return anyio.run(model.generate, ask()).text, watch


def test_a_call_that_fails_in_passing_is_made_again() -> None:
    inner = failing(1, ModelUnavailable("reset", retry="transient"))
    text, watch = ask_patiently(inner, RetryPolicy())
    assert (text, inner.calls, len(watch.pauses)) == ("ok", 2, 1)


def test_pauses_grow_and_stay_under_their_cap() -> None:
    inner = failing(5, ModelUnavailable("reset", retry="transient"))
    _, watch = ask_patiently(inner, RetryPolicy(attempts=6, first_delay=1.0, longest_delay=4.0))
    for pause, full in zip(watch.pauses, (1.0, 2.0, 4.0, 4.0, 4.0), strict=True):
        assert full / 2 <= pause <= full


def test_a_rate_limit_waits_as_long_as_the_service_asks() -> None:
    inner = failing(1, ModelUnavailable("busy", retry="rate_limit", retry_after=17.0))
    _, watch = ask_patiently(inner, RetryPolicy(first_delay=1.0))
    assert 17.0 <= watch.pauses[0] <= 18.0


def test_a_rate_limit_without_bounds_is_capped() -> None:
    inner = failing(1, ModelUnavailable("busy", retry="rate_limit", retry_after=86_400.0))
    _, watch = ask_patiently(inner, RetryPolicy(longest_delay=30.0))
    assert watch.pauses == [30.0]


@pytest.mark.parametrize("error", [ModelAuthError("login"), ModelMalformed("not JSON"), ModelError("no")])
def test_what_cannot_get_better_is_not_tried_again(error: ModelError) -> None:
    inner = failing(1, error)
    with pytest.raises(type(error)):
        ask_patiently(inner, RetryPolicy())
    assert inner.calls == 1


def test_attempts_are_bounded_and_the_last_error_is_raised_as_it_came() -> None:
    inner = Turnstile(lambda n: ModelUnavailable(f"down {n}", retry="transient"), steps=0)
    with pytest.raises(ModelUnavailable, match="down 3"):
        ask_patiently(inner, RetryPolicy(attempts=3))
    assert inner.calls == 3


def test_no_attempt_begins_after_the_deadline() -> None:
    inner = Turnstile(lambda _n: ModelUnavailable("busy", retry="rate_limit", retry_after=40.0), steps=0)
    with pytest.raises(ModelUnavailable):
        ask_patiently(inner, RetryPolicy(attempts=10, deadline=100.0))
    assert inner.calls == 3


def test_parallel_workers_do_not_come_back_at_the_same_moment() -> None:
    pauses = set()
    for number in range(10):
        watch = Watch()
        inner = failing(1, ModelUnavailable("busy", retry="transient"))
        model = Retrying(inner, RetryPolicy(), clock=watch.time, sleep=watch.sleep)
        anyio.run(model.generate, ask(str(number)))
        pauses.add(watch.pauses[0])
    assert len(pauses) == 10
