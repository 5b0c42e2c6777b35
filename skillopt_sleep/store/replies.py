"""Replies that were paid for once. The file may be deleted at any time; a damaged one is set aside, never fatal."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from pydantic import ValidationError

from skillopt_sleep.domain.errors import StateError
from skillopt_sleep.domain.llm import Reply
from skillopt_sleep.store.atomic import PRIVATE_FILE, private_folder


class ReplyCache:
    """A persistent map from a call's key to its reply. For one event loop at a time; several processes may share it.

    The connection is opened on first use and kept: a night asks thousands of times.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db: sqlite3.Connection | None = None

    def get(self, key: str) -> Reply | None:
        """The reply stored under `key`; None where there is none, or none that this version can read."""
        row = self._connected().execute("SELECT reply FROM reply WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        try:
            return Reply.model_validate_json(row[0])
        except ValidationError:
            return None

    def put(self, key: str, reply: Reply) -> None:
        """Store a reply; it is committed when this returns."""
        db = self._connected()
        try:
            with db:
                db.execute("INSERT OR REPLACE INTO reply (key, reply) VALUES (?, ?)", (key, reply.model_dump_json()))
        except sqlite3.DatabaseError as error:
            raise StateError(
                f"{self._path} cannot be written: {error}.", hint="Free some space, or delete it."
            ) from error

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _connected(self) -> sqlite3.Connection:
        if self._db is None:
            private_folder(self._path.parent)
            try:
                self._db = _open(self._path)
            except sqlite3.DatabaseError:
                _set_aside(self._path)
                self._db = _open(self._path)
        return self._db


def _open(path: Path) -> sqlite3.Connection:
    try:
        if not path.exists():
            path.touch(mode=PRIVATE_FILE)
        db = sqlite3.connect(path, timeout=30.0)
    except (OSError, sqlite3.OperationalError) as error:
        raise StateError(
            f"{path} cannot be opened: {error}.", hint="Check the permissions of the state folder."
        ) from error
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("CREATE TABLE IF NOT EXISTS reply (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID")
        db.commit()
    except sqlite3.DatabaseError:
        db.close()
        raise
    return db


def _set_aside(path: Path) -> None:
    """A damaged cache costs money once, not a night: keep it for whoever wants to look, and begin anew."""
    path.replace(path.with_name(path.name + ".damaged"))
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
