from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from skillopt_sleep.domain.events import Event, Warned
from skillopt_sleep.domain.llm import Reply
from skillopt_sleep.store import ReplyCache

REPLY = Reply(text="hello ✓", model="m")


class Heard(list[str]):
    """An event sink that keeps the warnings."""

    def __call__(self, event: Event, /) -> None:
        assert isinstance(event, Warned)
        self.append(event.message)


def test_asking_a_cache_that_does_not_exist_creates_nothing(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "state" / "cache.sqlite3")
    assert cache.get("k") is None
    assert list(tmp_path.iterdir()) == []


def test_several_threads_may_use_one_cache(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "cache.sqlite3")

    def work(n: int) -> None:
        for m in range(20):
            cache.put(f"{n}-{m}", REPLY)
            assert cache.get(f"{n}-{m}") == REPLY

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(cache.get(f"{n}-{m}") == REPLY for n in range(4) for m in range(20))
    cache.close()


def test_another_process_sees_a_reply_as_soon_as_it_is_put(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite3"
    cache = ReplyCache(path)
    cache.put("k", REPLY)
    program = (
        "from pathlib import Path\nfrom skillopt_sleep.store import ReplyCache\n"
        f"cache = ReplyCache(Path({str(path)!r}))\nreply = cache.get('k')\ncache.put('other', reply)\ncache.close()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert cache.get("other") == REPLY
    cache.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not delete open files")
def test_a_cache_deleted_under_our_feet_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite3"
    cache = ReplyCache(path)
    cache.put("k", REPLY)
    for file in tmp_path.iterdir():
        file.unlink()
    assert cache.get("k") is None
    cache.put("k", REPLY)
    cache.close()
    assert ReplyCache(path).get("k") == REPLY


def test_a_cache_damaged_under_our_feet_is_set_aside_with_a_warning(tmp_path: Path) -> None:
    path, heard = tmp_path / "cache.sqlite3", Heard()
    cache = ReplyCache(path, heard)
    for n in range(200):
        cache.put(f"k{n}", Reply(text="x" * 500, model="m"))
    cache.close()
    path.write_bytes(path.read_bytes()[:4096] + b"\xff" * 60_000)
    found = [cache.get(f"k{n}") for n in range(200)]
    assert None in found
    cache.put("k", REPLY)
    assert cache.get("k") == REPLY
    cache.close()
    assert len(heard) == 1
    assert "begun anew" in heard[0]
    assert (tmp_path / "cache.sqlite3.damaged").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not rename open files")
def test_a_healthy_cache_that_another_user_of_it_began_anew_is_not_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite3"
    first, second = ReplyCache(path), ReplyCache(path)
    for n in range(200):
        first.put(f"k{n}", Reply(text="x" * 500, model="m"))
    first.close()
    assert second.get("k0") is not None
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 60_000)
    assert None in [first.get(f"k{n}") for n in range(200)]
    first.put("k", REPLY)
    assert None in [second.get(f"k{n}") for n in range(200)], "it must have met the damage in the old file"
    assert second.get("k") == REPLY
    first.close()
    second.close()


def test_a_cache_that_cannot_be_made_is_said_once_and_stops_nothing(tmp_path: Path) -> None:
    for blocked in (tmp_path / "file" / "cache.sqlite3", tmp_path / "folder.sqlite3"):
        (tmp_path / "file").write_bytes(b"")
        (tmp_path / "folder.sqlite3").mkdir(exist_ok=True)
        heard = Heard()
        cache = ReplyCache(blocked, heard)
        for _ in range(3):
            cache.put("k", REPLY)
            assert cache.get("k") is None
        assert len(heard) == 1
        assert "calls are made anew" in heard[0]


def test_a_reply_of_another_version_is_a_miss(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite3"
    cache = ReplyCache(path)
    cache.put("k", REPLY)
    db = sqlite3.connect(path)
    with db:
        db.execute("""UPDATE reply SET reply = '{"text": "a", "model": "m", "mood": "new"}'""")
    db.close()
    assert cache.get("k") is None
    cache.close()
