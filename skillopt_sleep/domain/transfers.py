"""What a transfer experiment found: one skill, learned on some models, deployed on others."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.reports import RoleSpend

ArmKind = Literal["none", "original", "learned", "placebo"]

FEWEST_TEST_FAMILIES = 12
"""Fewer sealed families settle next to nothing between several models."""


class Lesson(Frozen):
    """What one model made of the skill."""

    model: str
    learned: bool
    """Whether the gate accepted a change on this model. If not, its skill is the original."""
    says: str
    edits: tuple[str, ...] = ()
    error: str | None = None


class Cell(Frozen):
    """One skill text on one deploy model, on the sealed test tasks. Scores are means over families, in [0, 1]."""

    deploy: str
    kind: ArmKind
    learned_on: str | None = None
    mean: float | None = None
    """None: missing, never a zero."""
    lift: float | None = None
    """Mean over families of this - the original skill on the same model, pair by pair."""
    interval: tuple[float, float] | None = None
    """Two-sided 90 % interval of the lift, over families."""
    p_value: float | None = None
    """One-sided, exact, corrected after Holm over all learned and placebo cells; None in an exploratory experiment."""
    harmful: bool = False
    """Worse than the original by more than chance: the whole interval lies below zero."""
    retention: float | None = None
    """Lift / lift of the skill that was learned on this very model; None where that is not positive or is missing."""
    solved: int = 0
    attempts: int = 0
    """Attempts that have a score."""
    usd_per_solved: float | None = None
    """What one solved attempt cost, without grading; None where nothing was solved or no price is known."""
    missing_pairs: int = 0
    error: str | None = None
    """Why the figures are missing."""

    @property
    def direct(self) -> bool:
        """Whether the skill was learned on the model that it is deployed on."""
        return self.kind == "learned" and self.learned_on == self.deploy

    @property
    def name(self) -> str:
        """What the skill is, in words."""
        if self.kind == "learned":
            return "learned here (direct)" if self.direct else f"learned on {self.learned_on}"
        return {"none": "no skill", "original": "original skill", "placebo": "placebo"}[self.kind]


class TransferReport(Frozen):
    """The whole matrix."""

    schema_version: Literal[1] = 1
    id: str
    skill: str
    started_at: AwareDatetime
    finished_at: AwareDatetime
    optimised_on: tuple[str, ...]
    deployed_on: tuple[str, ...]
    """In the order in which they were given."""
    grader: str
    """Who graded, the same for all cells."""
    self_graded: tuple[str, ...] = ()
    """Models that graded their own answers, because that was asked for."""
    test_families: int
    samples: int
    margin: float
    exploratory: bool
    shape_only: bool = False
    """Whether only checks of form that a model wrote judged: then nothing is certified."""
    simulated: bool
    lessons: tuple[Lesson, ...]
    cells: tuple[Cell, ...]
    recommendation: str
    partial: str | None = None
    """Why the experiment is not complete."""
    spend: tuple[RoleSpend, ...] = ()
