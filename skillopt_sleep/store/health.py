"""Is the state folder in order? Looks, and changes nothing but a file of its own that it removes again."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from skillopt_sleep.domain.errors import StateError
from skillopt_sleep.domain.health import Finding
from skillopt_sleep.store.atomic import write_atomic

DATABASES = ("memory.sqlite3", "gate.sqlite3", "spend.sqlite3", "cache.sqlite3")
_LITTLE = 200 * 1024 * 1024
"""Free bytes below which a night's records may not find room."""


def state_findings(home: Path) -> Iterator[Finding]:
    """What is so about the folder itself, who may read it, and each database in it."""
    about = "state folder"
    if not home.exists():
        yield Finding(about=about, state="ok", text=f"{home} does not exist yet; the first night makes it.")
        return
    try:
        write_atomic(home / ".doctor", b"")
        (home / ".doctor").unlink()
    except (StateError, OSError) as error:
        yield Finding(about=about, state="problem", text=f"{home} cannot be written: {error}.")
        return
    free = shutil.disk_usage(home).free
    if free < _LITTLE:
        text = f"Only {free // 1_000_000} MB are free where {home} lies."
        yield Finding(about=about, state="warning", text=text, what_to_do="Make room, or move SKILLOPT_SLEEP_HOME.")
    else:
        yield Finding(about=about, state="ok", text=f"{home} can be written.")
    yield from _readers(home)
    for name in DATABASES:
        if (home / name).exists():
            yield _sound(home / name)


def _readers(home: Path) -> Iterator[Finding]:
    if os.name == "nt":  # the folder of a user's own data is private there
        return
    open_to_others = [
        path for path in (home, *home.rglob("*")) if not path.is_symlink() and path.stat().st_mode & 0o077
    ]
    if open_to_others:
        yield Finding(
            about="privacy",
            state="problem",
            text=f"{len(open_to_others)} files or folders can be read by others, {open_to_others[0]} among them.",
            what_to_do=f"chmod -R go= {home}",
        )
    else:
        yield Finding(about="privacy", state="ok", text="Only you can read what is kept.")


def _sound(file: Path) -> Finding:
    try:
        db = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=2.0)
        try:
            (answer,) = db.execute("PRAGMA quick_check").fetchone()
        finally:
            db.close()
    except sqlite3.Error as error:
        answer = str(error)
    if answer == "ok":
        return Finding(about="database", state="ok", text=f"{file.name} is sound.")
    return Finding(
        about="database",
        state="problem",
        text=f"{file} is damaged: {answer}.",
        what_to_do="Move it away; a new one is made. The cache costs money only; the others hold what is remembered.",
    )
