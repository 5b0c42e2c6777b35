"""What tools take. Every option is a field of a request model; which of them an agent may set is decided here.

Left out is what only a person may decide: programs and addresses of models, folders, other projects' sessions, how sure
is sure, the gate itself, caps of the day.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, create_model

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.requests import (
    AdoptRequest,
    HarvestRequest,
    JobRequest,
    ProposalRequest,
    RunRequest,
    TransferRequest,
)
from skillopt_sleep.settings import Names

_SHORT = (
    *("tasks", "target_model", "optimizer_model", "judge_model", "mining", "since_days"),
    *("max_calls", "max_usd", "max_minutes", "samples", "candidates", "edit_budget"),
)
_LONG = (
    *("max_sessions", "include_headless", "max_tokens", "train_samples"),
    *("metric", "mixed_weight", "anchors", "skip_test", "anew"),
)
_TRANSFER = (
    *("optimize_on", "deploy_on", "no_direct", "control", "exploratory", "judge_model", "tasks", "since_days"),
    *("max_calls", "max_tokens", "max_usd", "max_minutes", "samples", "candidates", "edit_budget"),
)
_SESSIONS = ("since_days", "max_sessions", "include_headless")


class Paging(Frozen):
    """Where a list that is too long for one answer goes on."""

    offset: Annotated[int, Field(ge=0)] = 0
    """Go on from here: `page.next_offset` of the last answer."""


class Patience(Frozen):
    """How long an answer may take."""

    wait_seconds: Annotated[int, Field(ge=0, le=600)] = 0
    """Wait up to so long for the job to end, with progress. 0: answer at once."""


class Planned(Patience):
    """What is first planned and then begun."""

    plan_id: Annotated[str, Field(max_length=80)] | None = None
    """Begin the plan of this id. Without it: only plan, which spends nothing."""


class OneSkill(Planned):
    """One skill."""

    skill: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """Name of the skill, as `list-skills` gives it. Needed for a plan."""


class ManySkills(Planned):
    """Some skills, or all."""

    skills: Annotated[Names, Field(max_length=50)] = ()
    """Only these skills [default: every skill that the sessions used]."""


class MaybeJob(Paging, Patience):
    """A job, or all."""

    job: Annotated[str, Field(max_length=80)] | None = None
    """Id of a job [default: all jobs of this project]."""


class Reading(Paging):
    """Reading of past sessions."""

    texts: bool = False
    """Also give the requests themselves, secrets masked; of this project only."""


class Sure(Frozen):
    """What shows that the proposal was looked at."""

    before_sha: Annotated[str, Field(min_length=1, max_length=64)]
    """`proposal.before_sha256` as `show-proposal` gave it; "absent" where that is null."""


class Nothing(Paging):
    """Nothing but where to go on."""


def _chosen(name: str, base: type[Frozen], request: type[Frozen], *fields: str) -> type[Frozen]:
    """A model with these fields of a request, declared there and nowhere else."""
    rows: dict[str, Any] = {field: (_annotation(request, field), request.model_fields[field]) for field in fields}
    return create_model(name, __base__=base, __doc__=base.__doc__, **rows)


def _annotation(request: type[Frozen], field: str) -> Any:
    info = request.model_fields[field]
    return Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation


OptimizeSkill = _chosen("OptimizeSkill", OneSkill, RunRequest, *_SHORT)
SleepRun = _chosen("SleepRun", ManySkills, RunRequest, *_SHORT, *_LONG)
EvaluateTransfer = _chosen("EvaluateTransfer", OneSkill, TransferRequest, *_TRANSFER)
SleepStatus = MaybeJob
SleepResult = _chosen("SleepResult", Paging, JobRequest, "job")
SleepCancel = _chosen("SleepCancel", Frozen, JobRequest, "job")
ListSkills = Nothing
HarvestTasks = _chosen("HarvestTasks", Reading, HarvestRequest, *_SESSIONS)
ShowProposal = _chosen("ShowProposal", Paging, ProposalRequest, "proposal")
AdoptProposal = _chosen("AdoptProposal", Sure, AdoptRequest, "proposal", "unverified", "again")
UndoAdoption = _chosen("UndoAdoption", Frozen, ProposalRequest, "proposal")
DismissProposal = _chosen("DismissProposal", Frozen, ProposalRequest, "proposal")

OPTIONS = frozenset((*_SHORT, *_LONG, *_TRANSFER))
"""Options of a night or a transfer experiment that an agent may set."""
SOURCES: tuple[type[Frozen], ...] = (RunRequest, TransferRequest, HarvestRequest, JobRequest, AdoptRequest)
"""Where the words about chosen fields stand."""
