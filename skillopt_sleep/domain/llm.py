"""What goes to a model and what comes back."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from skillopt_sleep.domain.base import Frozen

Role = Literal["target", "optimizer", "judge"]
ROLES: tuple[Role, ...] = ("target", "optimizer", "judge")

StopReason = Literal["end", "tool_use", "max_tokens", "refusal"]


class ToolSpec(Frozen):
    """A tool as it is declared to a model; `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolCall(Frozen):
    id: str
    name: str
    arguments: dict[str, Any] = {}


class UserMessage(Frozen):
    role: Literal["user"] = "user"
    text: str


class AssistantMessage(Frozen):
    role: Literal["assistant"] = "assistant"
    text: str
    tool_calls: tuple[ToolCall, ...] = ()


class ToolMessage(Frozen):
    role: Literal["tool"] = "tool"
    call_id: str
    text: str


Message = Annotated[UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]


class Prompt(Frozen):
    """One request to a model."""

    role: Role
    """On whose behalf: decides which budget line it is booked on, never how it is answered."""
    system: str
    messages: Annotated[tuple[Message, ...], Field(min_length=1)]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: Annotated[int, Field(gt=0)] = 2048
    sample: Annotated[int, Field(ge=0)] = 0
    """Which of K repeats this is. Part of the cache key, so that K rollouts stay K."""
    template: str = ""
    """Name and version of the prompt template, for reports and cache keys ("target@1")."""


class Usage(Frozen):
    """Tokens of one call. `estimated` where the service did not count them for us."""

    input_tokens: Annotated[int, Field(ge=0)] = 0
    """All input, what was read from and written to a prompt cache included."""
    cache_read_tokens: Annotated[int, Field(ge=0)] = 0
    """The part of the input that came from the service's prompt cache; priced lower."""
    cache_write_tokens: Annotated[int, Field(ge=0)] = 0
    """The part of the input that was written to the service's prompt cache; priced higher."""
    output_tokens: Annotated[int, Field(ge=0)] = 0
    usd: Annotated[float, Field(ge=0)] | None = None
    """What the client itself says the call cost; None where it says nothing."""
    extra_requests: Annotated[int, Field(ge=0)] = 0
    """Requests that a client made by itself beyond the one it was asked for (retries, further turns)."""
    estimated: bool = False

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            usd=None if self.usd is None and other.usd is None else (self.usd or 0.0) + (other.usd or 0.0),
            extra_requests=self.extra_requests + other.extra_requests,
            estimated=self.estimated or other.estimated,
        )


class Reply(Frozen):
    """A real answer of a model. There is no such thing as a fake one: what fails raises `ModelError`."""

    text: str
    model: str
    """Id of the model that answered."""
    tool_calls: tuple[ToolCall, ...] = ()
    stop: StopReason = "end"
    usage: Usage = Usage()

    @field_validator("text")
    @classmethod
    def _whole_characters(cls, text: str) -> str:
        """Half a surrogate pair, which JSON can carry and UTF-8 cannot, would end a night when it is written down."""
        return (
            "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text) if not text.isascii() else text
        )


def estimate_tokens(text: str) -> int:
    """A deliberately plain estimate, rounded up: four characters a token for ASCII, one for everything else.

    Used to reserve budget before a call and where a service reports no usage; never for billing.
    """
    ascii_chars = len(text.encode("ascii", "ignore"))
    return -(-ascii_chars // 4) + (len(text) - ascii_chars)


def prompt_tokens(prompt: Prompt) -> int:
    """Estimated input tokens of a prompt, tools included."""
    parts = [prompt.system, *(message.text for message in prompt.messages)]
    parts += [tool.model_dump_json() for tool in prompt.tools]
    return sum(estimate_tokens(part) + 4 for part in parts)


_FRAMING, _EACH_MESSAGE, _MACHINERY = 64, 16, 1024
"""Tokens that a service adds by itself: around a prompt, around each message, and where tools or a schema are given."""


def most_prompt_tokens(prompt: Prompt, schema_text: str = "") -> int:
    """More input tokens than any service will count: no tokeniser makes more tokens than there are bytes.

    A cap is held against this; an expectation is what `prompt_tokens` gives.
    """
    parts = [prompt.system, schema_text, *(message.model_dump_json() for message in prompt.messages)]
    parts += [tool.model_dump_json() for tool in prompt.tools]
    machinery = _MACHINERY if prompt.tools or schema_text else 0
    return sum(len(part.encode()) for part in parts) + _FRAMING + _EACH_MESSAGE * len(prompt.messages) + machinery
