"""A model that neither hears nor tells a secret.

The skill, the memory and a task's notes are a person's own files: they are never changed, so they may hold what must
not leave the machine. This wrapper is the one place that every text passes on its way to a model. What comes back is
masked, too, before anything outside keeps it: a reply may quote a note, a tool or a service's answer.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from skillopt_sleep.domain.errors import ModelError
from skillopt_sleep.domain.llm import AssistantMessage, Message, Prompt, Reply, ToolCall
from skillopt_sleep.domain.ports import Model, Redactor

_REMEMBERED = 512
"""Texts whose masked form is kept: the skill and the memory stand in every prompt of a night."""


class Masking:
    """Masks texts and counts what it masked, each text once. One for all models of a night."""

    def __init__(self, redact: Redactor) -> None:
        self._counts: Counter[str] = Counter()
        self._seen: set[int] = set()

        def masked(text: str) -> str:
            result, counts = redact(text)
            if counts and hash(text) not in self._seen:  # what falls out of the cache is not counted again
                self._seen.add(hash(text))
                self._counts.update(counts)
            return result

        self.text = lru_cache(_REMEMBERED)(masked)

    @property
    def counts(self) -> dict[str, int]:
        """How many secrets of each kind were masked."""
        return dict(self._counts)

    def prompt(self, prompt: Prompt) -> Prompt:
        """The prompt as it may leave."""
        masked = prompt.model_copy(
            update={
                "system": self.text(prompt.system),
                "messages": tuple(self._message(message) for message in prompt.messages),
                "tools": tuple(
                    tool.model_copy(update={"description": self.text(tool.description)}) for tool in prompt.tools
                ),
            }
        )
        return prompt if masked == prompt else masked

    def reply(self, reply: Reply) -> Reply:
        """The reply as it may be kept. A structured reply stays JSON."""
        return reply.model_copy(update={"text": self.text(reply.text), "tool_calls": self._calls(reply.tool_calls)})

    def _message(self, message: Message) -> Message:
        masked = message.model_copy(update={"text": self.text(message.text)})
        if isinstance(masked, AssistantMessage):
            return masked.model_copy(update={"tool_calls": self._calls(masked.tool_calls)})
        return masked

    def _calls(self, calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
        return tuple(call.model_copy(update={"arguments": self._arguments(call.arguments)}) for call in calls)

    def _arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Masked with their names, which betray what a value is: {"password": "..."}."""
        written = json.dumps(arguments, ensure_ascii=False)
        masked = self.text(written)
        if masked == written:
            return arguments
        try:
            read = json.loads(masked)
        except json.JSONDecodeError:  # a mask took a bracket or a quote with it: then nothing of it is kept
            return dict.fromkeys(arguments, "[masked]")
        return read if isinstance(read, dict) else dict.fromkeys(arguments, "[masked]")


class Redacted:
    """Masks each prompt on its way in, and each reply and each error on its way out."""

    def __init__(self, model: Model, masking: Masking) -> None:
        self._model = model
        self._masking = masking

    @property
    def id(self) -> str:
        return self._model.id

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        try:
            reply = await self._model.generate(self._masking.prompt(prompt), schema=schema)
        except ModelError as error:
            error.message = self._masking.text(error.message)  # services quote the key that they refuse
            error.args = (error.message,)
            raise
        return self._masking.reply(reply)
