"""Claude Code's transcripts as a source of sessions.

Layout, as the client (2.1) writes it below its configuration folder:

    projects/<slug of the working folder>/<session>.jsonl                   one conversation; a resumed one is appended
    projects/<slug>/<session>/subagents/agent-<id>.jsonl                    what its sub-agents did
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from skillopt_sleep.domain.events import LinesSkipped, SessionFound, SessionSkipped, Warned
from skillopt_sleep.domain.ports import EventSink, Redactor
from skillopt_sleep.domain.sessions import Query, Session, SkipReason
from skillopt_sleep.harvest.claude_rows import Conversation, cannot_matter, clean
from skillopt_sleep.harvest.jsonl import JsonlReader
from skillopt_sleep.harvest.order import newest_first

_CLOCK_SLACK = 24 * 3600.0
"""A file cannot have been written before its last turn. The slack covers file servers whose clock is behind."""

_BUFFER_BYTES = 256 * 1024
"""Most rows are larger than the default buffer; this one reads them a third faster."""


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    modified: float = 0.0
    """Seconds since the epoch, as the file system says; 0 where it is not asked."""
    refused: SkipReason | None = None


class _Scope:
    """A project folder and what lies below it, by name or through symbolic links (as /tmp on macOS)."""

    def __init__(self, project: str | None) -> None:
        self._roots = () if project is None else _spellings(project)
        self._known: dict[str, bool] = {}

    def holds(self, folder: str | None) -> bool:
        if not self._roots or not folder:
            return not self._roots
        if folder not in self._known:
            self._known[folder] = any(f.is_relative_to(root) for f in _spellings(folder) for root in self._roots)
        return self._known[folder]


def _spellings(folder: str) -> tuple[PurePath, PurePath]:
    return PurePath(folder), PurePath(os.path.realpath(folder))


class ClaudeCodeSource:
    """Sessions of Claude Code under its configuration folder `root`.

    Each transcript file gives exactly one `SessionFound` or `SessionSkipped` event; lines that could not be read are
    counted in `LinesSkipped` events. Texts are redacted before they leave this package.
    """

    name = "claude-code"

    def __init__(self, root: Path, *, redact: Redactor, events: EventSink) -> None:
        self._root = root
        self._redact = redact
        self._events = events

    def sessions(self, query: Query) -> Iterator[Session]:
        """Sessions that the query asks for, newest end first. The order needs all ends, so all files are read first."""
        scope = _Scope(query.project)
        yield from newest_first(self._read_all(query, scope), query.limit)

    def _read_all(self, query: Query, scope: _Scope) -> Iterator[Session]:
        for file in self._files():
            outcome = self._outcome(file, query, scope)
            if isinstance(outcome, Session):
                self._events(SessionFound(source=self.name, path=clean(str(file.path))))
                yield outcome
            else:
                self._events(SessionSkipped(source=self.name, path=clean(str(file.path)), reason=outcome))

    def _outcome(self, file: _File, query: Query, scope: _Scope) -> Session | SkipReason:
        if file.refused is not None:
            return file.refused
        if query.since is not None and file.modified + _CLOCK_SLACK < query.since.timestamp():
            return "outside_window"
        try:
            with file.path.open("rb", buffering=_BUFFER_BYTES) as stream:
                return self._read(JsonlReader(stream, cannot_matter=cannot_matter), file.path, query, scope)
        except FileNotFoundError:
            return "vanished"
        except OSError:
            return "unreadable"

    def _read(self, reader: JsonlReader, path: Path, query: Query, scope: _Scope) -> Session | SkipReason:
        conversation = Conversation()
        try:
            for row in reader:
                if not conversation.add(row):
                    reader.skipped["odd_shape"] += 1
                if conversation.sidechain:
                    return "sidechain"
                if conversation.project is not None and not scope.holds(conversation.project):
                    return "other_project"
        finally:
            for reason, count in reader.skipped.items():
                self._events(LinesSkipped(source=self.name, path=clean(str(path)), reason=reason, count=count))
        if not reader.lines:
            return "empty"
        if reader.lines == reader.skipped.total():
            return "unreadable"
        return self._session(conversation, path, query, scope)

    def _session(self, conversation: Conversation, path: Path, query: Query, scope: _Scope) -> Session | SkipReason:
        if conversation.own_call:
            return "own_call"
        if conversation.entrypoint == "headless" and not query.include_headless:
            return "headless"
        ended = conversation.ended_at
        if not conversation.prompts or ended is None:
            return "no_human_prompt"
        if not scope.holds(conversation.project):
            return "other_project"
        if (query.since and ended < query.since) or (query.until and ended >= query.until):
            return "outside_window"
        turns, masked = conversation.turns(self._redact)
        return Session(
            id=conversation.id or clean(path.stem),
            source=self.name,
            project=conversation.project or "",
            entrypoint=conversation.entrypoint,
            started_at=turns[0].at,
            ended_at=ended,
            turns=turns,
            masked=masked,
        )

    def _files(self) -> list[_File]:
        """Every transcript file there is, the last written first."""
        found: list[_File] = []
        for folder in self._children(self._root / "projects"):
            for entry in self._children(folder):
                if entry.suffix == ".jsonl":
                    found.append(_look_at(entry))
                else:
                    subagents = (e for e in self._children(entry / "subagents") if e.suffix == ".jsonl")
                    found += [_File(path, refused="subagent") for path in subagents]
        return sorted(found, key=lambda file: (file.modified, str(file.path)), reverse=True)

    def _children(self, folder: Path) -> list[Path]:
        try:
            return list(folder.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self._events(Warned(message=f"The folder {clean(str(folder))} cannot be read: {error.strerror}."))
            return []


def _look_at(path: Path) -> _File:
    try:
        found = path.stat()
    except FileNotFoundError:
        return _File(path, refused="vanished")
    except OSError:
        return _File(path, refused="unreadable")
    # Opening a pipe or a device that someone put here could block for ever.
    return _File(path, found.st_mtime, refused=None if stat.S_ISREG(found.st_mode) else "unreadable")
