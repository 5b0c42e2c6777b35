"""Claude Code processes that answer side by side, each kept for the prompts it was set up for."""

from __future__ import annotations

import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import anyio.to_thread

from skillopt_sleep.backend.claude_worker import Setup, Worker

_PATIENCE = 32
"""Hand-overs that a call lets pass to younger ones before it must be next."""


@dataclass(slots=True, eq=False)
class _Waiting:
    """A call that waits for its turn."""

    setup: Setup
    called: anyio.Event = field(default_factory=anyio.Event)
    worker: Worker | None = None
    """The process kept for it, once it is called; None where one has to be started."""
    passed_over: int = 0


class Pool:
    """At most `most` processes, busy and idle together.

    A process that is free serves the first call that it is set up for; only if there is none does it make room for a
    new one. Two versions of a skill that are asked in turns so keep a process each, instead of ending one another's.
    Belongs to no event loop; not for several threads.
    """

    def __init__(self, start: Callable[[Setup], Worker], most: int) -> None:
        self._start = start
        self._most = most
        self._busy = 0
        self._waiting: list[_Waiting] = []
        self._idle: list[Worker] = []
        """Least recently used first."""
        self._workers: list[Worker] = []
        weakref.finalize(self, _kill_all, self._workers)

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that there are."""
        return tuple(worker.pid for worker in self._workers)

    @asynccontextmanager
    async def worker(self, setup: Setup) -> AsyncIterator[Worker]:
        """A process for one call, in its turn."""
        kept = await self._turn(setup)
        worker = None
        try:
            worker = kept or await self._new(setup)
            yield worker
        finally:
            self._give_back(worker)

    async def aclose(self) -> None:
        """End all processes, whatever they are doing. A later call starts new ones."""
        workers, self._workers[:] = tuple(self._workers), ()
        self._idle.clear()
        with anyio.CancelScope(shield=True):  # a cancelled night ends its processes as well
            async with anyio.create_task_group() as group:
                for worker in workers:
                    group.start_soon(anyio.to_thread.run_sync, worker.end)

    async def _turn(self, setup: Setup) -> Worker | None:
        """Wait until there is a place. Gives the idle process that fits, if there is one; it is busy from now on."""
        if self._busy < self._most:
            self._busy += 1
            return self._fitting(setup)
        mine = _Waiting(setup)
        self._waiting.append(mine)
        try:
            await mine.called.wait()
        except BaseException:
            if mine in self._waiting:
                self._waiting.remove(mine)
            else:  # called and cancelled at once
                self._give_back(mine.worker)
            raise
        return mine.worker

    def _fitting(self, setup: Setup) -> Worker | None:
        for worker in reversed(self._idle):
            if worker.setup == setup:
                self._idle.remove(worker)
                return worker
        return None

    async def _new(self, setup: Setup) -> Worker:
        evicted = self._idle.pop(0) if len(self._workers) >= self._most and self._idle else None
        if evicted:
            self._workers.remove(evicted)
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(evicted.end)
        worker = self._start(setup)
        self._workers.append(worker)
        return worker

    def _give_back(self, worker: Worker | None) -> None:
        """Put a process away and its place to the next call; None gives back a place without one."""
        if worker in self._workers:  # else the pool was closed meanwhile
            if worker.usable:
                self._idle.append(worker)
            else:
                self._workers.remove(worker)
        self._busy -= 1
        if self._waiting:
            self._call_next()

    def _call_next(self) -> None:
        chosen = self._waiting[0]
        if chosen.passed_over < _PATIENCE:
            idle = {worker.setup for worker in self._idle}
            chosen = next((call for call in self._waiting if call.setup in idle), chosen)
        for call in self._waiting[: self._waiting.index(chosen)]:
            call.passed_over += 1
        self._waiting.remove(chosen)
        self._busy += 1
        chosen.worker = self._fitting(chosen.setup)
        chosen.called.set()


def _kill_all(workers: list[Worker]) -> None:
    """For a pool that was forgotten, or that the interpreter takes with it."""
    for worker in workers:
        worker.kill()
