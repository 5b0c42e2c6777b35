"""A model that does not answer the same prompt twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

import anyio
from pydantic import BaseModel

from skillopt_sleep.domain.base import sha256_hex
from skillopt_sleep.domain.llm import Prompt, Reply
from skillopt_sleep.domain.ports import Model


class Cache(Protocol):
    """Where replies are kept: `get` what `put` stored under the same key, or None."""

    def get(self, key: str) -> Reply | None: ...

    def put(self, key: str, reply: Reply) -> None: ...


class MemoryCache:
    """A cache for one process."""

    def __init__(self) -> None:
        self._replies: dict[str, Reply] = {}

    def get(self, key: str) -> Reply | None:
        return self._replies.get(key)

    def put(self, key: str, reply: Reply) -> None:
        self._replies[key] = reply


class Cached:
    """Gives a known reply, or asks and remembers. Failures are never remembered.

    Identical prompts that run at the same time make one call: the others wait for it. Where it fails, one of them asks
    again for itself. `extra` separates what the prompt does not show (a seed, a service's address); `on_hit` hears of
    each call that did not have to be made.
    """

    def __init__(
        self, model: Model, cache: Cache, *, extra: str = "", on_hit: Callable[[Prompt], None] | None = None
    ) -> None:
        self._model = model
        self._cache = cache
        self._extra = extra
        self._on_hit = on_hit
        self._in_flight: dict[str, anyio.Event] = {}

    @property
    def id(self) -> str:
        return self._model.id

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        key = cache_key(self.id, prompt, schema, self._extra)
        while True:
            known = self._cache.get(key)
            if known is not None:
                if self._on_hit:
                    self._on_hit(prompt)
                return known
            if key not in self._in_flight:
                break
            await self._in_flight[key].wait()
        self._in_flight[key] = anyio.Event()
        try:
            reply = await self._model.generate(prompt, schema=schema)
            self._cache.put(key, reply)
        finally:
            self._in_flight.pop(key).set()
        return reply


def cache_key(model: str, prompt: Prompt, schema: type[BaseModel] | None, extra: str = "") -> str:
    """SHA-256 over everything a reply depends on: model, whole prompt (sample and template included), schema, extra."""
    parts = {
        "model": model,
        "prompt": prompt.model_dump(mode="json"),
        "schema": _schema_text(schema) if schema else None,
        "extra": extra,
    }
    return sha256_hex(json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":")))


@lru_cache(maxsize=64)
def _schema_text(schema: type[BaseModel]) -> str:
    return json.dumps(schema.model_json_schema(), sort_keys=True)
