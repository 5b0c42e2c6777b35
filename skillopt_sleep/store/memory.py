"""What outlives a night: families met so far, and rules that were turned down.

The database also holds what transcripts held: see `transcripts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, ValidationError

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.errors import StateError
from skillopt_sleep.domain.slices import KnownFamily
from skillopt_sleep.store.database import connection

Reason = Literal["rejected", "undone", "dismissed"]

MIGRATIONS = (
    """
    CREATE TABLE family (
        project TEXT NOT NULL, id TEXT NOT NULL, leader TEXT NOT NULL, grp TEXT NOT NULL, place INTEGER NOT NULL,
        PRIMARY KEY (project, id)
    );
    CREATE TABLE turned_down (
        project TEXT NOT NULL, skill TEXT NOT NULL, rule TEXT NOT NULL, reason TEXT NOT NULL, at TEXT NOT NULL,
        PRIMARY KEY (project, skill, rule)
    )
    """,
    "ALTER TABLE turned_down ADD COLUMN proposal_id TEXT",
    # What is looked at for every file comes first: a row's tail (the session) stays on pages that are then not read.
    """
    CREATE TABLE transcript (
        source TEXT NOT NULL, root BLOB NOT NULL, path BLOB NOT NULL,
        size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, version TEXT NOT NULL, ends TEXT NOT NULL,
        outcome TEXT NOT NULL, folders TEXT NOT NULL, entrypoint TEXT NOT NULL, skipped_lines TEXT NOT NULL,
        id TEXT NOT NULL, ended_at TEXT, weight INTEGER NOT NULL, session TEXT, bookmark TEXT,
        PRIMARY KEY (source, path)
    )
    """,
)


class TurnedDown(Frozen):
    """A rule that must not come back, not even reworded."""

    skill: str
    rule: str
    reason: Reason
    at: AwareDatetime
    proposal_id: str | None = None
    """The proposal it came in; None where the gate turned it down before there was one."""


class Memory:
    """The memory of one project. Reading from a memory that does not exist yet creates nothing."""

    def __init__(self, path: Path, project: str) -> None:
        self._path = path
        self._project = project

    def known_families(self) -> tuple[KnownFamily, ...]:
        """Families met in earlier nights, in the order they were met."""
        if not self._path.exists():
            return ()
        with connection(self._path, MIGRATIONS) as db:
            rows = db.execute("SELECT id, leader, grp FROM family WHERE project = ? ORDER BY place", (self._project,))
            try:
                return tuple(KnownFamily(id=id_, leader=leader, group=group) for id_, leader, group in rows)
            except ValidationError as error:  # a family that is forgotten could change its slice
                raise _damaged(self._path, "a family of tasks that") from error

    def remember_families(self, families: Sequence[KnownFamily]) -> None:
        """Add what is new. A family that is known keeps what is known of it."""
        if not families:
            return
        with connection(self._path, MIGRATIONS) as db:
            count: int = db.execute("SELECT count(*) FROM family WHERE project = ?", (self._project,)).fetchone()[0]
            db.executemany(
                "INSERT OR IGNORE INTO family (project, id, leader, grp, place) VALUES (?, ?, ?, ?, ?)",
                [(self._project, f.id, f.leader, f.group, count + n) for n, f in enumerate(families)],
            )

    def turned_down(self, skill: str, *, of_project: bool = False) -> tuple[str, ...]:
        """Texts of the rules of a skill that were turned down, oldest first.

        In whatever project: a person's own skill is the same file in all of them, and was turned down for all. One
        `of_project` (its `CLAUDE.md`, say) has namesakes in others, and what was said of those does not count.
        """
        found = self._turned_down(self._project if of_project else None)
        return tuple(dict.fromkeys(entry.rule for entry in found if entry.skill == skill))

    def all_turned_down(self) -> tuple[TurnedDown, ...]:
        """What was turned down in this project, oldest first."""
        return self._turned_down(self._project)

    def _turned_down(self, project: str | None = None) -> tuple[TurnedDown, ...]:
        if not self._path.exists():
            return ()
        with connection(self._path, MIGRATIONS) as db:
            rows = db.execute(
                "SELECT skill, rule, reason, at, proposal_id FROM turned_down"
                " WHERE ?1 IS NULL OR project = ?1 ORDER BY at, rule",
                (project,),
            )
            try:
                return tuple(
                    TurnedDown(skill=skill, rule=rule, reason=why, at=at, proposal_id=proposal_id)
                    for skill, rule, why, at, proposal_id in rows
                )
            except ValidationError as error:  # to forget it would bring back what a person did not want
                raise _damaged(self._path, "a rule that was turned down and") from error

    def turn_down(
        self, skill: str, rules: Iterable[str], *, reason: Reason, at: datetime, proposal_id: str | None = None
    ) -> None:
        """Remember rules that must not be proposed again. The first reason stays."""
        when = at.astimezone(UTC).isoformat()
        rows = [(self._project, skill, rule, reason, when, proposal_id) for rule in rules]
        if not rows:
            return
        with connection(self._path, MIGRATIONS) as db:
            db.executemany(
                "INSERT OR IGNORE INTO turned_down (project, skill, rule, reason, at, proposal_id)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                rows,
            )


def _damaged(path: Path, what: str) -> StateError:
    return StateError(
        f"{path} holds {what} cannot be read.",
        hint="Move the file away to begin anew; `skillopt-sleep doctor` looks at it.",
    )
