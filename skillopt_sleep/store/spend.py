"""The account of what costly calls took, day by day, shared by every process: `spend.sqlite3` in the state folder.

A call is reserved in one transaction and settled in another. What a process that died had reserved stays counted for
its day, because it may have been paid.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from skillopt_sleep.domain.errors import StateError
from skillopt_sleep.domain.llm import Role
from skillopt_sleep.domain.reports import RoleSpend
from skillopt_sleep.domain.spending import Amount, Caps, Unit
from skillopt_sleep.store.atomic import PRIVATE_FILE, private_folder

_TABLES = """
    CREATE TABLE IF NOT EXISTS spend (
        run TEXT NOT NULL, day TEXT NOT NULL, role TEXT NOT NULL, model TEXT NOT NULL,
        calls INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0,
        tokens INTEGER NOT NULL DEFAULT 0, usd REAL NOT NULL DEFAULT 0,
        unsettled_tokens INTEGER NOT NULL DEFAULT 0, unsettled_usd REAL NOT NULL DEFAULT 0,
        PRIMARY KEY (run, day, role, model)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS clock (
        run TEXT NOT NULL, day TEXT NOT NULL, seconds REAL NOT NULL, PRIMARY KEY (run, day)
    ) WITHOUT ROWID;
"""
_TOTAL = (
    "SELECT coalesce(sum(calls), 0), coalesce(sum(tokens + unsettled_tokens), 0),"
    " coalesce(sum(usd + unsettled_usd), 0.0) FROM spend WHERE day = ?"
)
_PATIENCE = 10.0
"""Seconds to wait for another process's transaction."""

Clock = Callable[[], datetime]


class SpendFile:
    """The account of one run, against the caps of the day. Raises `StateError` where it cannot be kept.

    A run counts on the day (UTC) on which it began, also beyond midnight.

    What is reserved stands in the "unsettled" columns until it is settled; a call that broke off leaves its
    reservation there.
    """

    def __init__(self, path: Path, run: str, caps: Caps, clock: Clock) -> None:
        self._path = path
        self._run = run
        self._caps = caps
        self._day = clock().astimezone(UTC).date().isoformat()
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._began = time.monotonic()
        self._before: float | None = None
        """Seconds that the run took before, where it was interrupted and goes on; None until that was looked up."""

    def limit(self, unit: Unit) -> str:
        """A cap of the day in words."""
        return self._caps.in_words(unit)

    def hold(self, role: Role, model: str, most: Amount) -> Unit | None:
        """Reserve a call of at most so much. Gives the cap that it would pass, and reserves nothing then."""
        with self._transaction() as db:
            calls, tokens, usd = db.execute(_TOTAL, (self._day,)).fetchone()
            if unit := self._caps.passed_by(Amount(calls, tokens, usd) + most):
                return unit
            db.execute(
                "INSERT INTO spend (run, day, role, model, calls, unsettled_tokens, unsettled_usd)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET calls = calls + excluded.calls,"
                " unsettled_tokens = unsettled_tokens + excluded.unsettled_tokens,"
                " unsettled_usd = unsettled_usd + excluded.unsettled_usd",
                (self._run, self._day, role, model, most.calls, most.tokens, most.usd),
            )
        return None

    def settle(self, role: Role, model: str, most: Amount, used: Amount, *, failed: bool) -> None:
        """Replace a reservation by what was used; what a broken call may have used stays unsettled."""
        settled, left = (Amount(), used) if failed else (used, Amount())
        with self._transaction() as db:
            db.execute(
                "INSERT INTO spend (run, day, role, model, failed, tokens, usd, unsettled_tokens, unsettled_usd)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET failed = failed + excluded.failed,"
                " tokens = tokens + excluded.tokens, usd = usd + excluded.usd,"
                " unsettled_tokens = unsettled_tokens + excluded.unsettled_tokens,"
                " unsettled_usd = unsettled_usd + excluded.unsettled_usd",
                (
                    *(self._run, self._day, role, model, int(failed), settled.tokens, settled.usd),
                    *(left.tokens - most.tokens, left.usd - most.usd),
                ),
            )
            db.execute(  # with every call, so that a night that is killed has counted, too
                "INSERT INTO clock VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET seconds = excluded.seconds",
                (self._run, self._day, (self._before or 0.0) + time.monotonic() - self._began),
            )

    def spent(self) -> tuple[RoleSpend, ...]:
        """What this run has spent so far, on whatever day: for a night that goes on after an interruption."""
        if not self._path.exists():
            return ()
        with self._transaction() as db:
            rows = db.execute(
                "SELECT role, model, sum(calls), sum(failed), sum(tokens), sum(usd), sum(unsettled_tokens),"
                " sum(unsettled_usd) FROM spend WHERE run = ? GROUP BY role, model ORDER BY min(day), role, model",
                (self._run,),
            ).fetchall()
        return tuple(
            RoleSpend(
                role=role,
                model=model,
                calls=calls,
                failed=failed,
                tokens=tokens,
                usd=usd,
                unsettled_tokens=max(0, open_tokens),
                unsettled_usd=max(0.0, open_usd),
            )
            for role, model, calls, failed, tokens, usd, open_tokens, open_usd in rows
        )

    def today(self) -> Amount:
        """What all runs together have spent today, reservations included."""
        if not self._path.exists():
            return Amount()
        with self._transaction() as db:
            return Amount(*db.execute(_TOTAL, (self._day,)).fetchone())

    def minutes_today(self) -> float:
        """How long nights with costly models have run today, up to the end of their last call."""
        if not self._path.exists():
            return 0.0
        with self._transaction() as db:
            (seconds,) = db.execute(
                "SELECT coalesce(sum(seconds), 0) FROM clock WHERE day = ?", (self._day,)
            ).fetchone()
        return float(seconds) / 60

    def close(self) -> None:
        """Give the file back; it is opened again when it is next asked."""
        with self._lock:
            self._disconnect()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                db = self._connected()
                db.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                except BaseException:
                    db.rollback()
                    raise
                db.commit()
            except (sqlite3.Error, OSError) as error:
                self._disconnect()
                raise StateError(
                    f"The account of spending, {self._path}, cannot be kept: {error}.",
                    hint="Nothing is spent without it. Move it away, and a new one is begun.",
                ) from error

    def _disconnect(self) -> None:
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):  # closing a damaged file can fail, too
                self._db.close()
            self._db = None

    def _connected(self) -> sqlite3.Connection:
        if self._db is None:
            private_folder(self._path.parent)
            self._path.touch(mode=PRIVATE_FILE)
            db = sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.executescript(_TABLES)
            if self._before is None:
                mine = "SELECT coalesce(sum(seconds), 0.0) FROM clock WHERE run = ? AND day = ?"
                self._before = float(db.execute(mine, (self._run, self._day)).fetchone()[0])
            self._db = db
        return self._db
