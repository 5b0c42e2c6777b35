"""What every transcript source must do, whatever it reads.

A source's tests subclass `TranscriptSourceSuite`, say how a history is written for their source, and inherit the tests.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import UTC, datetime, timedelta
from pathlib import Path

from skillopt_sleep.domain.events import Event, LinesSkipped, SessionFound, SessionSkipped
from skillopt_sleep.domain.ports import EventSink, TranscriptSource
from skillopt_sleep.domain.sessions import Query, Session

DAY = timedelta(days=1)
FIRST_END = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
SECRET = "gh" + "p_" + "a1B2c3" * 6


class TranscriptSourceSuite(ABC):
    @abstractmethod
    def source(self, root: Path, events: EventSink) -> TranscriptSource:
        """The source, reading the history below `root`, with the project's real redactor."""

    @abstractmethod
    def write(self, root: Path, number: int, *, project: str, end: datetime, prompts: list[str]) -> Path:
        """Writes one interactive session that holds these prompts and whose last turn is at `end`."""

    def read(self, root: Path, query: Query) -> tuple[list[Session], list[Event]]:
        events: list[Event] = []
        return list(self.source(root, events.append).sessions(query)), events

    def history(self, root: Path, days: int = 4) -> list[Path]:
        """One session a day in two projects, the newest written first."""
        return [
            self.write(
                root,
                n,
                project=str(root / "work" / ("shop" if n % 2 else "blog")),
                end=FIRST_END + n * DAY,
                prompts=[f"prompt {n}", f"key {SECRET} here"],
            )
            for n in reversed(range(days))
        ]

    def test_a_missing_folder_is_an_empty_history(self, tmp_path: Path) -> None:
        assert self.read(tmp_path / "nowhere", Query()) == ([], [])

    def test_sessions_come_newest_first_with_all_their_prompts(self, tmp_path: Path) -> None:
        self.history(tmp_path)
        sessions, _ = self.read(tmp_path, Query())
        assert [s.ended_at for s in sessions] == [FIRST_END + n * DAY for n in (3, 2, 1, 0)]
        assert [next(t.text for t in s.turns if t.role == "user") for s in sessions] == [
            f"prompt {n}" for n in (3, 2, 1, 0)
        ]
        assert all(s.started_at <= s.turns[0].at <= s.turns[-1].at <= s.ended_at for s in sessions)

    def test_sessions_carry_the_name_of_the_source_and_distinct_ids(self, tmp_path: Path) -> None:
        self.history(tmp_path)
        sessions, events = self.read(tmp_path, Query())
        name = self.source(tmp_path, events.append).name
        assert {s.source for s in sessions} == {name}
        assert len({s.id for s in sessions}) == len(sessions) == 4
        assert {e.source for e in events if isinstance(e, SessionFound)} == {name}

    def test_since_is_inclusive_and_until_is_exclusive(self, tmp_path: Path) -> None:
        self.history(tmp_path)
        sessions, events = self.read(tmp_path, Query(since=FIRST_END + DAY, until=FIRST_END + 3 * DAY))
        assert [s.ended_at for s in sessions] == [FIRST_END + 2 * DAY, FIRST_END + DAY]
        assert [e.reason for e in events if isinstance(e, SessionSkipped)] == ["outside_window"] * 2

    def test_a_project_means_its_folder_and_what_lies_below(self, tmp_path: Path) -> None:
        self.history(tmp_path)
        for project, expected in (("work", 4), ("work/shop", 2), ("work/sho", 0)):
            sessions, events = self.read(tmp_path, Query(project=str(tmp_path / project)))
            assert len(sessions) == expected
            others = [e for e in events if isinstance(e, SessionSkipped) and e.reason == "other_project"]
            assert len(others) == 4 - expected

    def test_a_limit_keeps_the_newest(self, tmp_path: Path) -> None:
        self.history(tmp_path)
        sessions, _ = self.read(tmp_path, Query(limit=2))
        assert [s.ended_at for s in sessions] == [FIRST_END + 3 * DAY, FIRST_END + 2 * DAY]

    def test_secrets_are_masked_and_counted_before_anything_leaves(self, tmp_path: Path) -> None:
        self.history(tmp_path)
        sessions, events = self.read(tmp_path, Query())
        said = "".join(item.model_dump_json() for item in (*sessions, *events))
        assert SECRET not in said
        assert all(s.masked == {"github_token": 1} for s in sessions)
        assert "key [masked:github_token] here" in said

    def test_every_file_is_accounted_for_exactly_once(self, tmp_path: Path) -> None:
        written = self.history(tmp_path)
        written[0].write_bytes(b"")
        written[1].write_bytes(b"\x00\xff\xfe garbage\n{]\n")
        sessions, events = self.read(tmp_path, Query())
        accounts = [e for e in events if isinstance(e, SessionFound | SessionSkipped)]
        assert sorted(e.path for e in accounts) == sorted(str(path) for path in written)
        assert len(sessions) == 2
        assert sum(e.count for e in events if isinstance(e, LinesSkipped)) == 2

    def test_reading_twice_gives_the_same(self, tmp_path: Path) -> None:
        self.history(tmp_path)
        assert self.read(tmp_path, Query()) == self.read(tmp_path, Query())
