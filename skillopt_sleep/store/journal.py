"""One night's folder: everything is appended as it is produced, so a crash leaves a readable night.

manifest.json  workload.json  tasks.jsonl  trials.jsonl  results.jsonl  events.jsonl  report.{json,md,html}  proposals/

A night that was killed has no report. It goes on from what it wrote down: the same tasks, the skills that were settled
already, and the replies that lie in the cache. A trial that is replayed then stands in `trials.jsonl` a second time.
"""

from __future__ import annotations

import contextlib
import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import AwareDatetime, ValidationError

from skillopt_sleep import __version__
from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.errors import StateError
from skillopt_sleep.domain.reports import HarvestCounts, MineCounts, NightReport, SkillResult
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.store.atomic import append_line, write_atomic

if TYPE_CHECKING:
    from skillopt_sleep.domain.events import Event
    from skillopt_sleep.domain.ports import EventSink
    from skillopt_sleep.domain.trials import Trial


class Manifest(Frozen):
    """What a night's folder says of itself."""

    schema_version: Literal[1] = 1
    night: str
    project: str
    started_at: AwareDatetime
    engine: str
    asked: str = ""
    """Hash of everything that was asked for. Only the same request goes on with a killed night."""


class Found(Frozen):
    """What a night found to work on."""

    harvest: HarvestCounts
    mined: MineCounts
    tasks: tuple[Task, ...]


class NightJournal:
    """Writes one night down. Also an event sink, and as such it never raises: events that found no room are counted.

    Everything else raises `StateError` when it cannot be written: a trial that was paid for must not be lost unseen.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lost_events = 0

    @classmethod
    def create(cls, folder: Path, project: Path, now: datetime, asked: str = "") -> NightJournal:
        """Begin the journal of a new night in an existing, empty folder. `asked` identifies what was asked for."""
        manifest = Manifest(night=folder.name, project=str(project), started_at=now, engine=__version__, asked=asked)
        write_atomic(folder / "manifest.json", manifest.model_dump_json(indent=2).encode("utf-8"))
        return cls(folder)

    @property
    def id(self) -> str:
        return self.folder.name

    def __call__(self, event: Event, /) -> None:
        try:
            append_line(self.folder / "events.jsonl", event.model_dump_json())
        except StateError:
            self.lost_events += 1

    def found(self, found: Found) -> None:
        """Write down what there is to work on, all of it or nothing."""
        lines = "".join(task.model_dump_json() + "\n" for task in found.tasks)
        write_atomic(self.folder / "tasks.jsonl", lines.encode("utf-8"))
        counts = found.model_dump_json(include={"harvest", "mined"}, indent=2)
        write_atomic(self.folder / "workload.json", counts.encode("utf-8"))

    def found_before(self) -> Found | None:
        """What was written down; None where a crash came before, or the files cannot be read any more."""
        try:
            counts = json.loads((self.folder / "workload.json").read_bytes())
            lines = (self.folder / "tasks.jsonl").read_bytes().splitlines()
            return Found.model_validate({**counts, "tasks": [json.loads(line) for line in lines]})
        except (OSError, ValueError):  # pydantic's and json's errors are ValueErrors
            return None

    def result(self, result: SkillResult) -> None:
        """A skill is settled: a night that goes on need not work on it again."""
        append_line(self.folder / "results.jsonl", result.model_dump_json())

    def results(self) -> dict[str, SkillResult]:
        """Skills that were settled before an interruption, by name. A torn last line is a skill that was not."""
        try:
            lines = (self.folder / "results.jsonl").read_bytes().splitlines()
        except OSError:
            return {}
        found = {}
        for line in lines:
            with contextlib.suppress(ValidationError):
                settled = SkillResult.model_validate_json(line)
                found[settled.skill] = settled
        return found

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


def load_manifest(folder: Path) -> Manifest | None:
    """What a night's folder says of itself; None where that cannot be read."""
    try:
        return Manifest.model_validate_json((folder / "manifest.json").read_bytes())
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
