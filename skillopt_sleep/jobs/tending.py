"""Start, look at and stop jobs. Whoever asks need not be who started them: everything is read from files."""

from __future__ import annotations

import os
import secrets
import signal
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from skillopt_sleep import app, wiring
from skillopt_sleep.domain.errors import ConflictError, StateError, UnknownName, UsageError
from skillopt_sleep.jobs.records import (
    PLAN,
    RESULT,
    STATE,
    JobRecord,
    JobResult,
    JobState,
    PlanRecord,
    is_live,
    record_of,
)
from skillopt_sleep.process import detach
from skillopt_sleep.requests import JobRequest, StatusRequest
from skillopt_sleep.store import JobFolder, StateHome, live_sha256, load_report, project_root
from skillopt_sleep.views import JobKind, JobResultView, JobStatus, JobsView, JobView, RunView, TransferPlanView
from skillopt_sleep.wiring import Environment, Places

STOPS_WITHIN = 1.5
"""Seconds that a job has to abort its calls and write its report, before its process is killed."""
_SHOWN = 10
"""Jobs in an overview."""
_LIVE = ("starting", "running")


def start(plan_id: str, environment: Environment, kind: JobKind, *, skills: tuple[str, ...] = ()) -> JobView:
    """Begin exactly the plan that was offered. Returns at once; the work goes on in a process of its own.

    `skills` are those that whoever asks believes the plan to be for; none: whichever it is for.

    Raises `UnknownName` for a plan nobody knows, and `ConflictError` for one that was begun already, has expired, rests
    on something that has changed since, or works on a skill that another job is working on.
    """
    home, root = wiring.state_home(environment), project_root(environment.cwd)
    folders = home.project(root).jobs
    with home.start_lock():
        _not_begun_yet(plan_id, folders.all())
        plan = folders.plan(plan_id, PlanRecord)
        if plan is None:
            raise UnknownName(
                "plan", plan_id, (), hint="Ask without plan_id for a new one; plans are good for an hour."
            )
        if plan.kind != kind:
            raise UsageError(f"{plan_id} is a plan of {plan.kind}, and not of {kind}.", hint=f"Give it to {plan.kind}.")
        if skills and set(skills) != set(_skills(plan)):
            raise UsageError(f"{plan_id} is a plan for {', '.join(_skills(plan))}.", hint="Ask for another plan.")
        _still_as_planned(plan, environment)
        _nobody_else_at_work(plan, home, environment.clock())
        now = environment.clock()
        job = folders.new(f"job-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}")
        job.write(PLAN, JobRecord(plan=plan, started_at=now))
        command = (sys.executable, "-P", "-m", "skillopt_sleep.jobs", str(job.path))
        try:
            detach(command, environ={**os.environ, **environment.environ}, cwd=Path(plan.cwd), log=job.log)
        except OSError as error:
            raise StateError(f"The job's process cannot be started: {error}.", hint="Nothing was spent.") from error
        folders.drop_plan(plan_id)
    return _view(job, environment)


def look(request: JobRequest, environment: Environment) -> JobView:
    """How far a job of this project is. Raises `UnknownName`, and `UsageError` for a job of another project."""
    return _view(_found(request, environment), environment)


def overview(request: StatusRequest, environment: Environment) -> JobsView:
    """The last jobs of this project, and what waits for review."""
    home = wiring.state_home(environment)
    folders = home.project(project_root(environment.cwd)).jobs
    jobs = tuple(_view(job, environment) for job in folders.all()[:_SHOWN] if record_of(job))
    state = app.status(request, environment)
    live = sum(1 for job in jobs if job.status in _LIVE)
    at_work = "" if not live else "One job is at work. " if live == 1 else f"{live} jobs are at work. "
    return JobsView(summary=at_work + state.summary, jobs=jobs, state=state)


def result(request: JobRequest, environment: Environment) -> JobResultView:
    """What came of a job. Raises `ConflictError` while it is still at work."""
    home = wiring.state_home(environment)
    job = _found(request, environment)
    view = _view(job, environment)
    if view.status in _LIVE:
        raise ConflictError(f"{job.id} is still at work: {view.summary}", hint="Ask again later, or cancel it.")
    kept = job.read(RESULT, JobResult)
    if kept and kept.transfer:
        return JobResultView(summary=kept.transfer.summary, job=view, transfer=kept.transfer)
    run = kept.run if kept else _night_of(view, home, environment)
    return JobResultView(summary=run.summary if run else view.summary, job=view, run=run)


def cancel(request: JobRequest, environment: Environment) -> JobView:
    """Stop a job within two seconds by aborting its calls. What it had done is kept. One that has ended stays so."""
    job = _found(request, environment)
    if not is_live(job, environment.clock()):
        view = _view(job, environment)
        return view.model_copy(update={"summary": f"There was nothing to stop. {view.summary}"})
    job.ask_to_stop()
    end = time.monotonic() + STOPS_WITHIN
    while is_live(job, environment.clock()) and time.monotonic() < end:
        time.sleep(0.05)
    if worker := job.worker():
        _kill(worker)
        while job.worker() is not None and time.monotonic() < end + 0.5:
            time.sleep(0.02)
    return _view(job, environment)


# --- what must hold before a start ------------------------------------------------------------------------------------


def _not_begun_yet(plan_id: str, jobs: tuple[JobFolder, ...]) -> None:
    for job in jobs:
        record = record_of(job)
        if record is not None and record.plan.id == plan_id:
            raise ConflictError(
                f"{plan_id} was begun already, as {job.id}.",
                hint="A plan is good for one job: look at that one, or ask for a new plan.",
            )


def _still_as_planned(plan: PlanRecord, environment: Environment) -> None:
    if environment.clock() >= plan.expires_at:
        raise _stale(plan, f"has expired ({plan.expires_at:%H:%M} UTC)")
    if app.terms(plan.request, environment) != plan.terms:
        raise _stale(plan, "rests on settings or prices that have changed")
    for file, expected in plan.files.items():
        if live_sha256(Path(file)) != expected:
            raise _stale(plan, f"rests on {file}, which has changed")


def _stale(plan: PlanRecord, why: str) -> ConflictError:
    return ConflictError(f"{plan.id} {why}.", hint="Nothing was begun. Ask without plan_id for a new plan.")


def _nobody_else_at_work(plan: PlanRecord, home: StateHome, now: datetime) -> None:
    """One job a skill, whichever project it was started in; and one night a project."""
    for folders in home.all_jobs():
        for job in folders.all()[:_SHOWN]:
            record = record_of(job)
            if record is None or not is_live(job, now):
                continue
            if record.plan.targets & plan.targets or record.plan.project == plan.project:
                raise ConflictError(
                    f"{job.id} is at work on {', '.join(_skills(record.plan)) or record.plan.project} already.",
                    hint="Wait for it, or cancel it. Nothing was begun, and this plan stays good until it expires.",
                )
    holder = home.project(Path(plan.project)).night_holder()
    if holder:
        raise ConflictError(f"A night of this project is running ({holder}).", hint="Wait for it.")


# --- looking ----------------------------------------------------------------------------------------------------------


def _found(request: JobRequest, environment: Environment) -> JobFolder:
    home, root = wiring.state_home(environment), project_root(environment.cwd)
    folders = home.project(root).jobs
    job = folders.find(request.job)
    if job is not None and record_of(job) is not None:
        return job
    for others in home.all_jobs():
        stray = others.find(request.job)
        if stray is not None and (record := record_of(stray)):
            raise UsageError(
                f"{request.job} is a job of another project, {record.plan.project}.", hint="Ask from a session there."
            )
    raise UnknownName("job in this project", request.job, (job.id for job in folders.all()))


def _view(job: JobFolder, environment: Environment) -> JobView:
    record = record_of(job)
    if record is None:
        raise StateError(f"{job.path} holds no readable record of its job.", hint="Move that folder away.")
    live = is_live(job, environment.clock())
    state = job.read(STATE, JobState)  # after looking who is there: whoever left had written its last state before
    status: JobStatus = ("starting" if live else "died") if state is None else state.status
    if status == "running" and not live:
        status = "died"
    state = state or JobState(status="running", updated_at=record.started_at)
    plan = record.plan
    return JobView(
        summary=_in_words(status, state, job),
        id=job.id,
        kind=plan.kind,
        status=status,
        skills=_skills(plan),
        plan_id=plan.id,
        started_at=record.started_at,
        updated_at=state.updated_at,
        phase=state.phase,
        phase_of=state.phase_of,
        attempts=state.attempts,
        calls=state.calls,
        failed_calls=state.failed_calls,
        expected_calls=state.expected_calls or plan.view.expected_calls,
        most_calls=state.most_calls or plan.view.most_calls,
        tokens=state.tokens,
        usd=_spent(plan, state, environment),
        night=state.night,
        warnings=state.warnings,
        error=state.error,
    )


def _spent(plan: PlanRecord, state: JobState, environment: Environment) -> float | None:
    """Money so far, from the account of spending: it is right even where the process was killed."""
    if plan.view.costs == "nothing":
        return 0.0
    if plan.view.costs == "unknown" or state.night is None:
        return None if state.night else 0.0
    settings = app.settings_for(plan.request, environment).settings
    where = wiring.places(environment, settings)
    account = wiring.spend_file(environment, where, settings, _account(plan, state.night))
    try:
        return sum((row.usd or 0.0) + row.unsettled_usd for row in account.spent())
    finally:
        account.close()


def _account(plan: PlanRecord, night: str) -> str:
    """The name under which the job's costly calls are booked."""
    if isinstance(plan.view, TransferPlanView):
        from skillopt_sleep.transfers import account_of

        return account_of(night)
    return night


def _skills(plan: PlanRecord) -> tuple[str, ...]:
    """The skills it works on; where a model is still to find them, those that were asked for."""
    return tuple(plan.skills) or plan.request.skills


def _in_words(status: JobStatus, state: JobState, job: JobFolder) -> str:
    calls = f"{state.calls} of about {state.expected_calls} calls" if state.expected_calls else f"{state.calls} calls"
    match status:
        case "starting":
            return f"{job.id} is starting."
        case "running":
            phase = f"{state.phase or 'at work'}{f' of {state.phase_of}' if state.phase_of else ''}"
            return f"{job.id} is at work ({phase}): {calls}, {state.tokens:,} tokens."
        case "finished":
            return f"{job.id} has finished after {state.calls} calls."
        case "failed":
            return f"{job.id} has failed: {state.error.message if state.error else 'it did not say why.'}"
        case "cancelled":
            return f"{job.id} was cancelled after {state.calls} calls. What was judged until then is kept."
        case "died":
            why = f" It left a note in {job.log}." if job.log_has_words else ""
            return f"{job.id} ended without a word after {state.calls} calls.{why} Asked for again, its night goes on."


def _night_of(view: JobView, home: StateHome, environment: Environment) -> RunView | None:
    """The report of a job that was stopped: the night has written one all the same."""
    if view.night is None:
        return None
    where = Places(state=home, project=home.project(project_root(environment.cwd)), claude=environment.home)
    folder = where.project.nights_path / view.night
    report = load_report(folder)
    if report is None:
        return None
    return RunView(
        summary=app.night_summary(report),
        report=report,
        report_path=str(folder / "report.html"),
        proposals=tuple(result.proposal_id for result in report.skills if result.proposal_id),
    )


def _kill(worker: int) -> None:
    """End a process that does not listen. Its children notice that their pipes are closed."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(worker, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
