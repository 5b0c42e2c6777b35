"""What can be asked for: one model for each use-case.

Surfaces build these; every option is declared here or in the option groups of `settings`, and nowhere else.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.settings import BudgetOptions, HarvestOptions, ModelOptions, Names, NightOptions, PlaceOptions


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


class HarvestRequest(HarvestOptions):
    """Read past sessions and show what could be learned from."""

    output: Annotated[str, Field(min_length=1)] | None = None
    """Write the mined tasks to this YAML file, to be read, corrected and used with `run --tasks`."""


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
