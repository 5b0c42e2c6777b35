"""Disks that fail, for crash tests."""

from __future__ import annotations

from pathlib import Path

from skillopt_sleep.store import Disk


class PowerCut(Disk):
    """Works until step `at`; from then on nothing does, as after a power cut or on a full disk."""

    def __init__(self, at: int) -> None:
        self.left = at

    def _step(self) -> None:
        self.left -= 1
        if self.left <= 0:
            raise OSError(28, "No space left on device")

    def write(self, descriptor: int, data: bytes) -> None:
        self._step()
        super().write(descriptor, data)

    def flush(self, descriptor: int) -> None:
        self._step()
        super().flush(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        self._step()
        super().replace(source, target)

    def unlink(self, path: Path) -> None:
        self._step()
        super().unlink(path)

    def flush_folder(self, folder: Path) -> None:
        self._step()
        super().flush_folder(folder)
