"""Claude Code's transcripts as a source of sessions.

Layout, as the client (2.1) writes it below its configuration folder:

    projects/<slug of the working folder>/<session>.jsonl                   one conversation; a resumed one is appended
    projects/<slug>/<session>/subagents/agent-<id>.jsonl                    what its sub-agents did
"""

from __future__ import annotations

import json

from skillopt_sleep.harvest.claude_rows import READER_VERSION, ClaudeRows, cannot_matter
from skillopt_sleep.harvest.files import FileSource, FoundFile, look_at
from skillopt_sleep.harvest.reading import Dialect

_DELETED_AFTER_DAYS = 30.0
"""The client's default of its setting `cleanupPeriodDays`."""


class ClaudeCodeSource(FileSource):
    """Sessions of Claude Code under its configuration folder `root`."""

    name = "claude-code"

    def dialect(self, redactor_version: str) -> Dialect:
        return Dialect(self.name, ClaudeRows, cannot_matter, f"{READER_VERSION}/{redactor_version}")

    def deleted_after_days(self) -> float:
        try:
            settings = json.loads((self.root / "settings.json").read_bytes())
        except (OSError, ValueError):
            return _DELETED_AFTER_DAYS
        days = settings.get("cleanupPeriodDays") if isinstance(settings, dict) else None
        return days if isinstance(days, int | float) and days > 0 else _DELETED_AFTER_DAYS

    def files(self) -> list[FoundFile]:
        """Every transcript there is, the last written first."""
        found: list[FoundFile] = []
        for folder in self.scan(str(self.root / "projects")):
            for entry in self.scan(folder.path):
                if entry.name.endswith(".jsonl"):
                    found.append(look_at(entry))
                elif entry.is_dir():
                    subagents = (e for e in self.scan(f"{entry.path}/subagents") if e.name.endswith(".jsonl"))
                    found += [FoundFile(e.path, refused="subagent") for e in subagents]
        return sorted(found, key=lambda file: (file.mtime_ns, file.path), reverse=True)
