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
    "anchor_fell",  # reject: better on the whole, but something the person pinned fell
    "too_few_families",
    "untestable",  # no data could ever reach this alpha
    "used_up",  # these families have been tested on before, and no further test on them could accept anything
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


class Account(Frozen):
    """How much of alpha the tests on a set of families have used, this one included. See `skillopt_sleep.gate.account`.

    Every test on the same families is another chance to be fooled; so all of them together share one alpha.
    """

    test: int
    """Which test on these families this is: 1 for the first."""
    left: float
    """What is left of alpha for all later tests together."""
    next_level: float | None
    """What the next test on them may use; None where no data could reach it."""
    unused_needed: int
    """How many families that no test has used are still missing for an account of their own."""


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
    """Families that got worse beyond noise, by fresh pairs; and pinned families or tasks that fell at all."""
    suspects: tuple[str, ...] = ()
    """Families that looked worse and were therefore tried again."""
    fresh_pairs: int = 0
    """Pairs that were spent on suspects and on what is pinned, beside the main budget."""
    families_needed: int | None = None
    """About how many more gate families would settle it; None where more families would not help or it is settled."""
    alpha: float = 0.05
    """The level of this test."""
    looks: int = 0
    """How often the gate looked at the evidence before it decided; 0 where it was judged once and as a whole."""
    pairs_planned: int = 0
    """Pairs that the full budget holds; what is missing to it was saved by deciding early."""
    account: Account | None = None
    """What this test used of the families' alpha, and what is left; None where no account is kept."""

    @property
    def pairs_saved(self) -> int:
        """Pairs of the budget that an early decision left unspent."""
        return max(0, self.pairs_planned - self.pairs - self.missing_pairs)
