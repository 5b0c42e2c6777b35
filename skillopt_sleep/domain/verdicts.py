"""What a gate decides, and under which policy."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from skillopt_sleep.domain.base import Frozen, UnitInterval

Decision = Literal["accept", "reject", "inconclusive"]
Metric = Literal["hard", "soft", "mixed"]

VerdictReason = Literal[
    "improved",  # accept: better beyond chance
    "gate_off",  # accept: the person switched the gate off
    "harmful",  # reject: worse beyond chance
    "no_gain",  # reject: an improvement worth having is ruled out
    "regressed",  # reject: better on the whole, but some family got worse
    "too_few_families",
    "untestable",  # no data could ever reach this alpha
    "not_enough_evidence",
    "too_many_missing",
    "overlap",  # the gate tasks were seen in training: nothing was validated
    "shape_only",  # only model-mined checks of form: nothing substantive was judged
    "no_edits",
]


class GatePolicy(Frozen):
    """How sure the gate has to be."""

    alpha: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.05
    """The largest tolerated probability of accepting an edit that does nothing."""
    min_effect: Annotated[float, Field(gt=0.0, le=1.0)] = 0.3
    """An improvement smaller than this may be called absent: "reject" needs to rule out this much."""
    min_families: Annotated[int, Field(ge=5)] = 5
    samples: Annotated[int, Field(ge=1, le=20)] = 3
    """Rollouts of each task and arm."""
    metric: Metric = "hard"
    mixed_weight: UnitInterval = 0.5
    """Share of the hard score in the mixed metric."""
    max_unscored: UnitInterval = 0.2
    """Largest tolerated share of pairs without two scores; above it the verdict is inconclusive."""


class Verdict(Frozen):
    """The gate's answer, with everything needed to say it in words."""

    decision: Decision
    reason: VerdictReason
    explanation: str
    """One or two plain sentences for a person."""
    before: float | None = None
    after: float | None = None
    """Mean score of each arm over families."""
    effect: float | None = None
    """Mean over families of after - before."""
    interval: tuple[float, float] | None = None
    """Two-sided 90 % interval of the effect over families."""
    p_value: float | None = None
    """One-sided exact p of "no better than before"."""
    families: int = 0
    """Families with at least one complete pair: the number the test rests on."""
    pairs: int = 0
    """Complete pairs: those with two scores."""
    missing_pairs: int = 0
    regressed: tuple[str, ...] = ()
    """Families that got worse beyond noise."""
    families_needed: int | None = None
    """About how many more gate families would settle it; None where more families would not help or it is settled."""
    alpha: float = 0.05
