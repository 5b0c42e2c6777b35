"""What all sources have in common that read files of a client: the index, the query, an account of every file."""

from __future__ import annotations

import os
import stat
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from skillopt_sleep.domain.digests import Bookmark, Digest, Entry
from skillopt_sleep.domain.events import LinesSkipped, SessionFound, SessionSkipped, Warned
from skillopt_sleep.domain.ports import EventSink, Redactor, SessionIndex
from skillopt_sleep.domain.sessions import Query, Session, SkipReason
from skillopt_sleep.harvest.conversation import clean
from skillopt_sleep.harvest.order import Candidate, Newest
from skillopt_sleep.harvest.reading import Denied, Dialect, Reader
from skillopt_sleep.harvest.scope import Scope

_CLOCK_SLACK = 24 * 3600.0
"""A file cannot have been written before its last turn. The slack covers file servers whose clock is behind."""

_NOTICE_DAYS = 5.0
"""Of a transcript that the client will delete within so many days is said that it is soon gone."""

_BATCH_WEIGHT = 4_000_000
_BATCH_FILES = 200
"""Digests are written in batches: one transaction each would cost more than reading the file."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    path: str
    size: int = 0
    mtime_ns: int = 0
    refused: SkipReason | None = None

    @property
    def modified(self) -> float:
        """Seconds since the epoch, as the file system says."""
        return self.mtime_ns / 1e9


class NoIndex:
    """Remembers nothing."""

    def entries(self, _source: str, _root: str, /) -> Mapping[str, Entry]:
        return {}

    def sessions(self, _source: str, _paths: Iterable[str], /) -> Iterator[tuple[str, Session]]:
        return iter(())

    def bookmark(self, _source: str, _path: str, /) -> tuple[Session, Bookmark] | None:
        return None

    def keep(self, _source: str, _root: str, _digests: Sequence[Digest], /) -> None: ...

    def forget(self, _source: str, _paths: Iterable[str], /) -> None: ...


def _utc_now() -> datetime:
    return datetime.now(UTC)


class FileSource(ABC):
    """Sessions of one client, whose transcripts lie below `root`.

    Each transcript gives exactly one `SessionFound` or `SessionSkipped` event; lines that could not be read are counted
    in `LinesSkipped` events. Texts are redacted before they leave this package. With an index, a file is opened only
    when it has changed, and a session whose file is gone is still found.
    """

    name: str

    def __init__(
        self,
        root: Path,
        *,
        redact: Redactor,
        events: EventSink,
        index: SessionIndex | None = None,
        redactor_version: int = 0,
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        self.root = root
        self._redact = redact
        self._events = events
        self._index = index or NoIndex()
        self._dialect = self.dialect(str(redactor_version))
        self._clock = clock

    @abstractmethod
    def dialect(self, redactor_version: str) -> Dialect:
        """How the client writes."""

    @abstractmethod
    def files(self) -> list[FoundFile]:
        """Every transcript there is."""

    def deleted_after_days(self) -> float | None:
        """After how many days without a change the client deletes a transcript; None where it keeps them."""
        return None

    def sessions(self, query: Query) -> Iterator[Session]:
        """Sessions that the query asks for, newest end first. The order needs all ends, so all files are read first."""
        sweep = _Sweep(self.name, str(self.root), self._dialect, self._redact, self._events, self._index, query)
        days = self.deleted_after_days()
        if days is not None:
            sweep.soon_deleted_before = self._clock().timestamp() - (days - _NOTICE_DAYS) * 86_400
        with sweep:
            for file in self.files():
                sweep.visit(file)
            sweep.visit_vanished()
            sweep.warn_of_deletion()
        yield from sweep.sessions()

    def scan(self, folder: str) -> list[os.DirEntry[str]]:
        """What lies in a folder; nothing where there is no such folder, or a warning where it cannot be read."""
        try:
            with os.scandir(folder) as found:
                return list(found)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self._events(Warned(message=f"The folder {clean(folder)} cannot be read: {error.strerror}."))
            return []


def look_at(found: os.DirEntry[str]) -> FoundFile:
    """A file as it is now, without opening it."""
    try:
        status = found.stat()
    except FileNotFoundError:
        return FoundFile(found.path, refused="vanished")
    except OSError:
        return FoundFile(found.path, refused="unreadable")
    # Opening a pipe or a device that someone put here could block for ever.
    refused: SkipReason | None = None if stat.S_ISREG(status.st_mode) else "unreadable"
    return FoundFile(found.path, status.st_size, status.st_mtime_ns, refused)


class _Sweep:
    """One pass over all files of a source, for one query."""

    def __init__(
        self,
        source: str,
        root: str,
        dialect: Dialect,
        redact: Redactor,
        events: EventSink,
        index: SessionIndex,
        query: Query,
    ) -> None:
        self._source = source
        self._root = root
        self._events = events
        self._index = index
        self._redact = redact
        self._version = dialect.version
        self._scope = Scope(query)
        self._since = None if query.since is None else query.since.timestamp() - _CLOCK_SLACK
        self._reader = Reader(dialect, redact, self._scope)
        self._known = dict(index.entries(source, root))
        self._listed: set[str] = set()
        self._denied: set[str] = set()
        self._read: list[Digest] = []
        self._read_weight = 0
        self._found = Newest(query.limit)
        self.soon_deleted_before = 0.0
        self._soon_deleted = 0

    def __enter__(self) -> None:
        """What a person has forbidden meanwhile goes first."""
        self._denied = {path for path, entry in self._known.items() if self._scope.denies(entry.folders)}
        self._forget(self._denied)

    def __exit__(self, *_: object) -> None:
        """What was read stays read, whatever ended the pass."""
        self._write()

    # Files ------------------------------------------------------------------------------------------------------------

    def visit(self, file: FoundFile) -> None:
        """Account for one file."""
        outcome = file.refused or self._outcome(file)
        if outcome is None:
            return  # it vanished this very moment, and its digest is there: `visit_vanished` takes it
        self._listed.add(file.path)
        if isinstance(outcome, str):
            self._skip(file.path, outcome)
        else:
            self._account(outcome, soon_deleted=file.modified < self.soon_deleted_before)

    def visit_vanished(self) -> None:
        """Sessions whose files the client has deleted. What was no session is forgotten with its file."""
        gone = []
        for path, entry in self._known.items():
            if path in self._listed:
                continue
            if entry.outcome != "session" or entry.id in self._found:
                gone.append(path)  # nothing is lost, or the file has only moved
            elif self._scope.refuses(entry) is None:
                self._account(Digest(entry), kept=True)
        self._forget(gone)
        for path in self._denied - self._listed:
            self._skip(path, "denied_folder")

    def warn_of_deletion(self) -> None:
        """The transcripts themselves are the person's only full copy."""
        if self._soon_deleted:
            self._events(
                Warned(
                    message=f"{self._source} deletes {self._soon_deleted} of its transcripts within"
                    f" {_NOTICE_DAYS:.0f} days; only what was harvested of them is kept."
                )
            )

    def _outcome(self, file: FoundFile) -> Digest | SkipReason | None:
        """What is known of a file, from the index or by reading it; None where only its digest is left."""
        if self._since is not None and file.modified < self._since:
            return "outside_window"
        known = self._known.get(file.path)
        if known is not None and known.version == self._version:
            elsewhere = known.outcome in ("session", "glimpsed") and not self._scope.holds(_project(known))
            same = (known.size, known.mtime_ns) == (file.size, file.mtime_ns)
            if elsewhere or (same and known.outcome != "glimpsed"):
                return Digest(known)
        try:
            digest = self._reader.read(file.path, self._current(known), self._earlier)
        except Denied:
            self._forget([file.path])
            return "denied_folder"
        except FileNotFoundError:
            return None if known is not None and known.outcome == "session" else "vanished"
        except OSError:
            return "unreadable"
        if known is None or known.outcome != "session" or digest.entry.outcome != "glimpsed":
            self._keep(digest)
        return digest

    def _current(self, known: Entry | None) -> Entry | None:
        return known if known is not None and known.version == self._version else None

    def _earlier(self, path: str) -> tuple[Session, Bookmark] | None:
        return self._index.bookmark(self._source, path)

    def _account(self, digest: Digest, *, kept: bool = False, soon_deleted: bool = False) -> None:
        entry = digest.entry
        path = clean(entry.path)
        for reason, count in entry.skipped_lines.items():
            self._events(LinesSkipped(source=self._source, path=path, reason=reason, count=count))
        refused = self._scope.refuses(entry)
        if refused is not None or entry.ended_at is None:
            self._skip(entry.path, refused or "no_human_prompt")
            return
        self._soon_deleted += soon_deleted
        self._events(SessionFound(source=self._source, path=path, kept=kept, soon_deleted=soon_deleted))
        self._found.add(Candidate(entry.id, entry.ended_at, entry.weight, entry.path, digest.session))

    def _skip(self, path: str, reason: SkipReason) -> None:
        self._events(SessionSkipped(source=self._source, path=clean(path), reason=reason))

    # The index --------------------------------------------------------------------------------------------------------

    def _keep(self, digest: Digest) -> None:
        self._read.append(digest)
        self._read_weight += digest.entry.weight
        if len(self._read) >= _BATCH_FILES or self._read_weight > _BATCH_WEIGHT:
            self._write()

    def _write(self) -> None:
        if self._read:
            self._index.keep(self._source, self._root, self._read)
            self._read, self._read_weight = [], 0

    def _forget(self, paths: Iterable[str]) -> None:
        known = [path for path in paths if self._known.pop(path, None) is not None]
        if known:
            self._index.forget(self._source, known)

    # Sessions ---------------------------------------------------------------------------------------------------------

    def sessions(self) -> Iterator[Session]:
        """What the pass found, newest end first."""
        chosen = self._found.ordered()
        if self._found.cut_by_weight:
            self._events(Warned(message=f"Only the newest {len(chosen)} sessions of {self._source} fit into memory."))
        kept = dict(self._index.sessions(self._source, [c.path for c in chosen if c.session is None]))
        for candidate in chosen:
            session = candidate.session or kept.get(candidate.path)
            if session is not None:
                yield self._up_to_date(candidate.path, session)

    def _up_to_date(self, path: str, session: Session) -> Session:
        """A session whose file is gone was redacted by whatever version read it; today's has the last word."""
        entry = self._known.get(path)
        if path in self._listed or entry is None or entry.version == self._version:
            return session
        turns, masked = [], Counter(session.masked)
        for turn in session.turns:
            text, counts = self._redact(turn.text)
            turns.append(turn.model_copy(update={"text": text}))
            masked.update(counts)
        session = session.model_copy(update={"turns": tuple(turns), "masked": dict(masked)})
        self._index.keep(self._source, self._root, [Digest(replace(entry, version=self._version), session)])
        return session


def _project(entry: Entry) -> str | None:
    return entry.folders[0] if entry.folders else None
