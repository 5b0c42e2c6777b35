from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from skillopt_sleep.domain.errors import ConflictError, StateError, UsageError
from skillopt_sleep.domain.events import Warned
from skillopt_sleep.domain.llm import Reply
from skillopt_sleep.domain.reports import LedgerEntry, NightReport
from skillopt_sleep.domain.slices import KnownFamily
from skillopt_sleep.domain.trials import Trial
from skillopt_sleep.store import (
    Ledger,
    Memory,
    ReplyCache,
    StateHome,
    default_home,
    private_folder,
    project_root,
    write_atomic,
)
from tests.store.disks import FullDisk

NOW = datetime(2026, 12, 1, 3, 0, tzinfo=UTC)


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_write_that_fails_at_any_step_leaves_the_old_bytes_and_no_litter(tmp_path: Path, step: int) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"old")
    with pytest.raises(StateError, match="No space left"):
        write_atomic(file, b"new", disk=FullDisk(step))
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_an_existing_file_keeps_its_mode_and_a_new_one_is_private(tmp_path: Path) -> None:
    shared = tmp_path / "shared.md"
    shared.write_bytes(b"x")
    shared.chmod(0o640)
    write_atomic(shared, b"y")
    write_atomic(tmp_path / "new.md", b"z")
    assert stat.S_IMODE(shared.stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "new.md").stat().st_mode) == 0o600
    assert stat.S_IMODE(private_folder(tmp_path / "a" / "b").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700


def test_a_state_folder_that_cannot_be_made_is_one_clear_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    home = StateHome(tmp_path / "file" / "state")
    with pytest.raises(StateError, match="cannot be written") as caught:
        home.project(tmp_path).new_night(NOW)
    assert "SKILLOPT_SLEEP_HOME" in caught.value.hint


def test_the_home_comes_from_the_environment_or_the_platform(tmp_path: Path) -> None:
    assert default_home({"SKILLOPT_SLEEP_HOME": str(tmp_path)}) == tmp_path
    assert default_home({}).name == "skillopt-sleep"


def test_a_project_is_its_git_root_else_its_folder(tmp_path: Path) -> None:
    below = tmp_path / "repo" / "src" / "deep"
    below.mkdir(parents=True)
    assert project_root(below) == below.resolve()
    (tmp_path / "repo" / ".git").mkdir()
    assert project_root(below) == (tmp_path / "repo").resolve()


def test_two_projects_of_one_name_do_not_share_a_folder(tmp_path: Path) -> None:
    home = StateHome(tmp_path)
    assert home.project(tmp_path / "a" / "shop").path != home.project(tmp_path / "b" / "shop").path


def test_a_torn_last_line_of_the_ledger_is_an_entry_that_never_happened(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    first = LedgerEntry(kind="staged", at=NOW, proposal_id="p1")
    second = LedgerEntry(kind="adopted", at=NOW, proposal_id="p1")
    ledger.append(first)
    with (tmp_path / "ledger.jsonl").open("ab") as file:
        file.write(b'{"kind": "ado')
    assert ledger.entries() == (first,)
    ledger.append(second)
    assert ledger.entries() == (first, second)


def test_families_are_kept_as_they_were_first_met_and_apart_by_project(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    one, two = (KnownFamily(id=name, leader=f"leader {name}", group="g") for name in ("a", "b"))
    memory = Memory(path, "/shop")
    assert memory.known_families() == ()
    assert not path.exists(), "looking must not create anything"
    memory.remember_families((one,))
    memory.remember_families((two, one.model_copy(update={"leader": "another wording"})))
    assert memory.known_families() == (one, two)
    assert Memory(path, "/other").known_families() == ()


def test_rules_turned_down_are_remembered_by_skill(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "memory.sqlite3", "/shop")
    memory.turn_down("notes", ["Be vague."], reason="undone", at=NOW)
    memory.turn_down("notes", ["Be vague."], reason="rejected", at=NOW + timedelta(days=1))
    assert memory.turned_down("notes") == ("Be vague.",)
    assert memory.turned_down("other") == ()


def test_a_memory_that_is_no_database_is_an_error_for_people_and_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    path.write_bytes(b"these are not the bytes of a database, and there are enough of them to tell" * 20)
    before = path.read_bytes()
    with pytest.raises(StateError, match="Move it away"):
        Memory(path, "/shop").known_families()
    assert path.read_bytes() == before


def test_a_reply_is_found_again_by_another_process_of_the_cache(tmp_path: Path) -> None:
    reply = Reply(text="hello ✓", model="m")
    first = ReplyCache(tmp_path / "cache.sqlite3")
    assert first.get("k") is None
    first.put("k", reply)
    first.close()
    second = ReplyCache(tmp_path / "cache.sqlite3")
    assert second.get("k") == reply
    second.close()


def test_a_damaged_cache_is_set_aside_and_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite3"
    path.write_bytes(b"garbage " * 400)
    cache = ReplyCache(path)
    cache.put("k", Reply(text="a", model="m"))
    assert cache.get("k") is not None
    cache.close()
    assert (tmp_path / "cache.sqlite3.damaged").read_bytes().startswith(b"garbage")


def test_nights_are_listed_newest_first_and_unreadable_ones_are_counted(tmp_path: Path) -> None:
    project = StateHome(tmp_path).project(tmp_path / "shop")
    assert project.nights(limit=5) == ((), 0)
    for hours in (0, 1):
        journal = project.new_night(NOW + timedelta(hours=hours))
        journal(Warned(message="mind the gap"))
        if hours == 0:
            at = NOW + timedelta(hours=hours)
            journal.finish(NightReport(id=journal.id, project="p", status="finished", started_at=at, finished_at=at))
    reports, unreadable = project.nights(limit=5)
    assert [report.id for report in reports] == [project.night_folders()[1].name]
    assert unreadable == 1
    event = json.loads((project.night_folders()[0] / "events.jsonl").read_text(encoding="utf-8"))
    assert event == {"kind": "warned", "message": "mind the gap"}


def test_two_nights_in_one_second_have_two_folders(tmp_path: Path) -> None:
    project = StateHome(tmp_path).project(tmp_path)
    assert project.new_night(NOW).folder != project.new_night(NOW).folder


def test_a_second_night_is_refused_with_the_holder_named_and_a_dead_holder_is_forgotten(tmp_path: Path) -> None:
    project = StateHome(tmp_path / "state").project(tmp_path)
    program = (
        "import sys, os\nfrom pathlib import Path\nfrom datetime import datetime, timezone\n"
        "from skillopt_sleep.store import StateHome\n"
        f"p = StateHome(Path({str(tmp_path / 'state')!r})).project(Path({str(tmp_path)!r}))\n"
        "with p.night_lock(datetime.now(timezone.utc)):\n"
        "    print('held', flush=True)\n    sys.stdin.read()\n    os._exit(9)\n"
    )
    other = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdin
    assert other.stdout
    with other:
        assert other.stdout.readline() == "held\n"
        assert project.night_holder() is not None
        with (
            pytest.raises(ConflictError, match=rf"already running \(process {other.pid}, since"),
            project.night_lock(NOW),
        ):
            pass
        other.stdin.close()  # the holder dies without giving anything back
        other.wait()
    with project.night_lock(NOW):
        pass
    assert project.night_holder() is None


# --- what cannot be read or written -----------------------------------------------------------------------------------


def test_looking_at_a_state_folder_that_does_not_exist_creates_nothing(tmp_path: Path) -> None:
    home = StateHome(tmp_path / "state")
    project = home.project(tmp_path)
    assert project.ledger.read() == ((), 0)
    assert project.nights(limit=5) == ((), 0)
    assert project.night_holder() is None
    assert home.memory(tmp_path).known_families() == ()
    assert home.memory(tmp_path).turned_down("notes") == ()
    assert home.reply_cache().get("k") is None
    assert list(tmp_path.iterdir()) == []


def test_every_way_of_writing_below_a_file_is_a_state_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    home = StateHome(tmp_path / "file" / "state")
    project = home.project(tmp_path)

    def lock() -> None:
        with project.night_lock(NOW):
            raise AssertionError("the lock cannot be held")

    writes: tuple[Callable[[], object], ...] = (
        lambda: project.ledger.append(LedgerEntry(kind="staged", at=NOW)),
        lambda: home.memory(tmp_path).turn_down("notes", ["Be kind."], reason="undone", at=NOW),
        lambda: write_atomic(tmp_path / "file" / "a.md", b"x"),
        lock,
    )
    for write in writes:
        with pytest.raises(StateError):
            write()
    assert project.nights(limit=5) == ((), 0)


def test_damaged_lines_of_the_ledger_are_counted_wherever_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    entry = LedgerEntry(kind="staged", at=NOW, proposal_id="p1")
    path.write_bytes(b"\xff\xfe\n[]\n\n" + entry.model_dump_json().encode() + b'\n{"kind": "sta')
    assert Ledger(path).read() == ((entry,), 3)


def test_a_ledger_that_cannot_be_read_is_not_mistaken_for_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "ledger.jsonl").mkdir()
    with pytest.raises(StateError, match="cannot be read"):
        Ledger(tmp_path / "ledger.jsonl").entries()


def test_an_event_that_finds_no_room_is_counted_and_a_trial_is_an_error(tmp_path: Path) -> None:
    journal = StateHome(tmp_path).project(tmp_path).new_night(NOW)
    for name in ("events.jsonl", "trials.jsonl"):
        (journal.folder / name).mkdir()
    journal(Warned(message="lost"))
    assert journal.lost_events == 1
    with pytest.raises(StateError):
        journal.trial(Trial(task_id="t", family="f", sample=0, arm="before", error="model: no"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_stays_theirs(tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_bytes(b"old")
    os.chown(file, 1234, 1234)
    file.chmod(0o640)
    write_atomic(file, b"new")
    found = file.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 1234, 0o640)


def test_a_home_folder_of_nobody_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert default_home({"SKILLOPT_SLEEP_HOME": "state"}) == tmp_path / "state"
    with pytest.raises(UsageError, match="no such home folder"):
        default_home({"SKILLOPT_SLEEP_HOME": "~nobody-of-that-name/state"})


# --- databases and locks ----------------------------------------------------------------------------------------------


def test_a_memory_of_the_first_version_is_brought_up_to_date_and_keeps_what_it_knows(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    db = sqlite3.connect(path)
    db.executescript(
        """
        CREATE TABLE family (project TEXT, id TEXT, leader TEXT, grp TEXT, place INTEGER, PRIMARY KEY (project, id));
        CREATE TABLE turned_down (project TEXT, skill TEXT, rule TEXT, reason TEXT, at TEXT,
            PRIMARY KEY (project, skill, rule));
        INSERT INTO turned_down VALUES ('/shop', 'notes', 'Be vague.', 'undone', '2026-11-01T00:00:00+00:00');
        PRAGMA user_version = 1;
        """
    )
    db.close()
    memory = Memory(path, "/shop")
    memory.turn_down("notes", ["Be loud."], reason="dismissed", at=NOW, proposal_id="p1")
    assert [(entry.rule, entry.proposal_id) for entry in memory.all_turned_down()] == [
        ("Be vague.", None),
        ("Be loud.", "p1"),
    ]


def test_a_memory_of_a_newer_version_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(StateError, match="newer version"):
        Memory(path, "/shop").known_families()


def test_reading_a_memory_leaves_no_files_beside_it(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "memory.sqlite3", "/shop")
    memory.turn_down("notes", ["Be vague."], reason="undone", at=NOW)
    assert memory.turned_down("notes") == ("Be vague.",)
    assert [entry.name for entry in tmp_path.iterdir()] == ["memory.sqlite3"]


def test_a_second_night_in_the_same_process_is_refused_too(tmp_path: Path) -> None:
    project = StateHome(tmp_path / "state").project(tmp_path)
    other = StateHome(tmp_path / "state").project(tmp_path / "other")
    with (
        project.night_lock(NOW),
        other.night_lock(NOW),
        pytest.raises(ConflictError, match=f"process {os.getpid()}"),
        project.night_lock(NOW),
    ):
        raise AssertionError("two nights at once")


def test_live_files_are_held_for_all_projects_together(tmp_path: Path) -> None:
    home = StateHome(tmp_path / "state")
    with (
        home.project(tmp_path / "a").swap_lock(),
        pytest.raises(ConflictError, match="going on"),
        home.project(tmp_path / "b").swap_lock(patience=0.05),
    ):
        raise AssertionError("two swaps at once")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes file names that are not UTF-8")
def test_a_file_name_that_is_not_utf8_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"caf\xe9.md")
    write_atomic(file, b"x")
    assert file.read_bytes() == b"x"
