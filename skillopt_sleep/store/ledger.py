"""A project's append-only history: one JSON object a line."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from skillopt_sleep.domain.errors import StateError
from skillopt_sleep.domain.reports import LedgerEntry
from skillopt_sleep.store.atomic import append_line, private_folder
from skillopt_sleep.store.disk import DISK, Disk


class Ledger:
    """What happened to nights and proposals, in order. Entries are on the disk when `append` returns."""

    def __init__(self, path: Path, disk: Disk = DISK) -> None:
        self._path = path
        self._disk = disk

    def append(self, entry: LedgerEntry) -> None:
        """Add an entry. Raises `StateError` where it cannot be written; it then did not happen."""
        private_folder(self._path.parent)
        append_line(self._path, entry.model_dump_json(), flush=True, disk=self._disk)

    def entries(self) -> tuple[LedgerEntry, ...]:
        """All readable entries, oldest first. A torn line is an entry that never happened."""
        return self.read()[0]

    def read(self) -> tuple[tuple[LedgerEntry, ...], int]:
        """All readable entries, oldest first, and how many lines could not be read."""
        found: list[LedgerEntry] = []
        damaged = 0
        for line in self._lines():
            try:
                found.append(LedgerEntry.model_validate_json(line))
            except ValidationError:
                damaged += 1
        return tuple(found), damaged

    def _lines(self) -> list[bytes]:
        try:
            data = self._path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise StateError(f"{self._path} cannot be read: {error.strerror or error}.") from error
        return [line for line in data.split(b"\n") if line.strip()]
