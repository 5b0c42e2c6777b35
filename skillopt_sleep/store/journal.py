"""One night's folder: everything is appended as it is produced, so a crash leaves a readable night.

manifest.json  tasks.jsonl  trials.jsonl  events.jsonl  report.{json,md,html}  proposals/<skill>/...
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from skillopt_sleep import __version__
from skillopt_sleep.domain.errors import StateError
from skillopt_sleep.domain.reports import NightReport
from skillopt_sleep.store.atomic import append_line, write_atomic

if TYPE_CHECKING:
    from skillopt_sleep.domain.events import Event
    from skillopt_sleep.domain.ports import EventSink
    from skillopt_sleep.domain.tasks import Task
    from skillopt_sleep.domain.trials import Trial


class NightJournal:
    """Writes one night down. Also an event sink, and as such it never raises: events that found no room are counted.

    Everything else raises `StateError` when it cannot be written: a trial that was paid for must not be lost unseen.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lost_events = 0

    @classmethod
    def create(cls, folder: Path, project: Path, now: datetime) -> NightJournal:
        """Begin the journal of a new night in an existing, empty folder."""
        manifest = {
            "schema_version": 1,
            "night": folder.name,
            "project": str(project),
            "started_at": now.isoformat(),
            "engine": __version__,
        }
        write_atomic(folder / "manifest.json", json.dumps(manifest, indent=2).encode("utf-8"))
        return cls(folder)

    @property
    def id(self) -> str:
        return self.folder.name

    def __call__(self, event: Event, /) -> None:
        try:
            append_line(self.folder / "events.jsonl", event.model_dump_json())
        except StateError:
            self.lost_events += 1

    def tasks(self, tasks: Iterable[Task]) -> None:
        lines = "".join(task.model_dump_json() + "\n" for task in tasks)
        write_atomic(self.folder / "tasks.jsonl", lines.encode("utf-8"))

    def trial(self, trial: Trial) -> None:
        append_line(self.folder / "trials.jsonl", trial.model_dump_json())

    def finish(self, report: NightReport) -> None:
        """Write the report's data; its renderings follow with `write`."""
        self.write("report.json", report.model_dump_json(indent=2))

    def write(self, name: str, text: str) -> Path:
        """Write a file of the night; returns its path."""
        write_atomic(self.folder / name, text.encode("utf-8"))
        return self.folder / name


def load_report(folder: Path) -> NightReport | None:
    """The report of a night; None where there is none that can be read (interrupted early, or damaged)."""
    try:
        return NightReport.model_validate_json((folder / "report.json").read_bytes())
    except (OSError, ValidationError):
        return None


class Relay:
    """Hands events on. Keeps what came before the night's journal was opened, so that the journal misses nothing."""

    def __init__(self, watcher: EventSink) -> None:
        self._watcher = watcher
        self._journal: EventSink | None = None
        self._early: list[Event] = []

    def __call__(self, event: Event, /) -> None:
        if self._journal is None:
            self._early.append(event)
        else:
            self._journal(event)
        self._watcher(event)

    def attach(self, journal: EventSink) -> None:
        self._journal = journal
        for event in self._early:
            journal(event)
        self._early.clear()
