"""What is kept of a transcript: enough to leave the file closed next time, or to continue where it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.sessions import EntryPoint, LineSkipReason, Session, SkipReason

Outcome = Literal["session", "glimpsed"] | SkipReason
"""What reading a transcript gave. "glimpsed": another project's, read no further than to its working folder.

Reasons that depend on who asks (the project, the window of time) are never kept; they are found anew each time.
"""


class Bookmark(Frozen):
    """Where to continue in a transcript that has grown: before its last turn, which may still be going on."""

    offset: int
    """Bytes before the first row of the last turn."""
    turns: int
    """How many turns of the kept session lie before it; the rest is read again."""
    skipped_lines: dict[LineSkipReason, int] = {}
    """Of the lines before it."""
    masked: dict[str, int] = {}
    seen: tuple[str, ...] = ()
    """Rows already taken, so that a resumed session that repeats its past counts once."""
    messages: dict[str, int] = {}
    """The turns of the last messages, by the client's id: an interrupt names the message it stopped."""
    pending: tuple[str, ...] = ()
    """Skills that were loaded and wait for the turn they act on."""
    by_person: bool = False
    by_program: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """What the index tells of a transcript without loading its session."""

    path: str
    size: int
    """Bytes of the file when it was read."""
    mtime_ns: int
    version: str
    """Of the reader and the redactor. Another version's entry is stale."""
    ends: str
    """Digest of the first and the last bytes within `size`: an append leaves them, a rewriting does not."""
    outcome: Outcome
    folders: tuple[str, ...] = ()
    """Working folders in the records, the project first."""
    entrypoint: EntryPoint = "interactive"
    skipped_lines: Mapping[LineSkipReason, int] = field(default_factory=dict)
    id: str = ""
    ended_at: datetime | None = None
    weight: int = 0
    """About how many bytes of memory the session takes."""


@dataclass(frozen=True, slots=True)
class Digest:
    """An entry with what it stands for."""

    entry: Entry
    session: Session | None = None
    bookmark: Bookmark | None = None
