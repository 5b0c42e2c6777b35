"""The tools, one row each. A tool parses nothing and decides nothing: it hands a request to its use-case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import BaseModel

from skillopt_sleep import app, jobs
from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.errors import ConflictError, UsageError
from skillopt_sleep.mcp_server import takes
from skillopt_sleep.requests import (
    AdoptRequest,
    HarvestRequest,
    JobRequest,
    ProposalRequest,
    RunRequest,
    SkillsRequest,
    StatusRequest,
    TransferRequest,
)
from skillopt_sleep.views import (
    ChangeView,
    HarvestView,
    JobKind,
    JobResultView,
    JobsView,
    JobView,
    OfferView,
    ShowView,
    SkillsView,
    View,
)
from skillopt_sleep.wiring import Environment

Act = Callable[[dict[str, Any], Environment], View]
"""A use-case under its tool's arguments: those that were really given, checked."""


class PlanOrJobView(View):
    """A plan where no plan_id was given, else the job that was begun."""

    offer: OfferView | None = None
    job: JobView | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked before a live file changes, and how that person does it without being asked."""

    text: str
    label: str
    about: str
    """Identifies what was shown: an answer to something else is no answer."""
    command: str
    """What to type in a terminal: the words after `skillopt-sleep`."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool."""

    name: str
    title: str
    description: str
    takes: type[Frozen]
    gives: type[BaseModel]
    act: Act
    reads_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False
    """Whether it reaches services beyond this machine, at once or by a job."""
    pages: tuple[str, ...] = ()
    """Where in the result the list lies that may be too long for one answer; of several places, that which is there."""
    question: Callable[[dict[str, Any], Environment], Question] | None = None
    """What the person is asked before; None where nobody needs to agree."""
    always_loaded: bool = False
    """Whether a client should keep it in every request: what it takes is paid for each time."""


# --- nights -----------------------------------------------------------------------------------------------------------


def _plan_or_begin(kind: JobKind, given: dict[str, Any], skills: tuple[str, ...], environment: Environment) -> View:
    plan_id = given.get("plan_id")
    if plan_id is None:
        options = {name: value for name, value in given.items() if name in takes.OPTIONS}
        if skills:
            options["skills"] = skills
        request = TransferRequest(**options) if kind == "evaluate-transfer" else RunRequest(**options)
        jobs.may_ask(request, environment)
        offer = jobs.offer(request, environment, kind)
        return PlanOrJobView(summary=offer.summary, offer=offer)
    fixed = sorted(set(given) & takes.OPTIONS)
    if fixed:
        raise UsageError(
            f"A plan fixes everything, so {', '.join(fixed)} cannot be given with plan_id.",
            hint="Leave it out; or leave plan_id out, for another plan.",
        )
    job = jobs.start(plan_id, environment, kind, skills=skills)
    return PlanOrJobView(summary=job.summary, job=job)


def _one_skill(kind: JobKind, given: dict[str, Any], environment: Environment) -> View:
    skill = given.get("skill")
    if skill is None and given.get("plan_id") is None:
        raise UsageError("Which skill?", hint="Name it with `skill`; `list-skills` lists them.")
    return _plan_or_begin(kind, given, (skill,) if skill else (), environment)


def _night(given: dict[str, Any], environment: Environment) -> View:
    return _plan_or_begin("sleep-run", given, tuple(given.get("skills", ())), environment)


def _status(given: dict[str, Any], environment: Environment) -> View:
    if given.get("job") is None:
        return jobs.overview(StatusRequest(limit=10), environment)
    job = jobs.look(JobRequest(job=given["job"]), environment)
    return JobsView(summary=job.summary, jobs=(job,))


def _job(given: dict[str, Any]) -> JobRequest:
    return JobRequest(job=given["job"])


# --- proposals --------------------------------------------------------------------------------------------------------


def _proposal(given: dict[str, Any]) -> ProposalRequest:
    return ProposalRequest(proposal=given["proposal"])


def _adopt(given: dict[str, Any], environment: Environment) -> View:
    _as_it_was_shown(given, app.show(_proposal(given), environment))
    options = {name: given[name] for name in ("proposal", "unverified", "again") if name in given}
    return app.adopt(AdoptRequest(**options), environment)


def _as_it_was_shown(given: dict[str, Any], shown: ShowView) -> None:
    if given["before_sha"] != (shown.proposal.before_sha256 or "absent"):
        raise ConflictError(
            f"before_sha is not that of {shown.proposal.id}: nobody has looked at this proposal.",
            hint="Show it to the person with `show-proposal`, and give its proposal.before_sha256.",
        )


def _ask_to_adopt(given: dict[str, Any], environment: Environment) -> Question:
    shown = app.show(_proposal(given), environment)
    _as_it_was_shown(given, shown)
    proposal = shown.proposal
    if shown.status == "staged" and proposal.verdict.decision != "accept" and not given.get("unverified"):
        raise ConflictError(
            f"The gate did not accept this proposal: {proposal.verdict.explanation}",
            hint="Show the person what is known; only if they still want it, say unverified.",
        )
    flags = "".join(f" --{name}" for name in ("unverified", "again") if given.get(name))
    warning = "\nTHE GATE COULD NOT CONFIRM AN IMPROVEMENT." if proposal.verdict.decision != "accept" else ""
    return Question(
        text=f"Adopt {proposal.id} into {proposal.target}?{warning}\n{proposal.verdict.explanation}\n\n{shown.diff}",
        label="Adopt it",
        about=f"adopt {proposal.id} {proposal.before_sha256} {proposal.after_sha256}{flags}",
        command=f"adopt {proposal.id}{flags}",
    )


def _ask_to_undo(given: dict[str, Any], environment: Environment) -> Question:
    proposal = app.show(_proposal(given), environment).proposal
    return Question(
        text=f"Undo the adoption of {proposal.id}? {proposal.target} becomes what it was before, byte for byte.",
        label="Undo it",
        about=f"undo {proposal.id} {proposal.after_sha256}",
        command=f"undo {proposal.id}",
    )


# --- the table --------------------------------------------------------------------------------------------------------

TOOLS: tuple[Tool, ...] = (
    Tool(
        name="optimize-skill",
        title="Optimise a skill",
        description="Improve one skill from past sessions. First call: a plan with its price, free. Show it, ask the "
        "person, then call again with its plan_id: a background job starts. Nothing live changes.",
        takes=takes.OptimizeSkill,
        gives=PlanOrJobView,
        act=partial(_one_skill, "optimize-skill"),
        open_world=True,
        pages=("offer.plan.skills",),
        always_loaded=True,
    ),
    Tool(
        name="evaluate-transfer",
        title="Evaluate transfer",
        description="Would a skill that was learned on one model help another? Every version on every model, on sealed "
        "tasks. Plan first, then plan_id, as optimize-skill.",
        takes=takes.EvaluateTransfer,
        gives=PlanOrJobView,
        act=partial(_one_skill, "evaluate-transfer"),
        open_world=True,
    ),
    Tool(
        name="sleep-run",
        title="Run a night",
        description="As optimize-skill, for several skills or all that past sessions used: plan first, then plan_id.",
        takes=takes.SleepRun,
        gives=PlanOrJobView,
        act=_night,
        open_world=True,
        pages=("offer.plan.skills",),
    ),
    Tool(
        name="sleep-status",
        title="Jobs and proposals",
        description="Phase, progress and cost of jobs, and proposals that wait for review. Calls no model.",
        takes=takes.SleepStatus,
        gives=JobsView,
        act=_status,
        reads_only=True,
        idempotent=True,
        pages=("state.waiting",),
    ),
    Tool(
        name="sleep-result",
        title="Result of a job",
        description="What came of a job: held-out scores before and after with interval, verdicts, cost, proposals.",
        takes=takes.SleepResult,
        gives=JobResultView,
        act=lambda given, environment: jobs.result(_job(given), environment),
        reads_only=True,
        idempotent=True,
        pages=("run.report.skills", "transfer.report.cells"),
    ),
    Tool(
        name="sleep-cancel",
        title="Cancel a job",
        description="Stop a job within two seconds by aborting its calls. What it judged until then is kept.",
        takes=takes.SleepCancel,
        gives=JobView,
        act=lambda given, environment: jobs.cancel(_job(given), environment),
        destructive=True,
        idempotent=True,
    ),
    Tool(
        name="list-skills",
        title="List skills",
        description="Skills and memory files that an agent can load here, and which of them may be changed.",
        takes=takes.ListSkills,
        gives=SkillsView,
        act=lambda _, environment: app.list_skills(SkillsRequest(), environment),
        reads_only=True,
        idempotent=True,
        pages=("skills",),
    ),
    Tool(
        name="harvest-tasks",
        title="Count past tasks",
        description="Read this project's past sessions and count what could be learned from. Calls no model.",
        takes=takes.HarvestTasks,
        gives=HarvestView,
        act=lambda given, environment: app.harvest_tasks(HarvestRequest(**_without(given, "offset")), environment),
        idempotent=True,
        pages=("tasks",),
    ),
    Tool(
        name="show-proposal",
        title="Show a proposal",
        description="One proposal for review: verdict, exact edits with reasons, what got worse, evidence, diff.",
        takes=takes.ShowProposal,
        gives=ShowView,
        act=lambda given, environment: app.show(_proposal(given), environment),
        reads_only=True,
        idempotent=True,
        pages=("proposal.evidence",),
    ),
    Tool(
        name="adopt-proposal",
        title="Adopt a proposal",
        description="Put a proposal into the live skill file. A person's act: only after they saw it and said so; the "
        "client asks them.",
        takes=takes.AdoptProposal,
        gives=ChangeView,
        act=_adopt,
        destructive=True,
        question=_ask_to_adopt,
    ),
    Tool(
        name="undo-adoption",
        title="Undo an adoption",
        description="Put the live skill file back, byte for byte. A person's act; the client asks them.",
        takes=takes.UndoAdoption,
        gives=ChangeView,
        act=lambda given, environment: app.undo(_proposal(given), environment),
        destructive=True,
        question=_ask_to_undo,
    ),
    Tool(
        name="dismiss-proposal",
        title="Dismiss a proposal",
        description="Turn a proposal down for good, if the person says so: its rules are not proposed again.",
        takes=takes.DismissProposal,
        gives=ChangeView,
        act=lambda given, environment: app.dismiss(_proposal(given), environment),
        destructive=True,
    ),
)


def _without(given: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key != name}


def job_of(view: View) -> JobView | None:
    """The one job that an answer is about."""
    if isinstance(view, PlanOrJobView):
        return view.job
    return view.jobs[0] if isinstance(view, JobsView) and view.state is None else None


def ended(view: View) -> bool:
    """Whether there is nothing to wait for: no single job, or one that has ended."""
    job = job_of(view)
    return job is None or job.status not in ("starting", "running")


def refreshed(view: View, environment: Environment) -> View:
    """The same answer with its job as it is now."""
    job = job_of(view)
    if job is None:
        return view
    now = jobs.look(JobRequest(job=job.id), environment)
    if isinstance(view, PlanOrJobView):
        return PlanOrJobView(summary=now.summary, job=now)
    return JobsView(summary=now.summary, jobs=(now,))


__all__ = ["TOOLS", "PlanOrJobView", "Question", "Tool", "ended", "job_of", "refreshed"]
