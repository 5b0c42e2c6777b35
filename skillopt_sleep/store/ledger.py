"""A project's append-only history: one JSON object a line."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from skillopt_sleep.domain.reports import LedgerEntry
from skillopt_sleep.store.atomic import DISK, Disk, append_line, private_folder


class Ledger:
    """What happened to proposals, in order. Entries are on the disk when `append` returns."""

    def __init__(self, path: Path, disk: Disk = DISK) -> None:
        self._path = path
        self._disk = disk

    def append(self, entry: LedgerEntry) -> None:
        private_folder(self._path.parent)
        torn = self._path.exists() and not self._path.read_bytes().endswith(b"\n") and self._path.stat().st_size > 0
        # after a crash the last line may be half a line: a new entry must not be glued to it
        append_line(self._path, ("\n" if torn else "") + entry.model_dump_json(), flush=True, disk=self._disk)

    def entries(self) -> tuple[LedgerEntry, ...]:
        """All readable entries, oldest first. A torn line is an entry that never happened."""
        try:
            lines = self._path.read_bytes().splitlines()
        except (FileNotFoundError, NotADirectoryError):
            return ()
        found: list[LedgerEntry] = []
        for line in lines:
            try:
                found.append(LedgerEntry.model_validate_json(line))
            except ValidationError:
                continue
        return tuple(found)
