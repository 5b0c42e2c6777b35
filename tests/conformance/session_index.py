"""What every index of sessions must do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import UTC, datetime
from pathlib import Path

import pytest

from skillopt_sleep.domain.digests import Bookmark, Digest, Entry
from skillopt_sleep.domain.ports import SessionIndex
from skillopt_sleep.domain.sessions import Session, Turn

AT = datetime(2026, 3, 1, 9, 30, 5, 250_000, tzinfo=UTC)


def digest(path: str, text: str = "hello", *, bookmark: bool = True) -> Digest:
    turn = Turn(role="user", text=text, at=AT)
    session = Session(
        id=f"id of {path}",
        source="a",
        project="/p",
        entrypoint="headless",
        started_at=AT,
        ended_at=AT,
        turns=(turn,),
        masked={"jwt": 2},
    )
    entry = Entry(
        path=path,
        size=2**40,
        mtime_ns=1_790_000_000_123_456_789,
        version="1/1",
        ends="e",
        outcome="session",
        folders=("/p", "/p/ü"),
        entrypoint="headless",
        skipped_lines={"not_json": 3},
        id=session.id,
        ended_at=AT,
        weight=7,
    )
    mark = Bookmark(
        offset=5, turns=0, seen=("x",), messages={"m": 0}, pending=("s",), masked={"jwt": 1}, by_program=True
    )
    return Digest(entry, session, mark if bookmark else None)


class SessionIndexSuite(ABC):
    @pytest.fixture
    @abstractmethod
    def index(self, tmp_path: Path) -> SessionIndex:
        """An index that holds nothing yet."""

    def test_an_empty_index_knows_nothing(self, index: SessionIndex) -> None:
        assert index.entries("a", "/r") == {}
        assert list(index.sessions("a", ["/r/x"])) == []
        assert index.bookmark("a", "/r/x") is None
        index.forget("a", ["/r/x"])
        index.keep("a", "/r", [])

    def test_what_is_kept_comes_back_unchanged(self, index: SessionIndex) -> None:
        kept = digest("/r/x")
        bare = Digest(Entry("/r/y", 0, 0, "1/1", "", "empty"))
        index.keep("a", "/r", [kept, bare])
        assert index.entries("a", "/r") == {"/r/x": kept.entry, "/r/y": bare.entry}
        assert list(index.sessions("a", ["/r/x", "/r/y", "/r/z"])) == [("/r/x", kept.session)]
        assert index.bookmark("a", "/r/x") == (kept.session, kept.bookmark)
        assert index.bookmark("a", "/r/y") is None

    def test_keeping_again_replaces(self, index: SessionIndex) -> None:
        index.keep("a", "/r", [digest("/r/x", "one")])
        index.keep("a", "/r", [digest("/r/x", "two", bookmark=False)])
        assert [s.turns[0].text for _, s in index.sessions("a", ["/r/x"])] == ["two"]
        assert index.bookmark("a", "/r/x") is None

    def test_sources_and_roots_are_apart(self, index: SessionIndex) -> None:
        index.keep("a", "/r", [digest("/r/x", "one")])
        index.keep("b", "/r", [digest("/r/x", "two")])
        index.keep("a", "/q", [digest("/q/x")])
        assert list(index.entries("a", "/r")) == ["/r/x"]
        index.forget("a", ["/r/x"])
        assert index.entries("a", "/r") == {}
        assert list(index.entries("b", "/r")) == ["/r/x"]
        assert list(index.entries("a", "/q")) == ["/q/x"]

    def test_thousands_of_sessions_can_be_asked_for_at_once(self, index: SessionIndex) -> None:
        paths = [f"/r/{n}" for n in range(2_500)]
        index.keep("a", "/r", [digest(path) for path in paths])
        assert {path for path, _ in index.sessions("a", paths)} == set(paths)
