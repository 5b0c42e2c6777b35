"""The commands. Each is a few lines: build the request, call the use-case, print its view."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from skillopt_sleep.commandline import Flags, Json, new_app
from skillopt_sleep.requests import (
    AdoptOptions,
    AdoptRequest,
    DoctorRequest,
    HarvestRequest,
    JobRequest,
    ProposalRequest,
    RunRequest,
    SkillsRequest,
    StatusRequest,
    TransferRequest,
)
from skillopt_sleep.settings import PlaceOptions

if TYPE_CHECKING:
    from skillopt_sleep.wiring import Environment

Proposal = Annotated[str, Parameter(help="Id of the proposal, its beginning, or the name of its skill.")]

Job = Annotated[str, Parameter(help="Id of the job.")]

HELP = """Improve an agent's skills overnight, from its own past sessions. Nothing live changes until you adopt it.

Start with `skillopt-sleep demo`, then `skillopt-sleep run --dry-run`.
"""


def build() -> App:
    """The application with all its commands."""
    app = new_app("skillopt-sleep", HELP)
    app.command(run)
    app.command(dry_run, name="dry-run")
    app.command(status)
    app.command(show)
    app.command(adopt)
    app.command(undo)
    app.command(dismiss)
    app.command(transfer)
    app.command(harvest)
    app.command(skills)
    app.command(doctor)
    app.command(demo)
    app.command(mcp)
    app.command(jobs_app())
    config = App(name="config", help="Settings and where each value comes from.")
    config.command(config_show, name="show")
    app.command(config)
    return app


def run(*, request: Annotated[RunRequest | None, Flags] = None, json: Json = False) -> int:
    """Work through one night: harvest, mine, replay, reflect, gate, stage."""
    from skillopt_sleep import app
    from skillopt_sleep.cli import output
    from skillopt_sleep.cli.progress import Progress

    request = request or RunRequest()
    if request.dry_run:
        return output.plan(app.plan(request, _environment()), as_json=json)
    with Progress(quiet=json) as events:
        ask = events.paused(output.agree) if sys.stdin.isatty() and sys.stderr.isatty() else None
        view = app.run(request, _environment(), events, confirm=ask)
    return output.night(view, as_json=json, strict=request.strict)


def dry_run(*, request: Annotated[RunRequest | None, Flags] = None, json: Json = False) -> int:
    """Plan a night without calling any model (same as `run --dry-run`)."""
    from skillopt_sleep import app
    from skillopt_sleep.cli import output

    return output.plan(app.plan(request or RunRequest(), _environment()), as_json=json)


def status(*, request: Annotated[StatusRequest | None, Flags] = None, json: Json = False) -> int:
    """What is waiting for review, and the last nights."""
    from skillopt_sleep import app
    from skillopt_sleep.cli import output

    return output.status(app.status(request or StatusRequest(), _environment()), as_json=json)


def show(proposal: Proposal, /, *, places: Annotated[PlaceOptions | None, Flags] = None, json: Json = False) -> int:
    """Show one proposal: verdict, exact edits with reasons, evidence per task, diff."""
    from skillopt_sleep import app
    from skillopt_sleep.cli import output

    return output.show(app.show(ProposalRequest(proposal=proposal, **_given(places)), _environment()), as_json=json)


def adopt(proposal: Proposal, /, *, options: Annotated[AdoptOptions | None, Flags] = None, json: Json = False) -> int:
    """Put a proposal into the live skill file. The old bytes are kept; `undo` brings them back."""
    from skillopt_sleep import app
    from skillopt_sleep.cli import output

    return output.change(app.adopt(AdoptRequest(proposal=proposal, **_given(options)), _environment()), as_json=json)


def undo(proposal: Proposal, /, *, places: Annotated[PlaceOptions | None, Flags] = None, json: Json = False) -> int:
    """Take an adoption back, byte for byte. Its rules will not be proposed again."""
    from skillopt_sleep import app
    from skillopt_sleep.cli import output

    return output.change(app.undo(ProposalRequest(proposal=proposal, **_given(places)), _environment()), as_json=json)


def dismiss(proposal: Proposal, /, *, places: Annotated[PlaceOptions | None, Flags] = None, json: Json = False) -> int:
    """Turn a proposal down. Its rules will not be proposed again."""
    from skillopt_sleep import app
    from skillopt_sleep.cli import output

    request = ProposalRequest(proposal=proposal, **_given(places))
    return output.change(app.dismiss(request, _environment()), as_json=json)


def transfer(*, request: Annotated[TransferRequest | None, Flags] = None, json: Json = False) -> int:
    """Learn a skill on some models and try it on others: which model should it be deployed on?"""
    from skillopt_sleep import app
    from skillopt_sleep.cli import output
    from skillopt_sleep.cli.progress import Progress

    request = request or TransferRequest()
    if request.dry_run:
        return output.transfer_plan(app.transfer_plan(request, _environment()), as_json=json)
    with Progress(quiet=json) as events:
        ask = events.paused(output.agree_to_transfer) if sys.stdin.isatty() and sys.stderr.isatty() else None
        view = app.transfer(request, _environment(), events, confirm=ask)
    return output.transfer(view, as_json=json)


def harvest(*, request: Annotated[HarvestRequest | None, Flags] = None, json: Json = False) -> int:
    """Read past sessions and count what could be learned from. Calls no model."""
    from skillopt_sleep import app
    from skillopt_sleep.cli import output

    return output.harvest(app.harvest_tasks(request or HarvestRequest(), _environment()), as_json=json)


def skills(*, request: Annotated[SkillsRequest | None, Flags] = None, json: Json = False) -> int:
    """List the skills and memory files that an agent can load here, and which of them may be changed."""
    from skillopt_sleep import app
    from skillopt_sleep.cli import output

    return output.skills(app.list_skills(request or SkillsRequest(), _environment()), as_json=json)


def doctor(*, request: Annotated[DoctorRequest | None, Flags] = None, json: Json = False) -> int:
    """Check versions, state, transcripts, prices and models; says what to do about what is not in order."""
    from skillopt_sleep import app
    from skillopt_sleep.cli import output

    ask = output.ask if sys.stdin.isatty() and sys.stderr.isatty() else None
    return output.doctor(app.doctor(request or DoctorRequest(), _environment(), ask=ask), as_json=json)


def demo(
    *,
    seed: Annotated[int, Parameter(help="Seed of the simulated model.")] = 0,
    keep: Annotated[Path | None, Parameter(help="Folder to keep everything in [default: a new temporary one].")] = None,
    json: Json = False,
) -> int:
    """See a whole night on bundled sessions and skills, with a simulated model. Touches nothing of yours."""
    from skillopt_sleep.cli.demo import run_demo

    return run_demo(seed=seed, folder=keep, as_json=json)


def mcp(
    *, http: Annotated[str | None, Parameter(help="Serve at HOST:PORT of this machine instead, with a token.")] = None
) -> int:
    """Serve the tools to an agent over standard input and output (MCP). Clients start it; a person need not."""
    if http is not None:
        from skillopt_sleep.mcp_server.http import serve as serve_http

        serve_http(_environment(), http)
        return 0
    from skillopt_sleep.mcp_server.stdio import serve

    serve(_environment())
    return 0


def jobs_app() -> App:
    """Jobs of this project."""
    group = App(name="jobs", help="Nights that were started from a session and go on by themselves.")
    group.default(jobs_list)
    group.command(jobs_status, name="status")
    group.command(jobs_result, name="result")
    group.command(jobs_cancel, name="cancel")
    return group


def jobs_list(*, json: Json = False) -> int:
    """List the jobs of this project, newest first."""
    from skillopt_sleep import jobs
    from skillopt_sleep.cli import output

    return output.jobs(jobs.overview(StatusRequest(), _environment()), as_json=json)


def jobs_status(job: Job, /, *, json: Json = False) -> int:
    """Show how far a job is and what it has cost."""
    from skillopt_sleep import jobs
    from skillopt_sleep.cli import output

    return output.job(jobs.look(JobRequest(job=job), _environment()), as_json=json)


def jobs_result(job: Job, /, *, json: Json = False) -> int:
    """Show what came of a job, as `run` would have shown it."""
    from skillopt_sleep import jobs
    from skillopt_sleep.cli import output

    return output.job_result(jobs.result(JobRequest(job=job), _environment()), as_json=json)


def jobs_cancel(job: Job, /, *, json: Json = False) -> int:
    """Stop a job within two seconds. What it judged until then is kept."""
    from skillopt_sleep import jobs
    from skillopt_sleep.cli import output

    return output.job(jobs.cancel(JobRequest(job=job), _environment()), as_json=json)


def config_show(
    *, origin: Annotated[bool, Parameter(help="Also show where each value comes from.")] = False, json: Json = False
) -> int:
    """Show all settings as they are in force here."""
    from skillopt_sleep import app
    from skillopt_sleep.cli import output

    return output.config(app.show_config(_environment()), origin=origin, as_json=json)


def _given(options: PlaceOptions | None) -> dict[str, Any]:
    """The flags that were really given."""
    return options.model_dump(exclude_unset=True) if options else {}


def _environment() -> Environment:
    from skillopt_sleep.wiring import Environment

    return Environment.current()
