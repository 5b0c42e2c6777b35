"""Writes that a crash cannot tear.

A file is replaced by writing a temporary file in the same folder, flushing it to the disk, renaming it over the old one
and flushing the folder: on POSIX and NTFS a rename within one folder is atomic. A line is appended with one write and a
flush; a torn last line is possible, and every reader of ours tolerates it.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from skillopt_sleep.domain.errors import StateError

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700


class Disk:
    """The steps that can fail half-way. Tests hand in one that fails at the n-th step."""

    def write(self, descriptor: int, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]

    def flush(self, descriptor: int) -> None:
        os.fsync(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        source.replace(target)

    def unlink(self, path: Path) -> None:
        path.unlink()

    def flush_folder(self, folder: Path) -> None:
        if os.name == "nt":  # Windows cannot open a folder for flushing; its rename is journalled
            return
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


DISK = Disk()


def write_atomic(path: Path, data: bytes, *, mode: int | None = None, disk: Disk = DISK) -> None:
    """Replace `path` by `data`.

    An existing file keeps its permissions; a new one gets `mode`, or the private 0600. Raises `StateError` with a hint
    when the folder cannot be written; the old bytes are then still there.
    """
    try:
        keep = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        keep = PRIVATE_FILE if mode is None else mode
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".tmp", dir=path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error
    temporary = Path(name)
    try:
        try:
            disk.write(descriptor, data)
            disk.flush(descriptor)
        finally:
            os.close(descriptor)
        temporary.chmod(keep)
        disk.replace(temporary, path)
        disk.flush_folder(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()


def append_line(path: Path, line: str, *, flush: bool = False, disk: Disk = DISK) -> None:
    """Append one line with a single write. With `flush` it is on the disk when this returns."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), PRIVATE_FILE)
        try:
            disk.write(descriptor, line.encode("utf-8") + b"\n")
            if flush:
                disk.flush(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _unwritable(path, error) from error


def remove(path: Path, *, disk: Disk = DISK) -> None:
    """Remove a file for good. Raises `StateError` when that is not possible."""
    try:
        disk.unlink(path)
        disk.flush_folder(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error


def private_folder(path: Path) -> Path:
    """Create a folder, and what is missing above it, for this user only. Raises `StateError` with a hint."""
    try:
        missing = [folder for folder in (path, *path.parents) if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        if not path.is_dir():
            raise NotADirectoryError(20, "it is not a folder")
    except OSError as error:
        raise _unwritable(path, error) from error
    return path


def _unwritable(path: Path, error: OSError) -> StateError:
    return StateError(
        f"{path} cannot be written: {error.strerror or error}.",
        hint="Check its permissions and the free space; SKILLOPT_SLEEP_HOME chooses another state folder.",
    )
