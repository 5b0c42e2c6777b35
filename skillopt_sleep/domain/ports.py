"""The seams of the engine, all in one place.

The pipeline knows adapters only through these Protocols; `wiring` hands them in. Every Protocol has a conformance
suite under `tests/conformance/` that each adapter and each fake passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pydantic import BaseModel

from skillopt_sleep.domain.digests import Bookmark, Digest, Entry
from skillopt_sleep.domain.events import Event
from skillopt_sleep.domain.llm import Prompt, Reply, Role
from skillopt_sleep.domain.sessions import Query, Session
from skillopt_sleep.domain.spending import Amount, Unit
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.domain.trials import Attempt, Score


class EventSink(Protocol):
    """Receives events. Never raises; never blocks for long."""

    def __call__(self, event: Event, /) -> None: ...


class TranscriptSource(Protocol):
    """Where past sessions come from.

    Sessions come newest first (by when they ended), redacted. What cannot be read becomes a `SessionSkipped` or
    `LinesSkipped` event on the sink the source was built with; it is never an exception, and a missing folder is an
    empty history.
    """

    @property
    def name(self) -> str: ...

    def sessions(self, query: Query) -> Iterator[Session]: ...


class SessionIndex(Protocol):
    """Remembers what transcripts held, so that a file is read once and its session outlives it.

    Only a cache: it never says that a session is done with. `root` is the folder that a source reads; entries of other
    roots are not touched.
    """

    def entries(self, source: str, root: str, /) -> Mapping[str, Entry]:
        """All entries, by path."""
        ...

    def sessions(self, source: str, paths: Iterable[str], /) -> Iterator[tuple[str, Session]]:
        """The sessions kept for these paths, in any order. Paths without one are passed over."""
        ...

    def bookmark(self, source: str, path: str, /) -> tuple[Session, Bookmark] | None:
        """Where to continue, with what was read before; None where there is nothing to continue."""
        ...

    def keep(self, source: str, root: str, digests: Sequence[Digest], /) -> None:
        """Add digests, or replace those of the same path."""
        ...

    def forget(self, source: str, paths: Iterable[str], /) -> None:
        """Remove what is kept for these paths, so that no byte of it stays on the disk."""
        ...


class Redactor(Protocol):
    """Masks secrets in a text. Returns the masked text and how many of each kind were masked."""

    def __call__(self, text: str, /) -> tuple[str, dict[str, int]]: ...


class Model(Protocol):
    """One language model.

    `id` ("sim:strong") is part of every cache key and report. `generate` returns a real reply or raises `ModelError`.
    With `schema`, the reply's text is JSON that validates against it, or `ModelMalformed` is raised.
    """

    @property
    def id(self) -> str: ...

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply: ...


@runtime_checkable
class Closable(Protocol):
    """What an adapter with a connection or a process of its own also is. `aclose` may be called more than once."""

    async def aclose(self) -> None: ...


@runtime_checkable
class Bounded(Protocol):
    """A model that knows better than its prompt how many tokens a call can take (its client adds text of its own)."""

    def most_tokens(self, prompt: Prompt, schema: type[BaseModel] | None) -> tuple[int, int]:
        """Most input tokens and most output tokens of one call, the client's own retries included."""
        ...


@runtime_checkable
class Served(Protocol):
    """A model that some service answers for. The same name at another address is another model."""

    @property
    def service(self) -> str:
        """Where prompts go ("api.anthropic.com"): part of every cache key, and fit to be shown to a person."""
        ...


@runtime_checkable
class Local(Protocol):
    """A model whose service may stand on this machine or in its network, where nobody sends a bill."""

    @property
    def is_local(self) -> bool: ...


class Agent(Protocol):
    """The deployed thing: attempts a task under a skill document. Raises what its model raises."""

    @property
    def id(self) -> str: ...

    async def attempt(self, task: Task, skill: str, *, sample: int) -> Attempt: ...


class Judge(Protocol):
    """Scores an attempt, or abstains with a reason. A failing model call raises `ModelError`; it is never a 0."""

    @property
    def version(self) -> str: ...

    async def score(self, task: Task, attempt: Attempt) -> Score: ...


class SpendBook(Protocol):
    """The lasting account of what was spent today, all commands and projects together.

    What a process that died had reserved stays counted, because it may have been paid. Raises `StateError` where the
    account cannot be kept: without it a cap on the day could be passed.
    """

    def hold(self, role: Role, model: str, most: Amount) -> Unit | None:
        """Reserve a call of at most so much. Gives the cap of the day that it would pass, and reserves nothing then."""
        ...

    def settle(self, role: Role, model: str, most: Amount, used: Amount, *, failed: bool) -> None:
        """Replace a reservation by what was used."""
        ...

    def limit(self, unit: Unit) -> str:
        """A cap of the day in words."""
        ...


@dataclass(frozen=True, slots=True)
class Roles:
    """Who does what in a night."""

    agent: Agent
    """The target model in its harness."""
    optimizer: Model
    judge: Judge
