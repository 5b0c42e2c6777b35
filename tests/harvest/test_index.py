"""What the index changes: how often files are read, and what is left of a session whose file is gone."""

from __future__ import annotations

import os
import stat
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from skillopt_sleep.domain.events import Event, Warned
from skillopt_sleep.domain.ports import Redactor, SessionIndex
from skillopt_sleep.domain.sessions import Harvest, Query
from skillopt_sleep.harvest import OWN_CALL_MARKER, Tally, harvest
from skillopt_sleep.harvest.claude_code import ClaudeCodeSource
from skillopt_sleep.harvest.codex import CodexSource
from skillopt_sleep.redact import redact
from skillopt_sleep.store import StateHome
from tests.harvest.fakes import MemoryIndex
from tests.harvest.rollouts import Rollout
from tests.harvest.transcripts import START, Transcript, session_id


class Reader:
    """Harvests again and again with the same index."""

    def __init__(self, folder: Path, kind: type[ClaudeCodeSource] | type[CodexSource] = ClaudeCodeSource) -> None:
        self.root, self.state = folder / "client", StateHome(folder / "state")
        self.kind = kind
        self.index: SessionIndex = self.state.transcripts()
        self.events: list[Event] = []
        self.redact: Redactor = redact
        self.redactor_version = 1
        self.now = START + timedelta(days=1)

    def __call__(self, query: Query | None = None, *, indexed: bool = True) -> Harvest:
        self.events = []
        tally = Tally(self.events.append)
        source = self.kind(
            self.root,
            redact=self.redact,
            events=tally,
            index=self.index if indexed else None,
            redactor_version=self.redactor_version,
            clock=lambda: self.now,
        )
        return harvest([source], query or Query(), tally)

    def prompts(self, query: Query | None = None) -> list[str]:
        return [turn.text for s in self(query).sessions for turn in s.turns if turn.role == "user"]

    def bytes_on_disk(self) -> bytes:
        return b"".join(path.read_bytes() for path in self.state.path.rglob("*") if path.is_file())


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


def replace_unnoticed(path: Path, data: bytes) -> None:
    """Other content, and the size and time of before: only who opens the file can tell."""
    before = path.stat()
    path.write_bytes(data.ljust(before.st_size, b"\n")[: before.st_size])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


# Reading once ---------------------------------------------------------------------------------------------------------


def test_a_file_that_has_not_changed_is_not_opened_again(reader: Reader) -> None:
    path = Transcript().prompt("hello").reply("hi").raw("not json").write(reader.root)
    first = reader()
    replace_unnoticed(path, b"garbage")
    assert reader() == first
    assert first.skipped_lines == {"not_json": 1}


@pytest.mark.parametrize("entrypoint", ["sdk-cli", "own", "side", "commands"])
def test_files_without_a_session_of_a_person_are_not_opened_again_either(reader: Reader, entrypoint: str) -> None:
    transcript = Transcript(entrypoint="sdk-cli" if entrypoint == "sdk-cli" else "cli")
    match entrypoint:
        case "own":
            transcript.prompt(f"{OWN_CALL_MARKER} go")
        case "side":
            transcript.user("count", isSidechain=True)
        case "commands":
            transcript.command("demo")
        case _:
            transcript.prompt("report")
    path = transcript.reply("ok").write(reader.root)
    first = reader()
    assert sum(first.skipped.values()) == 1
    replace_unnoticed(path, b"garbage")
    assert reader() == first


def eventful(rollout: bool = False) -> list[bytes]:
    """Lines of a session in which everything happens that a later row can change."""
    if rollout:
        talk = Rollout().begin().prompt("write a.txt").reply("Running.", tools=("exec_command",)).reply("Done.")
        talk.begin().prompt("slow one").reply("well", tools=("a", "b")).interrupt().begin().prompt("write a.txt again")
        talk.message("user", "<skill>\n<name>notes</name>\n</skill>", kind="skill").reply("ok")
        return talk.lines
    one = Transcript(noise=False).prompt("long task").reply("slow", message="m1", thinking="hm")
    one.tool_result("x" * 300).reply(tools=["Bash"], message="m1").reply("slower", message="m2").interrupt("m1")
    one.raw("not json").prompt("a key " + "gh" + "p_" + "a1B2c3" * 6).reply("hi", skill="review")
    repeated = list(one.lines[:3])
    one.command("demo:commit").reply("feat: x", message="m3").reply(tools=["Read"], message="m3")
    one.lines += repeated
    one.interrupt().prompt("please do the long task now").prompt("please do the long task now!").reply("ok")
    one.raw("[1]")
    return one.lines


@pytest.mark.parametrize("rollout", [False, True])
def test_a_session_read_in_pieces_is_the_session_read_at_once_wherever_it_was_cut(
    tmp_path: Path, rollout: bool
) -> None:
    data = b"".join(eventful(rollout))
    kind: type[ClaudeCodeSource] | type[CodexSource] = CodexSource if rollout else ClaudeCodeSource
    whole = Reader(tmp_path / "whole", kind)
    where = Path("sessions/rollout-1.jsonl") if rollout else Path("projects/p/s.jsonl")

    def write(reader: Reader, part: bytes) -> None:
        path = reader.root / where
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(part)

    write(whole, data)
    expected = whole(indexed=False)
    assert len(expected.sessions[0].turns) > 5
    ends = [n + 1 for n, byte in enumerate(data) if byte == 10]
    cuts = [*ends, *(end - 7 for end in ends), *(end + 20 for end in ends[:-1])]
    for number, cut in enumerate(cuts):
        reader = Reader(tmp_path / f"cut{number}", kind)
        reader.index = MemoryIndex()
        for part in (data[:cut], data[: (cut + len(data)) // 2], data):
            write(reader, part)
            found = reader()
        assert found == expected, f"cut after {cut} bytes"


def test_a_file_that_has_grown_is_read_from_where_it_ended(reader: Reader) -> None:
    transcript = Transcript().prompt("first").reply("a" * 5000).prompt("second").reply("b" * 5000)
    path = transcript.write(reader.root)
    reader()
    data = path.read_bytes()
    middle = data.index(b"second")
    path.write_bytes(data[:middle] + b"SECOND" + data[middle + 6 :])  # who read it again would see this
    transcript.prompt("third").reply("ok").write(reader.root)
    assert reader.prompts() == ["first", "second", "third"]


def test_a_file_that_was_rewritten_or_cut_is_read_anew(reader: Reader) -> None:
    path = Transcript().prompt("first").reply("one").write(reader.root)
    reader()
    path.unlink()
    Transcript().prompt("another, and longer than what was there").reply("one").prompt("more").write(reader.root)
    assert reader.prompts() == ["another, and longer than what was there", "more"]
    path.unlink()
    Transcript().prompt("short").write(reader.root)
    assert reader.prompts() == ["short"]


def test_a_half_written_last_line_is_counted_and_read_when_it_is_whole(reader: Reader) -> None:
    transcript = Transcript(noise=False).prompt("first").reply("one").prompt("second")
    last = transcript.lines.pop()
    path = transcript.raw(last[:150], newline=False).write(reader.root)
    found = reader()
    assert ([t.text for t in found.sessions[0].turns], found.skipped_lines) == (["first", "one"], {"truncated": 1})
    with path.open("ab") as stream:
        stream.write(last[150:])
    found = reader()
    assert ([t.text for t in found.sessions[0].turns], found.skipped_lines) == (["first", "one", "second"], {})


def test_a_changed_redactor_reads_anew_what_is_there_and_masks_anew_what_is_gone(reader: Reader) -> None:
    Transcript(session_id(1)).prompt("my word is swordfish").write(reader.root)
    gone = Transcript(session_id(2)).prompt("mine is swordfish too").write(reader.root)
    reader()
    gone.unlink()
    assert b"swordfish" in reader.bytes_on_disk()
    reader.redact = lambda text: (text.replace("swordfish", "[masked:word]"), {"word": text.count("swordfish")})
    reader.redactor_version = 2
    found = reader()
    assert "swordfish" not in found.model_dump_json()
    assert found.masked == {"word": 2}
    assert b"swordfish" not in reader.bytes_on_disk()
    assert reader() == found


# Outliving the file ---------------------------------------------------------------------------------------------------


def test_a_session_whose_file_is_gone_is_still_harvested_and_counted_as_such(reader: Reader) -> None:
    path = Transcript(session_id(1)).prompt("old").write(reader.root)
    Transcript(session_id(2)).prompt("other").write(reader.root)
    before = reader()
    path.unlink()
    after = reader()
    assert {s.id for s in after.sessions} == {session_id(1), session_id(2)}
    assert (before.files, before.kept, after.files, after.kept) == (2, 0, 1, 1)
    assert reader() == after


def test_what_is_kept_obeys_the_query_as_files_do(reader: Reader) -> None:
    for n, cwd, entrypoint in ((1, "/home/ann/shop", "cli"), (2, "/home/ann/blog", "cli"), (3, "/home/ann", "sdk-ts")):
        start = START + timedelta(days=n)
        Transcript(session_id(n), cwd=cwd, start=start, entrypoint=entrypoint).prompt(f"p{n}").write(reader.root)
    reader()
    for path in reader.root.rglob("*.jsonl"):
        path.unlink()
    assert reader.prompts() == ["p2", "p1"]
    assert reader.prompts(Query(include_headless=True)) == ["p3", "p2", "p1"]
    assert reader.prompts(Query(project="/home/ann/shop")) == ["p1"]
    assert reader.prompts(Query(since=START + timedelta(days=1, hours=1))) == ["p2"]
    assert reader.prompts(Query(limit=1)) == ["p2"]


def test_a_file_that_has_moved_is_not_counted_twice(reader: Reader) -> None:
    path = Transcript().prompt("hello").write(reader.root)
    reader()
    (path.parent.parent / "elsewhere").mkdir()
    path.rename(path.parent.parent / "elsewhere" / path.name)
    found = reader()
    assert (len(found.sessions), found.kept) == (1, 0)


def test_a_missing_folder_of_the_client_leaves_what_was_kept(reader: Reader, tmp_path: Path) -> None:
    Transcript().prompt("hello").write(reader.root)
    reader()
    reader.root.rename(tmp_path / "unplugged")
    assert reader().kept == 1


@pytest.mark.parametrize(("settings", "days", "soon"), [(None, 24, 0), (None, 26, 1), ("90", 26, 0), ("90", 86, 1)])
def test_transcripts_that_the_client_deletes_soon_are_counted_with_a_warning(
    reader: Reader, settings: str | None, days: int, soon: int
) -> None:
    Transcript().prompt("hello").write(reader.root)
    if settings:
        (reader.root / "settings.json").write_text(f'{{"cleanupPeriodDays": {settings}}}', encoding="utf-8")
    reader.now = START + timedelta(days=days)
    assert reader().soon_deleted == soon
    assert sum(isinstance(event, Warned) for event in reader.events) == soon


# Privacy --------------------------------------------------------------------------------------------------------------


def test_a_denied_folder_is_not_read_beyond_its_name_and_nothing_of_it_is_stored(reader: Reader) -> None:
    secret = Transcript(session_id(1), cwd="/home/ann/diary/2026").prompt("dear diary").reply("private matters")
    secret.raw("damaged line that only who reads on counts").write(reader.root)
    Transcript(session_id(2)).prompt("hello").write(reader.root)
    found = reader(Query(deny=("/home/ann/diary",)))
    assert ([s.id for s in found.sessions], found.skipped) == ([session_id(2)], {"denied_folder": 1})
    assert found.skipped_lines == {}
    assert b"diary" not in reader.bytes_on_disk()


@pytest.mark.parametrize("file_is_gone", [False, True])
def test_denying_a_folder_removes_what_was_kept_of_it_from_the_disk(reader: Reader, file_is_gone: bool) -> None:
    Transcript(session_id(2)).prompt("hello").write(reader.root)
    path = Transcript(session_id(1), cwd="/home/ann/diary").prompt("dear diary " * 500).write(reader.root)
    reader()
    assert b"dear diary" in reader.bytes_on_disk()
    if file_is_gone:
        path.unlink()
    found = reader(Query(deny=("/home/ann/diary",)))
    assert ([s.id for s in found.sessions], found.skipped) == ([session_id(2)], {"denied_folder": 1})
    assert b"diary" not in reader.bytes_on_disk()


def test_a_session_that_enters_a_denied_folder_later_is_denied_as_a_whole(reader: Reader) -> None:
    transcript = Transcript().prompt("hello").reply("hi")
    transcript.write(reader.root)
    assert len(reader(Query(deny=("/home/ann/diary",))).sessions) == 1
    transcript.cwd = "/home/ann/diary"
    transcript.prompt("dear diary")
    transcript.cwd = "/home/ann/shop"
    transcript.write(reader.root)
    assert reader(Query(deny=("/home/ann/diary",))).skipped == {"denied_folder": 1}
    assert b"hello" not in reader.bytes_on_disk()


def test_nothing_that_was_said_in_another_project_is_stored(reader: Reader) -> None:
    path = Transcript(session_id(1), cwd="/home/ann/blog").prompt("about cats").reply("meow").write(reader.root)
    Transcript(session_id(2)).prompt("hello").write(reader.root)
    query = Query(project="/home/ann/shop")
    assert reader(query).skipped == {"other_project": 1}
    assert b"cats" not in reader.bytes_on_disk()
    replace_unnoticed(path, path.read_bytes().replace(b"/blog", b"/shop"))
    assert reader(query).skipped == {"other_project": 1}, "its working folder is known: it need not be opened"
    assert reader.prompts(Query()) == ["about cats", "hello"]


def test_a_session_kept_for_its_own_project_survives_harvests_of_others(reader: Reader) -> None:
    transcript = Transcript(cwd="/home/ann/blog").prompt("one").reply("ok")
    path = transcript.write(reader.root)
    reader(Query(project="/home/ann/blog"))
    transcript.prompt("two").write(reader.root)
    reader(Query(project="/home/ann/shop"))
    assert reader.prompts(Query(project="/home/ann/blog")) == ["one", "two"]
    path.unlink()
    reader(Query(project="/home/ann/shop"))
    assert reader.prompts(Query(project="/home/ann/blog")) == ["one", "two"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_what_is_stored_is_for_its_owner_only(reader: Reader) -> None:
    Transcript().prompt("hello").write(reader.root)
    reader()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in reader.state.path.rglob("*")}
    assert modes == {"memory.sqlite3": 0o600}
    assert stat.S_IMODE(reader.state.path.stat().st_mode) == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="names are Unicode there")
def test_names_that_are_not_text_are_kept_like_others(reader: Reader) -> None:
    path = Transcript().prompt("hello").write(reader.root)
    odd = path.with_name(os.fsdecode(b"name-\xff.jsonl"))
    path.rename(odd)
    first = reader()
    replace_unnoticed(odd, b"garbage")
    assert reader() == first


def test_sources_and_roots_do_not_see_each_others_entries(tmp_path: Path) -> None:
    one, two = Reader(tmp_path), Reader(tmp_path)
    two.root = tmp_path / "other"
    Transcript(session_id(1)).prompt("one").write(one.root)
    Transcript(session_id(2)).prompt("two").write(two.root)
    codex = Reader(tmp_path, CodexSource)
    for _ in range(2):
        assert [reader.prompts() for reader in (one, two, codex)] == [["one"], ["two"], []]
