"""The one place where a model gets its wrappers."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import anyio

from skillopt_sleep.backend.breaker import Breaker, BreakerPolicy
from skillopt_sleep.backend.budget import Budget
from skillopt_sleep.backend.cached import Cache, Cached
from skillopt_sleep.backend.limited import Limited
from skillopt_sleep.backend.metered import Metered
from skillopt_sleep.backend.paced import Paced
from skillopt_sleep.backend.recorded import Recorded, cached_call
from skillopt_sleep.backend.redacted import Masking, Redacted
from skillopt_sleep.backend.retrying import Retrying, RetryPolicy
from skillopt_sleep.domain.llm import Prompt
from skillopt_sleep.domain.ports import EventSink, Model, Served


def compose(  # noqa: PLR0913 - the one place where everything about a model comes together
    model: Model,
    *,
    budget: Budget,
    limiter: anyio.CapacityLimiter,
    events: EventSink,
    cache: Cache | None = None,
    cache_extra: str = "",
    retry: RetryPolicy | None = None,
    breaker: BreakerPolicy | None = None,
    masking: Masking | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> Model:
    """A model ready for a night. From the outside in:

    Cached      a hit costs neither budget nor a slot nor a retry
    Retrying    pauses without holding a slot; each attempt ...
    Breaker     ... waits while the service is down, without holding anything, and then ...
    Paced       ... while the service says that it is too much, and then ...
    Limited     ... for a slot, first come, first served, and then ...
    Metered     ... is booked, since a failed call may have been paid. What only waits in the queue reserves nothing.
    Recorded    recorded times are those of the real call and not of the queue
    Redacted    innermost: nothing else sees a reply before its secrets are masked, and nothing unmasked is sent
    """
    service = model.service if isinstance(model, Served) else model.id
    discreet = Redacted(model, masking) if masking else model
    paid = Limited(Metered(Recorded(discreet, events), budget, bounded=model), limiter)
    paced = Paced(paid, int(limiter.total_tokens))
    held = Breaker(paced, breaker or BreakerPolicy(), events, service=service, clock=clock, sleep=sleep)
    patient = Retrying(held, retry or RetryPolicy(), clock=clock, sleep=sleep)
    if cache is None:
        return patient

    def on_hit(prompt: Prompt) -> None:
        budget.count_cached(prompt.role, model.id)
        events(cached_call(prompt, model.id))

    extra = f"{cache_extra} {service}" if isinstance(model, Served) else cache_extra
    return Cached(patient, cache, extra=extra, on_hit=on_hit)
