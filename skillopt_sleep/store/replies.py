"""Replies that were paid for once. The file may be deleted or damaged at any time: that costs money, never a night."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from skillopt_sleep.domain.errors import StateError
from skillopt_sleep.domain.events import Warned
from skillopt_sleep.domain.llm import Reply
from skillopt_sleep.domain.ports import EventSink
from skillopt_sleep.store.atomic import PRIVATE_FILE, private_folder

_TABLE = "CREATE TABLE IF NOT EXISTS reply (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID"
_PATIENCE = 2.0  # seconds to wait for another process's write


class ReplyCache:
    """A persistent map from a call's key to its reply, for several threads and processes.

    The connection is opened on first use and kept: a night asks thousands of times. Never raises: what goes wrong is
    said once on `events`, and the night goes on without a cache.
    """

    def __init__(self, path: Path, events: EventSink | None = None) -> None:
        self._path = path
        self._events = events
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._given_up = False

    def get(self, key: str) -> Reply | None:
        """The reply stored under `key`; None where there is none, or none that this version can read."""
        rows = self._run("SELECT reply FROM reply WHERE key = ?", (key,), create=False)
        try:
            return Reply.model_validate_json(rows[0][0]) if rows else None
        except ValidationError:
            return None

    def put(self, key: str, reply: Reply) -> None:
        """Store a reply; other processes see it when this returns."""
        self._run("INSERT OR REPLACE INTO reply VALUES (?, ?)", (key, reply.model_dump_json()), create=True)

    def close(self) -> None:
        """Give the file back. The cache opens it again when it is next asked."""
        with self._lock:
            self._disconnect()

    def _run(self, statement: str, values: Sequence[str], *, create: bool) -> list[tuple[str]]:
        """The rows of one statement, in a transaction of its own; tried again once on a fresh connection."""
        trouble: Exception | None = None
        with self._lock:
            for _ in range(0 if self._given_up else 2):
                try:
                    if not self._connect(create=create):
                        return []
                    assert self._db is not None
                    with self._db:
                        return self._db.execute(statement, values).fetchall()
                except (sqlite3.OperationalError, OSError, StateError) as error:  # locked, full, read-only, moved
                    trouble = error
                    self._disconnect()
                except sqlite3.DatabaseError as error:
                    trouble = error
                    self._set_aside(error)
            if trouble is not None:
                self._given_up = True
                self._warn(f"The reply cache cannot be used ({trouble}); calls are made anew.")
        return []

    def _connect(self, *, create: bool) -> bool:
        """Whether there is a connection. A file deleted under an open one is noticed, and begun anew."""
        there = self._path.exists()
        if self._db is not None and there:
            return True
        self._disconnect()
        if not there and not create:
            return False
        private_folder(self._path.parent)
        self._path.touch(mode=PRIVATE_FILE)
        self._file = _identity(self._path)
        self._db = sqlite3.connect(self._path, timeout=_PATIENCE, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")  # the last replies may be lost in a power cut, not the file
        self._db.execute(_TABLE)
        return True

    def _disconnect(self) -> None:
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):  # closing a damaged file can fail, too; it is closed nevertheless
                self._db.close()
            self._db = None

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        """Keep a damaged file for whoever wants to look, and begin anew. Another process may have done so already."""
        self._disconnect()
        with contextlib.suppress(OSError):  # gone already, or held open by another process: the next try tells
            if _identity(self._path) != self._file:
                return
            aside = self._path.with_name(self._path.name + ".damaged")
            self._path.replace(aside)
            for suffix in ("-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            self._warn(f"The reply cache was damaged ({error}) and is begun anew; the old one is {aside}.")

    def _warn(self, message: str) -> None:
        if self._events is not None:
            self._events(Warned(message=message))


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino
