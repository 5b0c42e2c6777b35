"""The folders of transfer experiments: transfers/<UTC>-<n>/{manifest.json, workload.json, tasks.jsonl, report.*}.

What an experiment works on is written down before the first call. One that was killed, or could not be completed, goes
on in its folder with the very same tasks, under the same name in the account of what was spent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from skillopt_sleep.store.atomic import private_folder, subfolders
from skillopt_sleep.store.journal import NightJournal, load_manifest
from skillopt_sleep.store.lock import experiment_lock


class Experiments:
    """All transfer experiments of one project."""

    def __init__(self, path: Path, root: Path, within: timedelta) -> None:
        self.path = path
        self._root = root
        self._within = within

    def unfinished(self, now: datetime, asked: str) -> NightJournal | None:
        """The newest one that asked for the same, not long ago, and has no complete report. Creates nothing."""
        for folder in reversed(subfolders(self.path)):
            manifest = load_manifest(folder)
            if manifest is not None and manifest.asked == asked:
                recent = now - manifest.started_at < self._within
                return NightJournal(folder) if recent and not _complete(folder / "report.json") else None
        return None

    def begin(self, now: datetime, asked: str) -> NightJournal:
        """Open a folder of its own for a new one. Names sort by time, within one second by number."""
        stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
        number = 0
        while (self.path / (name := f"{stamp}-{number:02}")).exists():
            number += 1
        return NightJournal.create(private_folder(self.path / name), self._root, now, asked)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the project for one experiment. Raises `ConflictError` while another one runs."""
        with experiment_lock(private_folder(self.path) / "experiment.lock"):
            yield


def _complete(report: Path) -> bool:
    """Whether a report holds all figures; one that cannot be read does not."""
    try:
        found = json.loads(report.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("partial") is None
