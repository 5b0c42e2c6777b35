"""SQLite files of ours: opened late, private, in write-ahead mode, brought up to date by numbered migrations."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from skillopt_sleep.domain.errors import StateError
from skillopt_sleep.store.atomic import PRIVATE_FILE, private_folder


@contextmanager
def connection(path: Path, migrations: Sequence[str]) -> Iterator[sqlite3.Connection]:
    """A connection in one transaction: committed on success, rolled back on failure, closed in any case.

    `migrations[n]` takes the schema from version n to n + 1. Raises `StateError` for a file that is not a database of
    ours, one of a newer version, or one that cannot be written.
    """
    private_folder(path.parent)
    try:
        if not path.exists():
            path.touch(mode=PRIVATE_FILE)
        db = sqlite3.connect(path, timeout=30.0)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            _migrate(db, migrations, path)
            with db:
                yield db
        finally:
            db.close()
    except (sqlite3.DatabaseError, OSError) as error:
        raise StateError(f"{path} cannot be used: {error}.", hint="Move it away, and a new one is made.") from error


def _migrate(db: sqlite3.Connection, migrations: Sequence[str], path: Path) -> None:
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    if version > len(migrations):
        raise StateError(f"{path} was written by a newer version.", hint="Update skillopt-sleep.")
    for number in range(version, len(migrations)):
        # one transaction for the change and its number: two processes that start together apply it once
        try:
            db.executescript(f"BEGIN IMMEDIATE; {migrations[number]}; PRAGMA user_version = {number + 1}; COMMIT;")
        except sqlite3.OperationalError:
            db.rollback()
            if db.execute("PRAGMA user_version").fetchone()[0] <= number:
                raise
