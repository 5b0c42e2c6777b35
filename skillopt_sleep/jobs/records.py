"""What is written down of plans and jobs."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, JsonValue

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.requests import RunRequest, TransferRequest
from skillopt_sleep.store import Found, JobFolder
from skillopt_sleep.views import Complaint, JobKind, PlanView, RunView, TransferPlanView, TransferRunView

PLAN, STATE, RESULT = "job.json", "state.json", "result.json"


class PlanRecord(Frozen):
    """A plan that was offered: all that is needed to begin exactly it."""

    schema_version: Literal[1] = 1
    id: str
    kind: JobKind
    project: str
    cwd: str
    home: str
    made_at: AwareDatetime
    expires_at: AwareDatetime
    asked: dict[str, JsonValue]
    """The request's fields that were really given."""
    view: PlanView | TransferPlanView
    found: Found | None
    """What there is to work on; None where a model is still to mine it."""
    files: dict[str, str | None]
    """SHA-256 of every file that is read as input."""
    skills: dict[str, str]
    """The skills it works on, and the file of each. Empty where a model is still to find them."""
    terms: str
    """Identifies settings and prices."""

    @property
    def request(self) -> RunRequest | TransferRequest:
        kind = TransferRequest if self.kind == "evaluate-transfer" else RunRequest
        return kind.model_validate(self.asked)

    @property
    def targets(self) -> frozenset[Path]:
        """The files that it works on."""
        return frozenset(Path(file).resolve() for file in self.skills.values())


class JobRecord(Frozen):
    """A job: the plan that it carries out."""

    schema_version: Literal[1] = 1
    plan: PlanRecord
    started_at: AwareDatetime


Written = Literal["running", "finished", "failed", "cancelled"]


class JobState(Frozen):
    """How far a job is. Written by its own process."""

    schema_version: Literal[1] = 1
    status: Written
    updated_at: AwareDatetime
    phase: str = ""
    phase_of: str | None = None
    attempts: int = 0
    calls: int = 0
    failed_calls: int = 0
    tokens: int = 0
    night: str | None = None
    expected_calls: int = 0
    most_calls: int = 0
    warnings: tuple[str, ...] = ()
    error: Complaint | None = None


class JobResult(Frozen):
    """What came of a job that finished."""

    schema_version: Literal[1] = 1
    at: AwareDatetime
    run: RunView | None = None
    transfer: TransferRunView | None = None


def record_of(job: JobFolder) -> JobRecord | None:
    return job.read(PLAN, JobRecord)


def is_live(job: JobFolder, now: datetime) -> bool:
    """Whether a process works on the job, or was started so recently that it has not said so yet."""
    if job.worker() is not None:
        return True
    record = record_of(job)
    return (
        record is not None
        and job.read(STATE, JobState) is None
        and not job.log_has_words
        and (now - record.started_at).total_seconds() < STARTS_WITHIN
    )


STARTS_WITHIN = 30.0
"""Seconds within which a process that was started has written its first state; later it counts as dead."""
