"""Writes that a crash cannot tear.

A file is replaced by writing a temporary file in the same folder, flushing it to the disk, renaming it over the old one
and flushing the folder: on POSIX and NTFS a rename within one folder is atomic. A line is appended with one write and,
where history depends on it, a flush; a torn last line is possible, and every reader of ours tolerates it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from skillopt_sleep.domain.base import sha256_hex
from skillopt_sleep.domain.errors import ConflictError, InputError, StateError
from skillopt_sleep.store.disk import DISK, Disk

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
_ELSEWHERE = "SKILLOPT_SLEEP_HOME chooses another state folder."


def write_atomic(
    path: Path,
    data: bytes,
    *,
    mode: int | None = None,
    disk: Disk = DISK,
    still_right: Callable[[], None] = lambda: None,
) -> None:
    """Replace `path` by `data`.

    An existing file keeps its permissions and, where we may set it, its owner; a new one gets `mode`, or the private
    0600. Extended attributes are not kept. `still_right` is called when everything is ready for the rename and may
    raise to stop it. Raises `StateError` with a hint when the folder cannot be written; the old bytes are then still
    there.
    """
    temporary = path.with_name(f"{_temporary_prefix(path)}{secrets.token_hex(8)}.tmp")
    with _state_errors(path):
        try:
            _fill(temporary, data, like=_stat_of(path), mode=PRIVATE_FILE if mode is None else mode, disk=disk)
            still_right()
            disk.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                disk.unlink(temporary)
            raise
        disk.flush_folder(path.parent)


def compare_and_swap(
    path: Path, data: bytes | None, *, expected: str | None, mode: int | None = None, disk: Disk = DISK
) -> None:
    """Replace `path` by `data` (None removes it) if its SHA-256 is `expected` (None: if it does not exist).

    The comparison is made a last time right before the swap. Raises `ConflictError` where it fails, `StateError` where
    the file cannot be written; in both cases nothing was changed. Callers hold a lock, so what an earlier crash left
    beside the file can be cleared away.
    """
    _clear_litter(path, disk)

    def compare() -> None:
        found = live_sha256(path)
        if found != expected:
            raise ConflictError(
                f"{path} has changed in this very moment: it is {short(found)}, and {short(expected)} was expected.",
                hint="Nothing was written. Close what else writes to it, then try again.",
            )

    if data is not None:
        write_atomic(path, data, mode=mode, disk=disk, still_right=compare)
        return
    compare()
    with _state_errors(path):
        disk.unlink(path)
        disk.flush_folder(path.parent)


def live_sha256(path: Path) -> str | None:
    """SHA-256 of a file's bytes; None where there is no file. Raises `InputError` for what cannot be read."""
    try:
        return sha256_hex(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error


def short(sha256: str | None) -> str:
    """A hash as it is shown to people."""
    return "absent" if sha256 is None else sha256[:12]


def append_line(path: Path, line: str, *, flush: bool = False, disk: Disk = DISK) -> None:
    """Append one line with a single write; with `flush` it is on the disk when this returns.

    A torn line that a crash left at the end is closed first, so that the new one is not glued to it.
    """
    with _state_errors(path, _ELSEWHERE):
        new = flush and not path.exists()
        descriptor = disk.open_end(path, PRIVATE_FILE)
        try:
            disk.write(descriptor, (b"\n" if _is_torn(descriptor) else b"") + line.encode("utf-8") + b"\n")
            if flush:
                disk.flush(descriptor)
        finally:
            os.close(descriptor)
        if new:
            disk.flush_folder(path.parent)


def private_folder(path: Path) -> Path:
    """Create a folder, and what is missing above it, for this user only. Raises `StateError` with a hint."""
    with _state_errors(path, _ELSEWHERE):
        _make(path, PRIVATE_FOLDER, DISK)
    return path


def missing_folders(path: Path) -> tuple[Path, ...]:
    """`path` and the folders above it that do not exist, innermost first."""
    with _state_errors(path):
        return _missing(path)


def make_folders(path: Path, *, mode: int, disk: Disk = DISK) -> None:
    """Create a folder and what is missing above it, with `mode` less the umask. Raises `StateError`."""
    with _state_errors(path):
        _make(path, mode, disk)


def remove_if_empty(folder: Path, *, disk: Disk = DISK) -> None:
    """Remove a folder unless something lies in it."""
    with contextlib.suppress(OSError):  # not empty, or gone already: both are fine
        disk.rmdir(folder)


def subfolders(path: Path) -> list[Path]:
    """Folders inside `path`, by name; none where it does not exist. Raises `StateError` where it cannot be read."""
    try:
        return sorted(entry for entry in path.iterdir() if entry.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StateError(f"{path} cannot be read: {error.strerror or error}.", hint="Check its permissions.") from error


def _missing(path: Path) -> tuple[Path, ...]:
    return tuple(folder for folder in (path, *path.parents) if not folder.exists())


def _make(path: Path, mode: int, disk: Disk) -> None:
    for folder in reversed(_missing(path)):
        disk.mkdir(folder, mode)
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "it is not a folder")


def _temporary_prefix(path: Path) -> str:
    return f".skillopt-sleep-{sha256_hex(path.name)[:8]}-"


def _clear_litter(path: Path, disk: Disk) -> None:
    with contextlib.suppress(OSError):
        for entry in path.parent.iterdir():
            if entry.name.startswith(_temporary_prefix(path)) and entry.name.endswith(".tmp"):
                disk.unlink(entry)


def _fill(temporary: Path, data: bytes, *, like: os.stat_result | None, mode: int, disk: Disk) -> None:
    descriptor = disk.open_new(temporary, PRIVATE_FILE)
    try:
        disk.write(descriptor, data)
        if like is not None and hasattr(os, "fchown") and (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
            with contextlib.suppress(PermissionError):  # under sudo the file stays its owner's; else it cannot be set
                os.fchown(descriptor, like.st_uid, like.st_gid)
        disk.flush(descriptor)
    finally:
        os.close(descriptor)
    disk.chmod(temporary, mode if like is None else stat.S_IMODE(like.st_mode))


def _stat_of(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _is_torn(descriptor: int) -> bool:
    if os.fstat(descriptor).st_size == 0:
        return False
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1) != b"\n"


@contextlib.contextmanager
def _state_errors(path: Path, elsewhere: str = "") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        what = "Free some space." if error.errno in (errno.ENOSPC, errno.EDQUOT) else "Check its permissions."
        raise StateError(
            f"{path} cannot be written: {error.strerror or error}.", hint=f"{what} {elsewhere}".strip()
        ) from error
