"""A desk whose nights run as jobs: the environment carries what a detached process needs to find the tests."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from skillopt_sleep import jobs
from skillopt_sleep.requests import JobRequest, RunRequest, StatusRequest
from skillopt_sleep.views import JobView, OfferView
from skillopt_sleep.wiring import Environment
from tests.engine.desk import Desk, rows

MORTAL, ASLEEP = "tests.engine.desk:mortal", "tests.engine.desk:asleep"
PATIENCE = 40.0


class Office(Desk):
    """Offers and jobs of one project; `model` is set as a person would set it, outside of the project."""

    model = MORTAL

    @property
    def environment(self) -> Environment:
        plain = super().environment
        more = {"PYTHONPATH": str(Path(__file__).parents[2]), "SKILLOPT_SLEEP_TARGET_MODEL": self.model}
        return replace(plain, environ={**plain.environ, **more})

    def offer(self, **more: Any) -> OfferView:
        request = RunRequest(**{"tasks": self.tasks(rows()), "skills": ("briefs",), **more})
        return jobs.offer(request, self.environment, "optimize-skill")

    def start(self, **more: Any) -> JobView:
        return jobs.start(self.offer(**more).plan_id, self.environment, "optimize-skill")

    def end_all(self) -> None:
        """Leave no process behind, whatever a test did."""
        for job in jobs.overview(StatusRequest(), self.environment).jobs:
            if job.status in ("starting", "running"):
                jobs.cancel(JobRequest(job=job.id), self.environment)

    def look(self, job: JobView) -> JobView:
        return jobs.look(JobRequest(job=job.id), self.environment)

    def wait(self, job: JobView, *statuses: str) -> JobView:
        """The job as soon as it has one of these statuses."""
        end = time.monotonic() + PATIENCE
        while (seen := self.look(job)).status not in statuses:
            assert time.monotonic() < end, f"still {seen}"
            assert seen.status in ("starting", "running"), seen
            time.sleep(0.05)
        return seen

    def wait_for_a_call(self, job: JobView) -> JobView:
        """The job as soon as a call of it is under way (with a model that never answers)."""
        end = time.monotonic() + PATIENCE
        while not list(self.root.glob("state/projects/*/nights/*/asleep")):
            assert time.monotonic() < end, self.look(job)
            time.sleep(0.05)
        return self.look(job)
