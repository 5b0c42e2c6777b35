"""Disks for tests: one that is never waited for, one that is full, and one whose power fails at a chosen step."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeVar

from skillopt_sleep.store import Disk

T = TypeVar("T")
Moment = Literal["before", "within", "after"]


class Unsynced(Disk):
    """A disk that is never waited for: a test machine does not lose its power."""

    def flush(self, descriptor: int) -> None:
        pass

    def flush_folder(self, folder: Path) -> None:
        pass


class FullDisk(Disk):
    """Has no space left at its n-th step of writing; files can still be removed."""

    def __init__(self, at: int) -> None:
        self._left = at

    def _step(self) -> None:
        self._left -= 1
        if self._left <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")

    def write(self, descriptor: int, data: bytes) -> None:
        self._step()
        super().write(descriptor, data)

    def flush(self, descriptor: int) -> None:
        self._step()
        super().flush(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        self._step()
        super().replace(source, target)


class PowerCut(BaseException):
    """The process is gone: no handler of ours may catch this."""


class DyingDisk(Unsynced):
    """Dies at step `at`; from then on nothing works, cleaning up included."""

    def __init__(self, at: int, moment: Moment) -> None:
        self._left = at
        self._moment = moment

    def _step(self, act: Callable[[], T], half: Callable[[], object] = lambda: None) -> T:
        self._left -= 1
        if self._left > 0:
            return act()
        if self._left == 0:
            {"before": lambda: None, "within": half, "after": act}[self._moment]()
        raise PowerCut

    def open_new(self, path: Path, mode: int) -> int:
        return self._step(lambda: super(DyingDisk, self).open_new(path, mode))

    def open_end(self, path: Path, mode: int) -> int:
        return self._step(lambda: super(DyingDisk, self).open_end(path, mode))

    def write(self, descriptor: int, data: bytes) -> None:
        def half() -> None:
            super(DyingDisk, self).write(descriptor, data[: len(data) // 2])

        self._step(lambda: super(DyingDisk, self).write(descriptor, data), half)

    def flush(self, descriptor: int) -> None:
        self._step(lambda: super(DyingDisk, self).flush(descriptor))

    def chmod(self, path: Path, mode: int) -> None:
        self._step(lambda: super(DyingDisk, self).chmod(path, mode))

    def replace(self, source: Path, target: Path) -> None:
        self._step(lambda: super(DyingDisk, self).replace(source, target))

    def unlink(self, path: Path) -> None:
        self._step(lambda: super(DyingDisk, self).unlink(path))

    def mkdir(self, path: Path, mode: int) -> None:
        self._step(lambda: super(DyingDisk, self).mkdir(path, mode))

    def rmdir(self, path: Path) -> None:
        self._step(lambda: super(DyingDisk, self).rmdir(path))

    def flush_folder(self, folder: Path) -> None:
        self._step(lambda: super(DyingDisk, self).flush_folder(folder))
