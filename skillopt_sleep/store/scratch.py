"""Private folders for the time being: what a child process needs on disk, and nothing that lasts."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path


class Scratch:
    """A temporary folder that only its owner can read. `remove` it when its user has ended; twice does no harm."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="skillopt-sleep-"))

    def folder(self, name: str) -> Path:
        """A folder in it, empty when it is new."""
        path = self.path / name
        path.mkdir(mode=0o700, exist_ok=True)
        return path

    def file(self, name: str, data: bytes) -> Path:
        """A file in it."""
        path = self.path / name
        path.write_bytes(data)
        return path

    def remove(self) -> None:
        """All of it. What a dying process still holds (on Windows) is left to the system's own cleaning."""
        shutil.rmtree(self.path, ignore_errors=True)
