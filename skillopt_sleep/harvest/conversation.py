"""What is collected from the rows of one transcript, whichever client wrote them.

Texts are redacted as they come in, and then clipped: nothing unredacted outlives its row. What is collected has bounds,
so that a transcript of any size fits into memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import islice
from pathlib import PurePath
from typing import Literal

from skillopt_sleep.domain.digests import Bookmark
from skillopt_sleep.domain.ports import Redactor
from skillopt_sleep.domain.sessions import OWN_CALL_MARKER, EntryPoint, LineSkipReason, Session, SkipReason
from skillopt_sleep.harvest.jsonl import JsonlReader

MAX_TURN_CHARS = 20_000
"""Longer turns are pasted files; their beginning says what is asked. Clipping comes after redaction."""

MAX_SESSION_CHARS = 2_000_000
MAX_TURNS = 5_000
"""Beyond these a session's turns are counted and not kept."""

_KEPT_MESSAGES = 16
"""An interrupt stops one of the last messages."""
_KEPT_ROWS = 4_000
_MAX_FOLDERS = 100
_SAME_WORDING = 90.0
_COMPARED = 1_000


@dataclass(slots=True)
class _Draft:
    role: Literal["user", "assistant"]
    at: datetime
    text: str
    tools: list[str] = field(default_factory=list)
    skills: list[str] = field(default_factory=list)
    interrupted: bool = False
    reasked: bool = False


def clean(text: str) -> str:
    """Text that can be encoded: JSON may hold halves of surrogate pairs, which no store or API accepts."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def time_of(value: object) -> datetime | None:
    """The time that a row names."""
    if not isinstance(value, str):
        return None
    try:
        at = datetime.fromisoformat(value)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


@dataclass(frozen=True, slots=True)
class _Mark:
    """How things stood before the row of the last turn."""

    offset: int
    turns: int
    skipped_lines: dict[LineSkipReason, int]
    masked: dict[str, int]
    rows: int
    pending: tuple[str, ...]


class Conversation:
    """Collects turns, and who took part."""

    def __init__(self, redact: Redactor) -> None:
        self._redact = redact
        self.id: str | None = None
        self.folders: list[str] = []
        """Working folders in the records; the first is the project."""
        self.refused: SkipReason | None = None
        """Why this is no session of a person at all, whatever else it holds."""
        self.by_person = self.by_program = False
        self.masked: Counter[str] = Counter()
        self.ended_at: datetime | None = None
        self._drafts: list[_Draft] = []
        self._messages: dict[str, int] = {}
        self._pending: list[str] = []
        """Skills of slash commands that wait for the next turn, which is the first one they act on."""
        self._seen: dict[str, None] = {}
        self._rows_before = 0
        self._chars = 0
        self._mark: _Mark | None = None
        self._reader: JsonlReader | None = None

    def resume(self, session: Session, folders: Iterable[str], mark: Bookmark) -> None:
        """Stand where an earlier reading stood at the bookmark."""
        self.id, self.folders = session.id, list(folders)
        self.by_person, self.by_program = mark.by_person, mark.by_program
        self.masked.update(mark.masked)
        self._seen = dict.fromkeys(mark.seen)
        self._messages = dict(mark.messages)
        self._pending = list(mark.pending)
        for turn in session.turns[: mark.turns]:
            self._drafts.append(
                _Draft(
                    role=turn.role,
                    at=turn.at,
                    text=turn.text,
                    tools=list(turn.tools),
                    skills=list(turn.skills),
                    interrupted=turn.interrupted,
                    reasked=turn.reasked,
                )
            )
            self._chars += len(turn.text)
            self._note_end(turn.at)

    def follow(self, reader: JsonlReader) -> None:
        """Say which reader the rows come from, so that the bookmark knows where it lies."""
        self._reader = reader

    # What rows say ----------------------------------------------------------------------------------------------------

    def is_new(self, uuid: object) -> bool:
        """Whether a row was not taken before: a session that was resumed may repeat rows of its past."""
        self._rows_before = len(self._seen)
        if not isinstance(uuid, str) or len(self._drafts) >= MAX_TURNS:
            return True
        key = blake2b(uuid.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        fresh = key not in self._seen
        self._seen[key] = None
        return fresh

    def note_origin(self, session: object, folder: object) -> None:
        """The session's id and working folder, as a row names them."""
        if self.id is None and isinstance(session, str) and session:
            self.id = clean(session)
        if isinstance(folder, str) and folder and folder not in self.folders and "\0" not in folder:
            folder = clean(folder)
            if folder not in self.folders and len(self.folders) < _MAX_FOLDERS:
                self.folders.append(folder)

    def load(self, skills: Iterable[str]) -> None:
        """Skills that act from the next turn on."""
        self._pending += skills

    def prompt(self, text: str, at: datetime) -> None:
        """A person, or a program in a session of its own, asks for something."""
        if text.lstrip().startswith(OWN_CALL_MARKER):
            self.refused = self.refused or "own_call"
        before = next((draft for draft in reversed(self._drafts) if draft.role == "user"), None)
        draft = self._begin("user", at, text)
        if draft is not None and before is not None:
            draft.reasked = _same_wording(before.text, draft.text)

    def reply(self, message: object, text: str, at: datetime, tools: Iterable[str], skills: Iterable[str]) -> None:
        """The assistant says or does something. Rows of one message are one turn."""
        known = self._messages.get(message) if isinstance(message, str) else None
        if known is None:
            draft = self._begin("assistant", at, text)
            if draft is not None and isinstance(message, str):
                self._messages[message] = len(self._drafts) - 1
        else:
            draft = self._drafts[known]
            if text:
                addition = self._fitting(text)
                draft.text = _clip(f"{draft.text}\n{addition}" if draft.text else addition)
            if draft is not self._drafts[-1]:
                self._mark = None  # what lies before the mark has just changed: continuing there would add this twice
        if draft is not None:
            draft.tools += tools
            draft.skills += skills

    def interrupt(self, message: object = None) -> None:
        """The person stopped the assistant: in this message, or in the last turn where the client names none."""
        if self._drafts:
            known = self._messages.get(message) if isinstance(message, str) else None
            self._drafts[-1 if known is None else known].interrupted = True

    def _begin(self, role: Literal["user", "assistant"], at: datetime, text: str) -> _Draft | None:
        self._note_end(at)
        if len(self._drafts) >= MAX_TURNS or self._chars >= MAX_SESSION_CHARS:
            if self._reader is not None:
                self._reader.skipped["too_much"] += 1
            return None
        if self._reader is not None:
            self._mark = _Mark(
                offset=self._reader.row_offset,
                turns=len(self._drafts),
                skipped_lines=dict(self._reader.skipped) if self._reader.skipped else {},
                masked=dict(self.masked) if self.masked else {},
                rows=self._rows_before,
                pending=tuple(self._pending),
            )
        draft = _Draft(role, at, self._fitting(text), skills=self._pending)
        self._pending = []
        self._drafts.append(draft)
        return draft

    def _fitting(self, text: str) -> str:
        if not text:
            return text
        redacted, counts = self._redact(clean(text))
        self.masked.update(counts)
        clipped = _clip(redacted)
        self._chars += len(clipped)
        return clipped

    def _note_end(self, at: datetime) -> None:
        if self.ended_at is None or at > self.ended_at:
            self.ended_at = at

    # What came of them ------------------------------------------------------------------------------------------------

    @property
    def project(self) -> str | None:
        """The working folder of the first row of the conversation."""
        return self.folders[0] if self.folders else None

    @property
    def entrypoint(self) -> EntryPoint:
        """Headless where a program made every request; one request by a person makes it a person's session."""
        return "headless" if self.by_program and not self.by_person else "interactive"

    def session(self, source: str, path: str) -> Session | None:
        """The conversation as a session, named after its file where no row names it; None where nobody asked."""
        if self.ended_at is None or not any(draft.role == "user" for draft in self._drafts):
            return None
        # Validated in one go: a model built turn by turn takes several times as long.
        return Session.model_validate(
            {
                "id": self.id or clean(PurePath(path).stem),
                "source": source,
                "project": self.project or "",
                "entrypoint": self.entrypoint,
                "started_at": self._drafts[0].at,
                "ended_at": self.ended_at,
                "turns": [
                    {
                        "role": draft.role,
                        "text": draft.text,
                        "at": draft.at,
                        "tools": draft.tools,
                        "skills": draft.skills,
                        "interrupted": draft.interrupted,
                        "reasked": draft.reasked,
                    }
                    for draft in self._drafts
                ],
                "masked": dict(self.masked),
            }
        )

    def bookmark(self) -> Bookmark | None:
        """Where to continue when the transcript has grown; None where it must be read from its beginning."""
        mark = self._mark
        if mark is None:
            return None
        messages = [(key, at) for key, at in self._messages.items() if at < mark.turns]
        return Bookmark(
            offset=mark.offset,
            turns=mark.turns,
            skipped_lines=mark.skipped_lines,
            masked=mark.masked,
            seen=tuple(islice(self._seen, max(0, mark.rows - _KEPT_ROWS), mark.rows)),
            messages=dict(messages[-_KEPT_MESSAGES:]),
            pending=mark.pending,
            by_person=self.by_person,
            by_program=self.by_program,
        )


def _same_wording(before: str, after: str) -> bool:
    """Whether a prompt says again what the one before said. "go on" twice is not meant."""
    if len(after.split()) < 3 and len(after.encode()) < 18:
        return False
    from rapidfuzz import fuzz

    return fuzz.ratio(before[:_COMPARED], after[:_COMPARED], score_cutoff=_SAME_WORDING) > 0


def _clip(text: str) -> str:
    if len(text) <= MAX_TURN_CHARS:
        return text
    return f"{text[:MAX_TURN_CHARS]}\n[... {len(text) - MAX_TURN_CHARS} more characters]"
