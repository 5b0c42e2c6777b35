"""One night at a time for one project.

The operating system holds the lock and gives it back when the process ends, however it ends: a stale lock cannot exist.
The note beside it only says who holds it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from skillopt_sleep.domain.errors import ConflictError
from skillopt_sleep.store.atomic import write_atomic


@contextmanager
def night_lock(path: Path, now: datetime) -> Iterator[None]:
    """Hold the lock at `path`, or raise `ConflictError` at once with the name of the holder."""
    from filelock import FileLock, Timeout

    lock = FileLock(path, mode=0o600)
    try:
        lock.acquire(timeout=0.5)  # `status` looks by taking the lock for an instant, which must not fail a night
    except Timeout as error:
        raise ConflictError(
            f"A night of this project is already running ({_note(path) or 'holder unknown'}).",
            hint="Wait for it, or stop that process; the lock goes with it.",
        ) from error
    try:
        write_atomic(_note_path(path), f"process {os.getpid()}, since {now:%Y-%m-%d %H:%M} UTC".encode())
        yield
    finally:
        _note_path(path).unlink(missing_ok=True)
        lock.release()


def holder_of(path: Path) -> str | None:
    """Who holds the lock, in words; None where nobody does. Creates nothing."""
    if not path.exists():
        return None
    from filelock import FileLock, Timeout

    lock = FileLock(path, mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return _note(path) or "holder unknown"
    lock.release()
    return None


def _note_path(path: Path) -> Path:
    return path.with_name(path.name + ".holder")


def _note(path: Path) -> str:
    try:
        return _note_path(path).read_text(encoding="utf-8")
    except OSError:  # the note is a courtesy: between taking the lock and writing the note there is none
        return ""
