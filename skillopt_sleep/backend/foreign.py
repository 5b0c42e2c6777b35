"""A model that somebody else wrote: its bugs are failed calls, not ours."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel

from skillopt_sleep.backend.metered import most_tokens
from skillopt_sleep.domain.errors import ModelError, SleepError, UsageError
from skillopt_sleep.domain.llm import Prompt, Reply
from skillopt_sleep.domain.ports import Bounded, Closable, Model, Served


class Foreign:
    """Lets replies and our own errors through; anything else becomes a `ModelError` that names its class.

    This is the one border at which code of other people runs among ours, so this is where everything is caught.
    """

    def __init__(self, model: Model, spec: str) -> None:
        self._model = model
        self._spec = spec

    @classmethod
    def built(cls, spec: str, build: Callable[[], Model]) -> Foreign:
        """What `build` loads and builds. Raises `UsageError` where that fails, or where it is no model."""
        try:
            model = build()
            usable = isinstance(model.id, str) and callable(model.generate)
        except SleepError:
            raise
        except Exception as error:
            raise UsageError(f"{spec!r} cannot be built: {type(error).__name__}: {error}.") from error
        if not usable:
            raise UsageError(f"{spec!r} does not build a model: its id must be a text.")
        return cls(model, spec)

    @property
    def id(self) -> str:
        return self._model.id

    @property
    def service(self) -> str:
        return self._model.service if isinstance(self._model, Served) else self._spec

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        try:
            reply = await self._model.generate(prompt, schema=schema)
        except SleepError:
            raise
        except Exception as error:
            raise ModelError(f"{self._spec} failed with {type(error).__name__}: {error}.") from error
        if not isinstance(reply, Reply):
            raise ModelError(f"{self._spec} answered with {type(reply).__name__} instead of a Reply.")
        return reply

    def most_tokens(self, prompt: Prompt, schema: type[BaseModel] | None) -> tuple[int, int]:
        return (
            self._model.most_tokens(prompt, schema) if isinstance(self._model, Bounded) else most_tokens(prompt, schema)
        )

    async def aclose(self) -> None:
        if isinstance(self._model, Closable):
            await self._model.aclose()
