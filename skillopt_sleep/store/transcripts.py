"""What transcripts held: the index that harvesting looks into, and the sessions that outlive their files.

Everything here was redacted before it came. Rows that are removed are overwritten, and the write-ahead log is emptied:
what a person does not want to be kept must not be found on the disk.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from skillopt_sleep.domain.digests import Bookmark, Digest, Entry
from skillopt_sleep.domain.sessions import Session
from skillopt_sleep.store.database import connection
from skillopt_sleep.store.memory import MIGRATIONS

_COLUMNS = "path, size, mtime_ns, version, ends, outcome, folders, entrypoint, skipped_lines, id, ended_at, weight"
_AT_ONCE = 500
"""SQLite takes a thousand parameters at least."""


class TranscriptIndex:
    """The index in the memory database. Looking into one that does not exist yet creates nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def entries(self, source: str, root: str) -> Mapping[str, Entry]:
        """All entries of one source and root, by path, without their sessions."""
        if not self._path.exists():
            return {}
        query = f"SELECT {_COLUMNS} FROM transcript WHERE source = ? AND root = ?"
        with self._connection() as db:
            found = [_entry(row) for row in db.execute(query, (source, os.fsencode(root)))]
        return {entry.path: entry for entry in found}

    def sessions(self, source: str, paths: Iterable[str]) -> Iterator[tuple[str, Session]]:
        """The sessions kept for these paths. One that cannot be read any more is passed over."""
        wanted = list(paths)
        if not wanted or not self._path.exists():
            return
        with self._connection() as db:
            for some in _batches(wanted):
                marks = ", ".join("?" * len(some))
                rows = db.execute(
                    f"SELECT path, session FROM transcript WHERE source = ? AND session IS NOT NULL"
                    f" AND path IN ({marks})",
                    (source, *map(os.fsencode, some)),
                )
                for path, session in rows:
                    try:
                        yield os.fsdecode(path), Session.model_validate_json(session)
                    except ValidationError:
                        continue  # written by a version that described sessions otherwise

    def bookmark(self, source: str, path: str) -> tuple[Session, Bookmark] | None:
        """Where to continue in a transcript, with what was read before."""
        if not self._path.exists():
            return None
        with self._connection() as db:
            row = db.execute(
                "SELECT session, bookmark FROM transcript WHERE source = ? AND path = ?", (source, os.fsencode(path))
            ).fetchone()
        if row is None or None in row:
            return None
        try:
            return Session.model_validate_json(row[0]), Bookmark.model_validate_json(row[1])
        except ValidationError:
            return None

    def keep(self, source: str, root: str, digests: Sequence[Digest]) -> None:
        """Add digests, or replace those of the same path."""
        if not digests:
            return
        with self._connection() as db:
            db.executemany(
                f"INSERT OR REPLACE INTO transcript (source, root, {_COLUMNS}, session, bookmark)"
                f" VALUES (?, ?{', ?' * 14})",
                [(source, os.fsencode(root), *_row(digest)) for digest in digests],
            )

    def forget(self, source: str, paths: Iterable[str]) -> None:
        """Remove what is kept for these paths, down to the bytes on the disk."""
        gone = [(source, os.fsencode(path)) for path in paths]
        if not gone or not self._path.exists():
            return
        with self._connection() as db:
            db.executemany("DELETE FROM transcript WHERE source = ? AND path = ?", gone)
            db.commit()
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with connection(self._path, MIGRATIONS) as db:
            db.execute("PRAGMA secure_delete = ON")
            yield db


def _batches(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    return (paths[start : start + _AT_ONCE] for start in range(0, len(paths), _AT_ONCE))


def _row(digest: Digest) -> tuple[object, ...]:
    entry = digest.entry
    return (
        os.fsencode(entry.path),
        entry.size,
        entry.mtime_ns,
        entry.version,
        entry.ends,
        entry.outcome,
        json.dumps(entry.folders),
        entry.entrypoint,
        json.dumps(dict(entry.skipped_lines)) if entry.skipped_lines else "",
        entry.id,
        entry.ended_at.astimezone(UTC).isoformat() if entry.ended_at else None,
        entry.weight,
        digest.session.model_dump_json(exclude_defaults=True) if digest.session else None,
        digest.bookmark.model_dump_json(exclude_defaults=True) if digest.bookmark else None,
    )


def _entry(row: tuple[Any, ...]) -> Entry:
    path, size, mtime_ns, version, ends, outcome, folders, entrypoint, skipped, id_, ended_at, weight = row
    return Entry(
        path=os.fsdecode(path),
        size=size,
        mtime_ns=mtime_ns,
        version=version,
        ends=ends,
        outcome=outcome,
        folders=tuple(json.loads(folders)),
        entrypoint=entrypoint,
        skipped_lines=json.loads(skipped) if skipped else {},
        id=id_,
        ended_at=datetime.fromisoformat(ended_at) if ended_at else None,
        weight=weight,
    )
