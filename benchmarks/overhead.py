"""What a backend adds to a call: against a loopback service that answers at once.

    python -m benchmarks.overhead [--calls 200]

`alone` is one call after the other, `wide` is sixteen at a time (seconds for all, divided by the number of calls).
`bare socket` is the standard library's own client on one kept connection: what the service itself and the machine take.
"""

from __future__ import annotations

import argparse
import http.client
import json
import time
from functools import partial
from statistics import median
from urllib.parse import urlsplit

import anyio

from benchmarks.outages import model_at
from skillopt_sleep.backend.budget import Budget
from skillopt_sleep.backend.cached import MemoryCache
from skillopt_sleep.backend.stack import compose
from skillopt_sleep.domain.events import Event
from skillopt_sleep.domain.llm import Prompt, UserMessage
from skillopt_sleep.domain.ports import Closable, Model
from tests.loopback.server import Loopback
from tests.loopback.wire import Say

SKILL = "# Briefs\n\n" + "Answer in two paragraphs. " * 80
WIDTH = 16


def prompt(number: int) -> Prompt:
    return Prompt(role="target", system=SKILL, messages=(UserMessage(text=f"Write a brief on question {number}."),))


def bare(url: str, calls: int) -> list[float]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    times = []
    for number in range(calls):
        messages = [{"role": "system", "content": SKILL}, {"role": "user", "content": str(number)}]
        began = time.perf_counter()
        connection.request("POST", "/v1/chat/completions", json.dumps({"model": "little", "messages": messages}))
        connection.getresponse().read()
        times.append(time.perf_counter() - began)
    connection.close()
    return times


async def alone(model: Model, calls: int) -> list[float]:
    times = []
    for number in range(-1, calls):
        began = time.perf_counter()
        await model.generate(prompt(number + 1))
        times.append(time.perf_counter() - began)
    return times


async def wide(model: Model, calls: int) -> float:
    numbers = iter(range(10_000, 10_000 + calls))

    async def work() -> None:
        for number in numbers:
            await model.generate(prompt(number))

    began = time.perf_counter()
    async with anyio.create_task_group() as group:
        for _ in range(WIDTH):
            group.start_soon(work)
    return (time.perf_counter() - began) / calls


async def measure(model: Model, calls: int, *, whole: bool) -> tuple[float, float, float]:
    """First call, median of the later ones, and share of a wide run."""
    asked = model
    if whole:
        asked = compose(
            model, budget=Budget(), limiter=anyio.CapacityLimiter(WIDTH), events=_ignore, cache=MemoryCache()
        )
    first, *later = await alone(asked, calls)
    share = await wide(asked, calls)
    if isinstance(model, Closable):
        await model.aclose()
    return first, median(later), share


def _ignore(_: Event) -> None:
    """Only times are of interest here."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200)
    calls = parser.parse_args().calls
    print("| backend | first call, ms | alone, ms | wide, ms a call |\n|---|---|---|---|")
    with Loopback(lambda _: Say(text="Two paragraphs.")) as service:
        print(f"| bare socket | | {1e3 * median(bare(service.url, calls)):.1f} | |")
        for backend in ("openai", "anthropic"):
            for whole in (False, True):
                model = model_at(service.url, backend, 30.0)
                first, later, share = anyio.run(partial(measure, model, calls, whole=whole))
                name = f"{backend}, with all wrappers" if whole else backend
                print(f"| {name} | {1e3 * first:.0f} | {1e3 * later:.1f} | {1e3 * share:.1f} |")


if __name__ == "__main__":
    main()
