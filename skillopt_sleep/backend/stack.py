"""The one place where a model gets its wrappers."""

from __future__ import annotations

import anyio

from skillopt_sleep.backend.budget import Budget
from skillopt_sleep.backend.cached import Cache, Cached
from skillopt_sleep.backend.limited import Limited
from skillopt_sleep.backend.metered import Metered
from skillopt_sleep.backend.recorded import Recorded, cached_call
from skillopt_sleep.backend.retrying import Retrying, RetryPolicy
from skillopt_sleep.domain.llm import Prompt
from skillopt_sleep.domain.ports import EventSink, Model


def compose(
    model: Model,
    *,
    budget: Budget,
    limiter: anyio.CapacityLimiter,
    events: EventSink,
    cache: Cache | None = None,
    cache_extra: str = "",
    retry: RetryPolicy | None = None,
) -> Model:
    """A model ready for a night. From the outside in:

    Cached      a hit costs neither budget nor a slot nor a retry
    Retrying    pauses without holding a slot; each attempt ...
    Limited     ... waits for one, first come, first served, and then ...
    Metered     ... is booked, since a failed call may have been paid. What only waits in the queue reserves nothing.
    Recorded    innermost, so that recorded times are those of the real call and not of the queue
    """
    paid = Limited(Metered(Recorded(model, events), budget, bounded=model), limiter)
    patient = Retrying(paid, retry or RetryPolicy())
    if cache is None:
        return patient

    def on_hit(prompt: Prompt) -> None:
        budget.count_cached(prompt.role, model.id)
        events(cached_call(prompt, model.id))

    return Cached(patient, cache, extra=cache_extra, on_hit=on_hit)
