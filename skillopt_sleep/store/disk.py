"""The steps of writing that can fail half-way, as one small seam."""

from __future__ import annotations

import os
from pathlib import Path


class Disk:
    """What writing is made of. Tests hand in one that fails, or dies, at the n-th step."""

    def open_new(self, path: Path, mode: int) -> int:
        """A descriptor of a file that did not exist."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        return os.open(path, flags, mode)

    def open_end(self, path: Path, mode: int) -> int:
        """A descriptor for appending; the file is created with `mode` where it is missing."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        return os.open(path, flags, mode)

    def write(self, descriptor: int, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]

    def flush(self, descriptor: int) -> None:
        os.fsync(descriptor)

    def chmod(self, path: Path, mode: int) -> None:
        path.chmod(mode)

    def replace(self, source: Path, target: Path) -> None:
        source.replace(target)

    def unlink(self, path: Path) -> None:
        path.unlink()

    def mkdir(self, path: Path, mode: int) -> None:
        path.mkdir(mode=mode, exist_ok=True)

    def rmdir(self, path: Path) -> None:
        path.rmdir()

    def flush_folder(self, folder: Path) -> None:
        """Make a rename, a new name or a removal in `folder` last."""
        if os.name == "nt":  # Windows cannot open a folder for flushing; its rename is journalled
            return
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


DISK = Disk()
