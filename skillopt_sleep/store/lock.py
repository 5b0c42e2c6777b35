"""Locks between processes: one night at a time for a project, one adoption or undo at a time for everybody.

The operating system holds a lock and gives it back when the process ends, however it ends: a stale lock cannot exist.
The note beside the night's lock only says who holds it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from skillopt_sleep.domain.errors import ConflictError, StateError
from skillopt_sleep.store.atomic import PRIVATE_FILE, write_atomic


@contextmanager
def night_lock(path: Path, now: datetime) -> Iterator[None]:
    """Hold the lock at `path`, or raise `ConflictError` at once with the name of the holder."""
    # `status` looks by taking the lock for an instant, which must not fail a night: hence the short patience
    with _held(path, patience=0.5) as held:
        if not held:
            raise ConflictError(
                f"A night of this project is already running ({_note(path)}).",
                hint="Wait for it, or stop that process; the lock goes with it.",
            )
        try:
            write_atomic(_note_path(path), f"process {os.getpid()}, since {now:%Y-%m-%d %H:%M} UTC".encode())
            yield
        finally:
            _note_path(path).unlink(missing_ok=True)


@contextmanager
def job_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a job for as long as its process works on it: whoever looks knows whether it lives."""
    with _held(path, patience=0.5) as held:
        if not held:
            raise ConflictError(f"This job is at work already ({_note(path)}).", hint="One process works on one job.")
        try:
            write_atomic(_note_path(path), str(os.getpid()).encode())
            yield
        finally:
            _note_path(path).unlink(missing_ok=True)


@contextmanager
def experiment_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a project's transfer experiments. Raises `ConflictError` while another process has it."""
    with _held(path, patience=0.5) as held:
        if not held:
            raise ConflictError(
                "A transfer experiment of this project is already running.",
                hint="Wait for it, or stop that process; the lock goes with it.",
            )
        yield


@contextmanager
def start_lock(path: Path, *, patience: float = 10.0) -> Iterator[None]:
    """Hold the lock around the start of a job. Raises `ConflictError` after `patience` seconds."""
    with _held(path, patience) as held:
        if not held:
            raise ConflictError("Another job is being started.", hint="Try again in a moment.")
        yield


@contextmanager
def swap_lock(path: Path, *, patience: float = 10.0) -> Iterator[None]:
    """Hold the lock around a change of a live file. Raises `ConflictError` after `patience` seconds."""
    with _held(path, patience) as held:
        if not held:
            raise ConflictError("Another adoption or undo is going on.", hint="Try again when it has ended.")
        yield


def holder_of(path: Path) -> str | None:
    """Who holds the night's lock, in words; None where nobody does. Creates nothing."""
    if not path.exists():
        return None
    with _held(path, patience=0) as held:
        return None if held else _note(path)


@contextmanager
def _held(path: Path, patience: float) -> Iterator[bool]:
    """Try to take a lock; gives whether it is ours. Raises `StateError` where there can be no lock file."""
    from filelock import FileLock, Timeout

    lock = FileLock(path, mode=PRIVATE_FILE)
    try:
        lock.acquire(timeout=patience, poll_interval=0.02)
    except Timeout:
        yield False
        return
    except (OSError, NotImplementedError) as error:
        raise StateError(f"{path} cannot be locked: {error}.", hint="Check the state folder's permissions.") from error
    try:
        yield True
    finally:
        lock.release()


def _note_path(path: Path) -> Path:
    return path.with_name(path.name + ".holder")


def _note(path: Path) -> str:
    try:
        return _note_path(path).read_text(encoding="utf-8")
    except OSError:  # the note is a courtesy: between taking the lock and writing the note there is none
        return "holder unknown"
