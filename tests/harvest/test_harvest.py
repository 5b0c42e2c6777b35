from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from skillopt_sleep.domain.events import Event, LinesSkipped, SessionFound, SessionSkipped, Warned
from skillopt_sleep.domain.ports import EventSink
from skillopt_sleep.domain.sessions import Query, Session, Turn
from skillopt_sleep.harvest import Tally, harvest
from skillopt_sleep.harvest.order import Candidate, Newest

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def session(name: str, hour: int, *, source: str = "a", masked: int = 0) -> Session:
    at = NOON + timedelta(hours=hour)
    return Session(
        id=name,
        source=source,
        project="/p",
        entrypoint="interactive",
        started_at=at,
        ended_at=at,
        turns=(Turn(role="user", text=name, at=at),),
        masked={"jwt": masked} if masked else {},
    )


class Shelf:
    """A source that holds what it is given."""

    def __init__(self, name: str, events: EventSink, *sessions: Session) -> None:
        self.name = name
        self._events = events
        self._sessions = sessions

    def sessions(self, query: Query) -> Iterator[Session]:
        self._events(SessionSkipped(source=self.name, path="x", reason="empty"))
        self._events(LinesSkipped(source=self.name, path="x", reason="not_json", count=3))
        for held in self._sessions:
            self._events(SessionFound(source=self.name, path=held.id))
            yield held


def ignore(event: Event) -> None:
    pass


def test_sessions_of_all_sources_are_merged_newest_first_and_the_limit_is_over_all() -> None:
    tally = Tally(ignore)
    sources = [
        Shelf("a", tally, session("a5", 5, masked=1), session("a1", 1, masked=4)),
        Shelf("b", tally, session("b9", 9), session("b2", 2, masked=2)),
    ]
    found = harvest(sources, Query(limit=3), tally)
    assert [s.id for s in found.sessions] == ["b9", "a5", "b2"]
    assert found.masked == {"jwt": 3}
    assert (found.files, found.skipped, found.skipped_lines) == (6, {"empty": 2}, {"not_json": 6})


def test_a_session_that_two_sources_hold_is_counted_once_in_its_newest_copy() -> None:
    tally = Tally(ignore)
    sources = [Shelf("a", tally, session("s", 1), session("t", 0)), Shelf("b", tally, session("s", 4, source="b"))]
    found = harvest(sources, Query(limit=2), tally)
    assert [(s.id, s.source) for s in found.sessions] == [("s", "b"), ("t", "a")]


def test_a_tally_hands_every_event_on_unchanged() -> None:
    seen: list[Event] = []
    tally = Tally(seen.append)
    events: list[Event] = [SessionFound(source="a", path="x"), Warned(message="hm")]
    for event in events:
        tally(event)
    assert seen == events
    assert tally.files == 1


def test_no_sources_give_an_empty_harvest() -> None:
    found = harvest([], Query(), Tally(ignore))
    assert (found.sessions, found.files, found.skipped) == ((), 0, {})


def test_no_more_sessions_are_kept_than_fit_into_memory_and_the_newest_are() -> None:
    newest = Newest(None, max_weight=100)
    for hour in (3, 1, 5, 2, 4, 0, 6):
        newest.add(Candidate(f"s{hour}", NOON + timedelta(hours=hour), weight=30))
    assert [candidate.id for candidate in newest.ordered()] == ["s6", "s5", "s4"]
    assert newest.cut_by_weight


def test_one_session_is_kept_however_heavy_it_is() -> None:
    newest = Newest(None, max_weight=100)
    newest.add(Candidate("s", NOON, weight=1_000))
    assert [candidate.id for candidate in newest.ordered()] == ["s"]


def test_a_limit_holds_while_many_sessions_pass_by() -> None:
    newest = Newest(3)
    for minute in random.Random(1).sample(range(2_000), 2_000):
        newest.add(Candidate(f"s{minute}", NOON + timedelta(minutes=minute), weight=1))
        assert len(newest) < 300
    assert [candidate.id for candidate in newest.ordered()] == ["s1999", "s1998", "s1997"]
