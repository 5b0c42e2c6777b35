"""Both HTTP backends against a loopback service, alone and with all their wrappers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import anyio
from pydantic import BaseModel

from skillopt_sleep.backend.budget import Budget
from skillopt_sleep.backend.cached import Cache
from skillopt_sleep.backend.registry import Options, build
from skillopt_sleep.backend.stack import compose
from skillopt_sleep.domain.events import Event
from skillopt_sleep.domain.llm import Prompt, Reply
from skillopt_sleep.domain.ports import Model
from tests.backend.fakes import Watch
from tests.conformance.model import close

Protocol = Literal["anthropic", "openai"]
PROTOCOLS: tuple[Protocol, ...] = ("anthropic", "openai")
KEY = "sk-loopback-0123456789"


def model_at(url: str, protocol: Protocol, *, model: str | None = None, call_seconds: float = 20.0) -> Model:
    """The backend as a person's settings would build it."""
    if protocol == "anthropic":
        environ = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url}
        return build(f"anthropic:{model or 'haiku'}", Options(environ=environ, call_seconds=call_seconds))
    environ = {"OPENAI_API_KEY": KEY}
    options = Options(environ=environ, openai_url=f"{url}/v1", call_seconds=call_seconds)
    return build(f"openai:{model or 'little'}", options)


def asked(model: Model, prompt: Prompt, schema: type[BaseModel] | None = None) -> Reply:
    """One call in an event loop of its own."""

    async def ask() -> Reply:
        with anyio.fail_after(30):
            try:
                return await model.generate(prompt, schema=schema)
            finally:
                await close(model)

    return anyio.run(ask)


def asked_patiently(
    model: Model,
    prompt: Prompt,
    cache: Cache,
    schema: type[BaseModel] | None = None,
    events: Callable[[Event], None] = lambda _: None,
) -> Reply:
    """One call through every wrapper, on a clock that only sleeping moves."""

    async def ask() -> Reply:
        watch = Watch()
        whole = compose(
            model,
            budget=Budget(),
            limiter=anyio.CapacityLimiter(4),
            events=events,
            cache=cache,
            clock=watch.time,
            sleep=watch.sleep,
        )
        with anyio.fail_after(30):
            try:
                return await whole.generate(prompt, schema=schema)
            finally:
                await close(model)

    return anyio.run(ask)
