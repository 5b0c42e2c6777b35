"""The process that works on one job: `python -m skillopt_sleep.jobs FOLDER`."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from skillopt_sleep import app
from skillopt_sleep.domain.errors import ConflictError, SleepError
from skillopt_sleep.domain.events import CallFinished, Event, NightBegan, PhaseStarted, TrialFinished, Warned
from skillopt_sleep.jobs.records import RESULT, STATE, JobResult, JobState, PlanRecord, Written, record_of
from skillopt_sleep.requests import TransferRequest
from skillopt_sleep.store import JobFolder
from skillopt_sleep.views import Complaint, PlanView, TransferPlanView
from skillopt_sleep.wiring import Environment

_EVERY = 0.5
"""Seconds between two states on disk."""
_LISTENS_EVERY = 0.1
_WARNINGS = 5


@dataclass
class Watch:
    """An event sink that writes down how far the job is, not more often than a reader could want."""

    job: JobFolder
    clock: Callable[[], datetime]
    state: JobState
    _written: float = field(default=float("-inf"))

    def __call__(self, event: Event, /) -> None:
        now = self.state
        match event:
            case PhaseStarted():
                self._change(now, phase=event.phase, phase_of=event.skill)
            case TrialFinished():
                self._change(now, attempts=now.attempts + 1)
            case CallFinished(outcome="cached"):
                return
            case CallFinished():
                failed = now.failed_calls + (event.outcome == "failed")
                self._change(now, calls=now.calls + 1, failed_calls=failed, tokens=now.tokens + event.tokens)
            case NightBegan():
                self._change(now, night=event.night, expected_calls=event.expected_calls, most_calls=event.most_calls)
            case Warned():
                self._change(now, warnings=(*now.warnings, event.message)[-_WARNINGS:])
            case _:
                return

    def end(self, status: Written, error: Complaint | None = None) -> None:
        """The last state."""
        self.state = self.state.model_copy(update={"status": status, "error": error})
        self._write()

    def _change(self, now: JobState, **changes: object) -> None:
        self.state = now.model_copy(update=changes)
        if "night" in changes or time.monotonic() - self._written >= _EVERY:
            self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        self.state = self.state.model_copy(update={"updated_at": self.clock()})
        self.job.write(STATE, self.state)


def work(folder: Path) -> int:
    """Carry out the job in a folder; returns the exit code. What is no `SleepError` is a bug, and goes to the log."""
    job = JobFolder(folder)
    record = record_of(job)
    if record is None:
        sys.stderr.write(f"{folder} holds no job.\n")
        return 1
    plan = record.plan
    environment = Environment(environ=os.environ, cwd=Path(plan.cwd), home=Path(plan.home))
    with job.held():
        watch = Watch(job, environment.clock, JobState(status="running", updated_at=environment.clock()))
        watch.end("running")
        _listen(job)
        try:
            result = _carry_out(plan, environment, watch)
        except KeyboardInterrupt:
            watch.end("cancelled")
            return 130
        except SleepError as error:
            watch.end("failed", Complaint(code=error.code, message=error.message, hint=error.hint))
            return error.exit_code
        job.write(RESULT, result)
        watch.end("finished")
    return 0


def _carry_out(plan: PlanRecord, environment: Environment, watch: Watch) -> JobResult:
    request, agreed = plan.request, _within(plan)
    if isinstance(request, TransferRequest):
        transfer = app.transfer(request, environment, watch, confirm=agreed, found=plan.found)
        return JobResult(at=environment.clock(), transfer=transfer)
    run = app.run(request, environment, watch, confirm=agreed, found=plan.found)
    return JobResult(at=environment.clock(), run=run)


def _within(plan: PlanRecord) -> Callable[[PlanView | TransferPlanView], bool]:
    """Says yes to what costs no more than the plan that somebody agreed to."""

    def confirm(now: PlanView | TransferPlanView) -> bool:
        agreed = plan.view
        dearer = now.most_usd is not None and (agreed.most_usd is None or now.most_usd > agreed.most_usd + 1e-9)
        if dearer or now.most_calls > agreed.most_calls or now.most_tokens > agreed.most_tokens:
            raise ConflictError(
                f"It would now take more than was agreed to: {now.summary}",
                hint="Nothing was spent. Ask for a new plan.",
            )
        return True

    return confirm


def _listen(job: JobFolder) -> None:
    """Turns word that the job is to be stopped into an interruption of the night, as Ctrl-C would be."""
    main = threading.main_thread().ident

    def wait() -> None:
        while not job.asked_to_stop:
            time.sleep(_LISTENS_EVERY)
        if sys.platform == "win32" or main is None:
            signal.raise_signal(signal.SIGINT)
        else:
            signal.pthread_kill(main, signal.SIGINT)  # to the main thread, so that its waiting ends at once

    threading.Thread(target=wait, daemon=True).start()


def main() -> int:
    """Work on the job that the command line names."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what is in the background without it
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    return work(Path(sys.argv[1]))


if __name__ == "__main__":
    sys.exit(main())
