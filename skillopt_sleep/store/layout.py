"""Where things lie in the state folder.

config.toml  prices.toml  memory.sqlite3  gate.sqlite3  cache.sqlite3  spend.sqlite3
projects/<slug>-<hash8>/{ledger.jsonl, night.lock, nights/<UTC>-<id>/..., plans/<id>.json, jobs/<id>/...}
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from skillopt_sleep.domain.base import short_hash
from skillopt_sleep.domain.errors import UsageError
from skillopt_sleep.domain.health import Noise
from skillopt_sleep.domain.ports import EventSink
from skillopt_sleep.domain.reports import NightReport
from skillopt_sleep.domain.spending import Caps
from skillopt_sleep.store.atomic import private_folder, subfolders, write_atomic
from skillopt_sleep.store.disk import DISK, Disk
from skillopt_sleep.store.experiments import Experiments
from skillopt_sleep.store.gate_tests import KeptGateTests
from skillopt_sleep.store.jobs import JobFolders
from skillopt_sleep.store.journal import NightJournal, load_manifest, load_report
from skillopt_sleep.store.ledger import Ledger
from skillopt_sleep.store.lock import holder_of, night_lock, start_lock, swap_lock
from skillopt_sleep.store.memory import Memory
from skillopt_sleep.store.replies import ReplyCache
from skillopt_sleep.store.spend import SpendFile
from skillopt_sleep.store.transcripts import TranscriptIndex

RESUMED_WITHIN = timedelta(hours=24)
"""A night that was killed longer ago than this is not taken up again: there are new sessions to learn from."""


def default_home(environ: Mapping[str, str]) -> Path:
    """`SKILLOPT_SLEEP_HOME`, or the platform's folder for a user's application data.

    Raises `UsageError` for a `~` that nobody can resolve.
    """
    chosen = environ.get("SKILLOPT_SLEEP_HOME")
    if chosen:
        try:
            return Path(chosen).expanduser().absolute()
        except RuntimeError as error:
            raise UsageError(f"SKILLOPT_SLEEP_HOME is {chosen!r}, and there is no such home folder.") from error
    from platformdirs import user_data_path

    return user_data_path("skillopt-sleep", appauthor=False)


def project_root(cwd: Path) -> Path:
    """The root of the git checkout that holds `cwd`, else `cwd` itself; symbolic links resolved."""
    here = cwd.resolve()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


class StateHome:
    """The state folder: the same for terminal, plugin and schedule."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def config_path(self) -> Path:
        return self.path / "config.toml"

    def project(self, root: Path) -> ProjectFolder:
        """The folder of the project at `root` (see `project_root`)."""
        slug = re.sub(r"[^A-Za-z0-9]+", "-", root.name).strip("-").lower()[:40] or "project"
        key = os.path.normcase(root)  # on Windows, C:\Shop and c:\shop are one project
        return ProjectFolder(self.path / "projects" / f"{slug}-{short_hash(key)}", root)

    def all_jobs(self) -> Iterator[JobFolders]:
        """Plans and jobs of every project that has a folder here."""
        for folder in subfolders(self.path / "projects"):
            yield JobFolders(folder)

    @contextmanager
    def start_lock(self) -> Iterator[None]:
        """Hold the start of jobs, of every project: two projects can share a user's skill."""
        with start_lock(private_folder(self.path / "projects") / "jobs.lock"):
            yield

    def memory(self, project: Path) -> Memory:
        """What is remembered of a project across nights. Opened, and created, when it is first used."""
        return Memory(self.path / "memory.sqlite3", str(project))

    def spend(self, run: str, caps: Caps, clock: Callable[[], datetime]) -> SpendFile:
        """The account of what a run spends, against the caps of the day. Opened when it is first used."""
        return SpendFile(self.path / "spend.sqlite3", run, caps, clock)

    @property
    def prices_path(self) -> Path:
        """A person's own prices, where there are any."""
        return self.path / "prices.toml"

    def gate_tests(self, project: Path, *, simulated: bool) -> KeptGateTests:
        """The gate's tests of a project. Opened, and created, when the first is kept."""
        return KeptGateTests(self.path / "gate.sqlite3", str(project), simulated=simulated)

    def transcripts(self) -> TranscriptIndex:
        """What transcripts held, of all projects. Opened, and created, when it is first used."""
        return TranscriptIndex(self.path / "memory.sqlite3")

    def reply_cache(self, events: EventSink | None = None) -> ReplyCache:
        """The cache of replies, shared by all projects. Opened when it is first used; `events` hears of trouble."""
        return ReplyCache(self.path / "cache.sqlite3", events)


class ProjectFolder:
    """One project's nights, proposals and history."""

    def __init__(self, path: Path, root: Path, disk: Disk = DISK) -> None:
        self.path = path
        self.root = root
        self.disk = disk

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.path / "ledger.jsonl", self.disk)

    @property
    def jobs(self) -> JobFolders:
        """Plans that were offered and jobs that were started."""
        return JobFolders(self.path)

    @property
    def nights_path(self) -> Path:
        return self.path / "nights"

    def killed_night(self, now: datetime, asked: str) -> NightJournal | None:
        """The newest night, if it was killed not long ago and the same was asked of it. Call under the night's lock."""
        for folder in self.night_folders()[:1]:
            manifest = load_manifest(folder)
            if (
                manifest is not None
                and manifest.asked == asked != ""
                and now - manifest.started_at < RESUMED_WITHIN
                and not (folder / "report.json").exists()
            ):
                return NightJournal(folder)
        return None

    def new_night(self, now: datetime, asked: str = "") -> NightJournal:
        """Open the journal of a new night in a folder of its own. Names sort by time, within one second by number."""
        stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
        number = 0
        while (self.nights_path / (name := f"{stamp}-{number:x}{short_hash(str(self.root), 3)}")).exists():
            number += 1
        return NightJournal.create(private_folder(self.nights_path / name), self.root, now, asked)

    @property
    def experiments(self) -> Experiments:
        """Transfer experiments."""
        return Experiments(self.path / "transfers", self.root, RESUMED_WITHIN)

    def night_folders(self) -> tuple[Path, ...]:
        """Folders of all nights, newest first."""
        return tuple(reversed(subfolders(self.nights_path)))

    def nights(self, *, limit: int) -> tuple[tuple[NightReport, ...], int]:
        """The last nights, newest first, and how many of their folders hold no readable report."""
        found = [load_report(folder) for folder in self.night_folders()[:limit]]
        return tuple(report for report in found if report), sum(1 for report in found if report is None)

    @contextmanager
    def night_lock(self, now: datetime) -> Iterator[None]:
        """Hold the project for one night. Raises `ConflictError`, naming the holder, while another one runs."""
        with night_lock(private_folder(self.path) / "night.lock", now):
            yield

    @contextmanager
    def swap_lock(self, *, patience: float = 10.0) -> Iterator[None]:
        """Hold all live files, of every project: a user's skill can be changed from any of them."""
        with swap_lock(private_folder(self.path.parent) / "swap.lock", patience=patience):
            yield

    def keep_noise(self, agent: str, noise: Noise) -> None:
        """Remember how noisy an agent is, in place of what was known of it."""
        known = self._noise()
        known[agent] = noise.model_dump(mode="json")
        write_atomic(private_folder(self.path) / "noise.json", json.dumps(known, indent=1).encode("utf-8"))

    def noise(self, agent: str) -> Noise | None:
        """How noisy an agent was found to be; None where that was never measured, or cannot be read."""
        try:
            return Noise.model_validate(self._noise()[agent])
        except (KeyError, ValidationError):
            return None

    def _noise(self) -> dict[str, Any]:
        try:
            known = json.loads((self.path / "noise.json").read_bytes())
        except (OSError, ValueError):  # it is only a hint, and measured again with one command
            return {}
        return known if isinstance(known, dict) else {}

    def night_holder(self) -> str | None:
        """Who holds the project for a night just now, in words."""
        return holder_of(self.path / "night.lock")
