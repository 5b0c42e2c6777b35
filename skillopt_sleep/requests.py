"""What can be asked for: one model for each use-case.

Surfaces build these; every option is declared here or in the option groups of `settings`, and nowhere else.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.settings import BudgetOptions, HarvestOptions, ModelOptions, NightOptions


class TaskOptions(Frozen):
    """What a night works on."""

    skills: tuple[str, ...] = ()
    """Only these skills, by name (comma-separated or repeated) [default: every skill the sessions used]."""
    tasks: str | None = None
    """A tasks file (YAML or JSON) to use instead of past sessions."""

    @field_validator("skills", mode="before")
    @classmethod
    def _split_commas(cls, value: Any) -> Any:
        parts = [value] if isinstance(value, str) else value
        if not isinstance(parts, list | tuple):
            return value
        return tuple(name.strip() for part in parts for name in str(part).split(",") if name.strip())


class RunRequest(HarvestOptions, ModelOptions, BudgetOptions, NightOptions, TaskOptions):
    """One night."""

    dry_run: bool = False
    """Only plan: sessions, tasks, calls, tokens. Calls no model."""
    strict: bool = False
    """Exit with 5 when a verdict is inconclusive."""


class HarvestRequest(HarvestOptions):
    """Read past sessions and show what could be learned from."""

    output: str | None = None
    """Write the mined tasks to this YAML file, to be read, corrected and used with `run --tasks`."""


class StatusRequest(Frozen):
    """What is waiting and what was done."""

    limit: int = Field(default=5, ge=1, le=100)
    """At most this many nights."""


class ProposalRequest(Frozen):
    """One proposal."""

    proposal: str
    """Id of the proposal, its beginning, or the name of its skill."""


class AdoptRequest(ProposalRequest):
    unverified: bool = False
    """Adopt although the gate could not confirm an improvement."""
