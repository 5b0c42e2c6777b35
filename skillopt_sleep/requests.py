"""What can be asked for: one model for each use-case.

Surfaces build these; every option is declared here or in the option groups of `settings`, and nowhere else.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.settings import (
    BudgetOptions,
    HarvestOptions,
    ModelOptions,
    Names,
    NightOptions,
    PlaceOptions,
    ServiceOptions,
)


class TaskOptions(Frozen):
    """What a night works on."""

    skills: Names = ()
    """Only these skills, by name (comma-separated or repeated) [default: every skill the sessions used]."""
    tasks: str | None = None
    """A tasks file (YAML or JSON) to use instead of past sessions."""


class RunRequest(HarvestOptions, ModelOptions, BudgetOptions, NightOptions, TaskOptions):
    """One night."""

    dry_run: bool = False
    """Only plan: sessions, tasks, calls, tokens. Calls no model."""
    show_prompts: bool = False
    """With --dry-run: print what would be sent, in full where it is known already."""
    yes: bool = False
    """Spend money without asking first; needed where there is no terminal to ask on."""
    anew: bool = False
    """Begin a new night, even where one that was killed could go on."""
    strict: bool = False
    """Exit with 5 when a verdict is inconclusive."""


class TransferRequest(HarvestOptions, ServiceOptions, BudgetOptions, NightOptions, TaskOptions):
    """One skill, learned on some models and deployed on others."""

    optimize_on: Names = ()
    """Models that the skill is optimised on, as specs (comma-separated)."""
    deploy_on: Names = ()
    """Models that each version of the skill is tried on (comma-separated); cheapest first where prices are equal."""
    no_direct: bool = False
    """Do not optimise on the deploy models as well: fewer calls, and nothing to compare a transferred gain with."""
    control: bool = False
    """Also try a placebo, as much text again that asks for nothing: it must show no gain."""
    exploratory: bool = False
    """Go on with fewer than 12 sealed test families; no p-values are shown then."""
    margin: Annotated[float, Field(ge=0.0, le=1.0)] = 0.1
    """"Not worse" allows for so much less, in shares of passed tasks."""
    judge_model: str | None = None
    """Model that grades replies where a task has a rubric, the same for the whole experiment."""
    grade_own: bool = False
    """Let the judge's model grade its own answers, where it is one of the models tried; the report says so."""
    dry_run: bool = False
    """Only plan: what it would take. Calls no model."""
    yes: bool = False
    """Spend money without asking first; needed where there is no terminal to ask on."""


class HarvestRequest(HarvestOptions):
    """Read past sessions and show what could be learned from."""

    output: Annotated[str, Field(min_length=1)] | None = None
    """Write the mined tasks to this YAML file, to be read, corrected and used with `run --tasks`."""
    texts: bool = False
    """Also show the requests themselves, secrets masked."""


class DoctorRequest(HarvestOptions, ModelOptions, BudgetOptions, TaskOptions):
    """Is everything in place?"""

    offline: bool = False
    """Call no model."""
    noise: bool = False
    """Also measure how noisy model and judge are: the same skill against itself, on the tasks of --skills."""
    yes: bool = False
    """Make the few calls that cost something without asking first."""


class StatusRequest(PlaceOptions):
    """What is waiting and what was done."""

    limit: int = Field(default=5, ge=1, le=100)
    """At most this many nights."""


class JobRequest(PlaceOptions):
    """One job."""

    job: Annotated[str, Field(min_length=1, max_length=80)]
    """Id of the job."""


class SkillsRequest(PlaceOptions):
    """What can be improved here."""


class ProposalRequest(PlaceOptions):
    """One proposal."""

    proposal: str
    """Id of the proposal, its beginning, or the name of its skill."""


class AdoptOptions(PlaceOptions):
    """What a person says besides which proposal."""

    unverified: bool = False
    """Adopt although the gate could not confirm an improvement."""
    again: bool = False
    """Adopt although it was undone before."""


class AdoptRequest(AdoptOptions, ProposalRequest):
    """One proposal, to be put into its live file."""
