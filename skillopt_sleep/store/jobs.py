"""Plans that were offered and jobs that were started, as files of a project.

plans/<plan>.json  jobs/<job>/{job.json, state.json, result.json, work.lock, stop, log.txt}

What stands in the files is the business of `skillopt_sleep.jobs`; here are only their places, and that each is written
whole or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from skillopt_sleep.store.atomic import private_folder, subfolders, write_atomic
from skillopt_sleep.store.lock import holder_of, job_lock

M = TypeVar("M", bound=BaseModel)
_ID = re.compile(r"[A-Za-z0-9-]{1,80}")


class JobFolder:
    """One job."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def log(self) -> Path:
        """What the job's process prints: nothing, unless it crashes."""
        return self.path / "log.txt"

    @property
    def log_has_words(self) -> bool:
        """Whether its process has complained."""
        try:
            return self.log.stat().st_size > 0
        except FileNotFoundError:
            return False

    def write(self, name: str, record: BaseModel) -> None:
        """Put a record in place of what `name` held. Raises `StateError`."""
        write_atomic(self.path / name, record.model_dump_json(indent=1).encode("utf-8", "surrogatepass"))

    def read(self, name: str, kind: type[M]) -> M | None:
        """A record; None where there is none that can be read."""
        return _read(self.path / name, kind)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Be the process that works on the job. Raises `ConflictError` where there is one."""
        with job_lock(self.path / "work.lock"):
            yield

    def worker(self) -> int | None:
        """The id of the process that works on the job; None where none does, 0 where it has not said yet."""
        holder = holder_of(self.path / "work.lock")
        if holder is None:
            return None
        return int(holder) if holder.isdecimal() else 0

    def ask_to_stop(self) -> None:
        """Leave word that the job is to be stopped."""
        write_atomic(self.path / "stop", b"")

    @property
    def asked_to_stop(self) -> bool:
        return (self.path / "stop").exists()


class JobFolders:
    """The plans and jobs of one project. Looking creates nothing."""

    def __init__(self, project: Path) -> None:
        self._project = project

    def keep_plan(self, plan: str, record: BaseModel) -> None:
        """Keep a plan until it is started or has expired. Raises `StateError`."""
        folder = private_folder(self._project / "plans")
        write_atomic(folder / f"{plan}.json", record.model_dump_json().encode("utf-8", "surrogatepass"))

    def plan(self, plan: str, kind: type[M]) -> M | None:
        """A kept plan; None where there is none that can be read."""
        return _read(self._project / "plans" / f"{plan}.json", kind) if _ID.fullmatch(plan) else None

    def drop_plan(self, plan: str) -> None:
        (self._project / "plans" / f"{plan}.json").unlink(missing_ok=True)

    def drop_plans_before(self, moment: datetime) -> None:
        """Forget plans that were kept before `moment`."""
        for file in self._project.glob("plans/*.json"):
            try:
                if file.stat().st_mtime < moment.timestamp():
                    file.unlink()
            except FileNotFoundError:  # another process forgot it in the same moment
                continue

    def new(self, job: str) -> JobFolder:
        """The folder of a new job."""
        return JobFolder(private_folder(self._project / "jobs" / job))

    def find(self, job: str) -> JobFolder | None:
        """A job by its id."""
        path = self._project / "jobs" / job
        return JobFolder(path) if _ID.fullmatch(job) and path.is_dir() else None

    def all(self) -> tuple[JobFolder, ...]:
        """All jobs, newest first."""
        return tuple(JobFolder(path) for path in reversed(subfolders(self._project / "jobs")))


def _read(path: Path, kind: type[M]) -> M | None:
    try:
        return kind.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
