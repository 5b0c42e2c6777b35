"""Past sessions, from every transcript source, with an account of what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from skillopt_sleep.domain.events import Event, LinesSkipped, SessionFound, SessionSkipped
from skillopt_sleep.domain.ports import EventSink, TranscriptSource
from skillopt_sleep.domain.sessions import OWN_CALL_MARKER, Harvest, LineSkipReason, Query, SkipReason
from skillopt_sleep.harvest.order import newest_first

__all__ = ["OWN_CALL_MARKER", "Tally", "harvest"]


class Tally:
    """An event sink that counts what sources report and hands every event on."""

    def __init__(self, forward: EventSink) -> None:
        self._forward = forward
        self.files = self.kept = self.soon_deleted = 0
        self.skipped: Counter[SkipReason] = Counter()
        self.skipped_lines: Counter[LineSkipReason] = Counter()

    def __call__(self, event: Event, /) -> None:
        match event:
            case SessionFound():
                self.files += not event.kept
                self.kept += event.kept
                self.soon_deleted += event.soon_deleted
            case SessionSkipped():
                self.files += 1
                self.skipped[event.reason] += 1
            case LinesSkipped():
                self.skipped_lines[event.reason] += event.count
            case _:
                pass
        self._forward(event)


def harvest(sources: Sequence[TranscriptSource], query: Query, tally: Tally) -> Harvest:
    """Sessions of all sources, newest end first, each id once, `query.limit` applied over all of them together.

    `tally` is the sink that the sources were built with, so that its counts tell what became of every file. Emits no
    events itself.
    """
    sessions = newest_first((session for source in sources for session in source.sessions(query)), query.limit)
    masked: Counter[str] = Counter()
    for session in sessions:
        masked.update(session.masked)
    return Harvest(
        sessions=sessions,
        files=tally.files,
        kept=tally.kept,
        soon_deleted=tally.soon_deleted,
        skipped=dict(tally.skipped),
        skipped_lines=dict(tally.skipped_lines),
        masked=dict(masked),
    )
