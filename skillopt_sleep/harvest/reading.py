"""Reads one transcript file: from its beginning, or from where an earlier reading ended."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import BinaryIO, Protocol

from skillopt_sleep.domain.digests import Bookmark, Digest, Entry, Outcome
from skillopt_sleep.domain.ports import Redactor
from skillopt_sleep.domain.sessions import Session, SkipReason
from skillopt_sleep.harvest.conversation import Conversation
from skillopt_sleep.harvest.jsonl import JsonlReader, JsonObject
from skillopt_sleep.harvest.order import weight_of
from skillopt_sleep.harvest.scope import Scope

_BUFFER_BYTES = 64 * 1024
"""Many rows are larger than the default buffer; from 128 KB on, allocating one for each file costs more than that."""
_END_BYTES = 4096
_FINAL: frozenset[Outcome] = frozenset({"sidechain", "subagent", "own_call"})
"""Outcomes that no later row can change."""


class Rows(Protocol):
    """Reads the rows of one client's transcripts into a conversation."""

    def add(self, row: JsonObject) -> bool:
        """Take one row. False where it should be part of the conversation but does not have the shape for it."""
        ...


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one client writes its transcripts."""

    source: str
    rows: Callable[[Conversation], Rows]
    cannot_matter: Callable[[bytes], bool]
    version: str
    """Of what reads them, the redactor included."""


Earlier = Callable[[str], tuple[Session, Bookmark] | None]
"""Gives what an earlier reading of a path left behind."""


class Denied(Exception):
    """The session worked in a folder that must not be read. It was read no further than to there."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads transcripts of one client for one query."""

    dialect: Dialect
    redact: Redactor
    scope: Scope

    def read(self, path: str, known: Entry | None, earlier: Earlier) -> Digest:
        """What a file holds. One that has only grown since it became `known` is continued where it ended.

        Raises `Denied`, and `OSError` where the file cannot be read.
        """
        with open(path, "rb", buffering=_BUFFER_BYTES) as stream:  # noqa: PTH123 - a Path for each of many files is slow
            status = os.fstat(stream.fileno())
            head = stream.read(_END_BYTES)
            conversation = Conversation(self.redact)
            bookmark: Bookmark | None = None
            if known is not None and known.size < status.st_size and known.ends == _ends(head, stream, known.size):
                if known.outcome in _FINAL:
                    return Digest(replace(known, size=status.st_size, ends=_ends(head, stream, status.st_size)))
                kept = earlier(path)
                if kept is not None:
                    session, bookmark = kept
                    conversation.resume(session, known.folders, bookmark)
            offset = bookmark.offset if bookmark else 0
            stream.seek(offset)  # mostly to the beginning, which is in the buffer
            lines = JsonlReader(stream, cannot_matter=self.dialect.cannot_matter, offset=offset)
            if bookmark is not None:
                lines.skipped.update(bookmark.skipped_lines)
            ended_early = self._converse(lines, conversation)
            session_ = None if ended_early else conversation.session(self.dialect.source, path)
            # The file may grow while it is read: only what was read counts, so that the rest looks grown next time.
            size = status.st_size if ended_early else lines.offset
            entry = Entry(
                path=path,
                size=size,
                mtime_ns=status.st_mtime_ns,
                version=self.dialect.version,
                ends=_ends(head, stream, size),
                outcome=ended_early or ("session" if session_ else _no_session(lines)),
                folders=tuple(conversation.folders),
                entrypoint=conversation.entrypoint,
                skipped_lines=dict(lines.skipped),
                id=session_.id if session_ else "",
                ended_at=session_.ended_at if session_ else None,
                weight=weight_of(session_) if session_ else 0,
            )
        return Digest(entry, session_, conversation.bookmark() if session_ else None)

    def _converse(self, lines: JsonlReader, conversation: Conversation) -> Outcome | None:
        """Take in all rows; the outcome where the first of them tell it."""
        rows = self.dialect.rows(conversation)
        conversation.follow(lines)
        folders = 0
        for row in lines:
            if not rows.add(row):
                lines.skipped["odd_shape"] += 1
            if conversation.refused is not None:
                return conversation.refused
            if len(conversation.folders) != folders:
                folders = len(conversation.folders)
                if self.scope.denies(conversation.folders):
                    raise Denied
                if not self.scope.holds(conversation.project):
                    return "glimpsed"
        return None


def _no_session(lines: JsonlReader) -> SkipReason:
    if not lines.lines:
        return "empty"
    return "unreadable" if lines.lines == lines.skipped.total() else "no_human_prompt"


def _ends(head: bytes, stream: BinaryIO, size: int) -> str:
    """Digest of the first and the last bytes of the first `size` bytes of a file that begins with `head`."""
    stream.seek(max(0, size - _END_BYTES))  # mostly in the buffer, where reading has just ended
    return blake2b(head[:size] + stream.read(min(_END_BYTES, size)), digest_size=16).hexdigest()
