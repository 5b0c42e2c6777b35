"""What a loopback service is asked, and what it may be told to answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

FaultKind = Literal[
    "status",  # an HTTP error with `status`
    "reset",  # the connection is reset before a byte is answered
    "drop",  # the connection is closed in the middle of the answer
    "stream_error",  # an error event inside a 200 stream (streams only; else a 200 whose body is an error)
    "truncated_json",  # a 200 whose JSON body stops half-way, with a length that says it is whole
    "wrong_type",  # a 200 with an HTML page
    "empty_body",  # a 200 with nothing in it
    "hang",  # nothing is ever answered (until the server stops)
    "drip",  # the answer comes a byte at a time, slower than anyone can wait for
]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, the same for every protocol."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: dict[str, Any]
    raw: bytes
    system: str
    messages: tuple[tuple[str, str], ...]
    """(role, text) of each message; a tool's result has the role "tool"."""
    model: str
    tools: tuple[str, ...] = ()
    schema: dict[str, Any] | None = None
    max_tokens: int | None = None

    @property
    def last(self) -> str:
        """The text of the last message."""
        return self.messages[-1][1] if self.messages else ""


@dataclass(frozen=True, slots=True)
class Say:
    """An answer."""

    text: str = ""
    tools: tuple[tuple[str, dict[str, Any]], ...] = ()
    """Tool calls: (name, arguments)."""
    stop: str | None = None
    """The protocol's own word; None for the ordinary one."""
    input_tokens: int | None = None
    """None: estimated from the request."""
    output_tokens: int | None = None
    cache_read: int = 0
    cache_write: int = 0
    counted: bool = True
    """False: a chat completion without usage, as some services send it."""
    delay: float = 0.0
    """Seconds before the answer begins."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong."""

    kind: FaultKind
    status: int = 500
    error: str = "api_error"
    """The protocol's error type."""
    message: str = "made to fail"
    retry_after: str | None = None
    delay: float = 0.0


Answer = Say | Fault
Brain = Callable[[Asked], Answer]


def echo(asked: Asked) -> Answer:
    """Answers with what was said last."""
    return Say(text=f"ECHO: {asked.last}")


@dataclass(slots=True)
class Script:
    """Answers in order, then what `then` says. Safe under the server's lock, which calls one brain at a time."""

    answers: list[Answer]
    then: Brain = field(default=echo)

    def __call__(self, asked: Asked) -> Answer:
        return self.answers.pop(0) if self.answers else self.then(asked)


def estimate(text: str) -> int:
    return max(1, len(re.sub(r"\s+", " ", text)) // 4)
