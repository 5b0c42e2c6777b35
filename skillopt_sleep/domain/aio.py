"""Structured concurrency without exception groups for callers: the first real error of a task group, plainly."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio.abc import TaskGroup


@asynccontextmanager
async def one_error(group: TaskGroup) -> AsyncIterator[TaskGroup]:
    """Enter a task group; if tasks fail, raise the first failure itself instead of an `ExceptionGroup` around it.

    When several tasks fail because one cause struck them all (a refused key, an exhausted budget), the first says
    everything that a caller can act on.
    """
    try:
        async with group:
            yield group
    except BaseExceptionGroup as failures:
        cause = _first(failures)
        raise cause from cause.__cause__


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
