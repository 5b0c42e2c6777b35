"""Codex's rollouts as a source of sessions.

Layout, as the client (0.171) writes it below its home folder:

    sessions/YYYY/MM/DD/rollout-<time>-<session>.jsonl      one conversation; a resumed one is appended
    archived_sessions/rollout-<time>-<session>.jsonl        put away by the person
"""

from __future__ import annotations

from skillopt_sleep.harvest.codex_rows import READER_VERSION, CodexRows, cannot_matter
from skillopt_sleep.harvest.files import FileSource, FoundFile, look_at
from skillopt_sleep.harvest.reading import Dialect

_DEPTH = 3
"""Folders for the year, the month and the day."""


class CodexSource(FileSource):
    """Sessions of Codex under its home folder `root`. The client never deletes them."""

    name = "codex"

    def dialect(self, redactor_version: str) -> Dialect:
        return Dialect(self.name, CodexRows, cannot_matter, f"{READER_VERSION}/{redactor_version}")

    def files(self) -> list[FoundFile]:
        """Every rollout there is, the last written first."""
        found = [
            *self._below(str(self.root / "sessions"), _DEPTH),
            *self._below(str(self.root / "archived_sessions"), 0),
        ]
        return sorted(found, key=lambda file: (file.mtime_ns, file.path), reverse=True)

    def _below(self, folder: str, depth: int) -> list[FoundFile]:
        found: list[FoundFile] = []
        for entry in self.scan(folder):
            if entry.name.startswith("rollout-") and entry.name.endswith(".jsonl"):
                found.append(look_at(entry))
            elif depth and entry.is_dir():
                found += self._below(entry.path, depth - 1)
        return found
