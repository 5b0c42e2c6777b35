"""What the use-cases return: the same models for the terminal, for `--json` and for tools.

Every view begins with `summary`: one or two plain sentences for a person.
"""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import AwareDatetime, JsonValue

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.health import Finding, Noise
from skillopt_sleep.domain.llm import Role
from skillopt_sleep.domain.reports import HarvestCounts, MineCounts, NightReport, Proposal, ProposalStatus, RoleSpend
from skillopt_sleep.domain.slices import Slice
from skillopt_sleep.domain.transfers import TransferReport
from skillopt_sleep.domain.verdicts import Decision


class View(Frozen):
    summary: str


class PlannedSkill(Frozen):
    """One skill that a night would work on."""

    skill: str
    target: str
    tasks: dict[Slice, int]
    families: dict[Slice, int]
    expected_calls: int
    most_calls: int
    reserved_calls: int = 0
    """Of these, what is kept for a second look at tasks that seem to get worse; spent only before an acceptance."""
    enough_for_a_verdict: bool
    note: str = ""


class PlannedRole(Frozen):
    """What one model is expected to do, and the most it can do."""

    role: Role
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    most_calls: int
    """When no call fails; a failed call is made again, and counts against the caps."""
    most_tokens: int
    usd: float | None
    most_usd: float | None
    """None where no price is known."""


class PlannedPrompt(Frozen):
    """Something a night would send."""

    role: Role
    about: str
    """What it is for ("briefs: train task notes-1")."""
    known: bool
    """Whether it would be sent exactly so. Otherwise it is a template, with what may fill it."""
    system: str
    text: str
    times: int = 1
    """How often it is asked, as samples of one another."""


Costs = Literal["nothing", "known", "unknown"]


class PlanView(View):
    """What a night would do. Making the plan called no model."""

    project: str
    models: dict[Role, str]
    harvest: HarvestCounts
    mined: MineCounts
    skills: tuple[PlannedSkill, ...]
    left_out: dict[str, int]
    """Tasks that no skill would be improved by: reason in words -> count."""
    roles: tuple[PlannedRole, ...]
    expected_calls: int
    most_calls: int
    """Never passed: the sum over roles with every call failing as often as it is tried again, or the cap below it."""
    expected_tokens: int
    most_tokens: int
    expected_usd: float | None
    most_usd: float | None
    """None where no price is known and no cap on money can hold."""
    costs: Costs
    """Whether the night costs money: nothing at all, a known price, or a price nobody has told us."""
    prices_as_of: date
    caps: dict[str, float]
    """Caps in force, by unit: calls, tokens, usd, minutes."""
    spent_today: dict[str, float] = {}
    """What costly nights have taken today, by unit."""
    simulated: bool
    prompts: tuple[PlannedPrompt, ...] = ()
    """What would be sent, where that was asked for."""
    warnings: tuple[str, ...] = ()


class TransferPlanView(View):
    """What a transfer experiment would do. Making the plan called no model."""

    skill: str
    optimize_on: tuple[str, ...]
    deploy_on: tuple[str, ...]
    grader: str
    families: dict[Slice, int]
    samples: int
    expected_calls: int
    most_calls: int
    expected_tokens: int
    most_tokens: int
    expected_usd: float | None
    most_usd: float | None
    costs: Costs
    prices_as_of: date
    left_out: dict[str, int] = {}
    simulated: bool


class TransferRunView(View):
    """A transfer experiment that has ended."""

    report: TransferReport
    report_path: str


JobKind = Literal["optimize-skill", "sleep-run", "evaluate-transfer"]
JobStatus = Literal["starting", "running", "finished", "failed", "cancelled", "died"]
"""`died`: its process is gone and said nothing; what it had done is kept, and the same night can go on."""


class OfferView(View):
    """A plan that can be begun as it is, once, until it expires. Making it called no model and spent nothing."""

    kind: JobKind
    plan_id: str
    """Give it back to begin exactly this plan."""
    expires_at: AwareDatetime
    leaves: tuple[str, ...]
    """What would leave this machine, and to whom."""
    plan: PlanView | None = None
    """Of a night."""
    transfer: TransferPlanView | None = None
    """Of a transfer experiment."""


class Complaint(Frozen):
    """What went wrong, as everywhere: what happened, and what to do."""

    code: str
    message: str
    hint: str = ""


class JobView(View):
    """Work that goes on in a process of its own."""

    id: str
    kind: JobKind
    status: JobStatus
    skills: tuple[str, ...]
    plan_id: str
    started_at: AwareDatetime
    updated_at: AwareDatetime
    phase: str = ""
    """What is being done now: harvest, mine, replay, reflect, gate, test, stage."""
    phase_of: str | None = None
    """The skill it is done for."""
    attempts: int = 0
    """Attempts at tasks so far."""
    calls: int = 0
    """Model calls so far; those that the reply cache answered are not counted."""
    failed_calls: int = 0
    expected_calls: int = 0
    most_calls: int = 0
    """Never passed."""
    tokens: int = 0
    usd: float | None = None
    """Money so far; None where a price is not known. Simulated and local models cost nothing."""
    night: str | None = None
    """Id of the night, or of the transfer experiment, that the job works through."""
    warnings: tuple[str, ...] = ()
    """The last few things to know."""
    error: Complaint | None = None
    """Why it failed."""


class JobsView(View):
    """Jobs of this project, newest first, and what waits for review."""

    jobs: tuple[JobView, ...]
    state: StatusView | None = None
    """The state of the project; only where no single job was asked for."""


class JobResultView(View):
    """What came of a job."""

    job: JobView
    run: RunView | None = None
    """The night; None where it left no report."""
    transfer: TransferRunView | None = None
    """The transfer experiment, where the job was one and has finished."""


class RunView(View):
    """A night that has ended."""

    report: NightReport
    report_path: str
    proposals: tuple[str, ...] = ()


class TaskLine(Frozen):
    """One mined task, in short."""

    id: str
    family: str
    slice: Slice
    skill: str | None
    request: str


class HarvestView(View):
    project: str
    harvest: HarvestCounts
    mined: MineCounts
    by_skill: dict[str, int]
    """Tasks by skill; "(no skill)" where the sessions used none."""
    tasks_file: str | None = None
    tasks: tuple[TaskLine, ...] = ()
    """The tasks' requests, where that was asked for."""
    warnings: tuple[str, ...] = ()


class ProposalLine(Frozen):
    id: str
    skill: str
    status: ProposalStatus
    decision: Decision
    target: str
    created_at: AwareDatetime
    explanation: str


class NightLine(Frozen):
    id: str
    status: str
    finished_at: AwareDatetime
    skills: int
    proposals: int
    simulated: bool


class StatusView(View):
    home: str
    project: str
    running: str | None
    """Who holds the night's lock, where a night is under way."""
    waiting: tuple[ProposalLine, ...]
    adopted: tuple[ProposalLine, ...]
    """What is live now and can be undone."""
    nights: tuple[NightLine, ...]
    unreadable_nights: int = 0
    """Nights without a readable report: interrupted before they could write one, or damaged."""
    unreadable_proposals: int = 0
    """Proposals that are incomplete or damaged; they are left alone and cannot be adopted."""


class ShowView(View):
    proposal: Proposal
    status: ProposalStatus
    diff: str
    folder: str


class ChangeView(View):
    """A live file was changed, or put back."""

    proposal_id: str
    action: Literal["adopted", "undone", "dismissed"]
    target: str
    sha256: str | None
    """Hash of the live file now; None where it does not exist any more."""
    remembered: tuple[str, ...] = ()
    """Rules that will not be proposed again."""


class DoctorView(View):
    """What was found; the first problem decides the exit code."""

    findings: tuple[Finding, ...]
    noise: Noise | None = None
    spend: tuple[RoleSpend, ...] = ()


class SettingLine(Frozen):
    name: str
    value: JsonValue
    origin: str


class ConfigView(View):
    user_file: str
    project_file: str
    settings: tuple[SettingLine, ...]


class SkillLine(Frozen):
    name: str
    scope: str
    path: str
    writable: bool


class SkillsView(View):
    skills: tuple[SkillLine, ...]
