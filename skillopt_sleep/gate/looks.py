"""The sequential procedure: says which pairs to gather next, and stops as soon as the answer is clear.

Families in random order, breadth first: one pair for each of their tasks, then a second, then a third. The first look
comes as soon as any data at all could be accepted, the others after every quarter of a pass, or a part of it where a
quarter holds more than five families. The level grows with the calls used (Pocock type); at some looks the gate gives
up if the rest of the budget is unlikely to lead to acceptance.

Looks by quarters, because each look waits for its slowest attempt. A look after every single family finds no more and
saves no calls that could be measured (docs/adr/0007), and takes up to four times as many rounds.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from skillopt_sleep.domain.verdicts import GatePolicy
from skillopt_sleep.gate.futility import Progress, chance_of_acceptance
from skillopt_sleep.gate.judge import final_level
from skillopt_sleep.stats import SequentialSignFlip, pocock_spending

GIVE_UP_BELOW = 0.05
"""Predicted chance of acceptance below which the gate stops. Less would find a little more, and cost more on idle
edits; whatever it is, the false-accept rate does not grow."""

_MOST_BETWEEN_LOOKS = 5
"""Families that are sampled between two looks: ten attempts, about what runs side by side."""
_ALL_MOVED = 1.0 - 1e-9

Outcome = Literal["better", "worse", "futile", "exhausted"]


@dataclass(frozen=True, slots=True)
class Stage:
    """The families sampled between two looks: places `start` to `stop` of the order, in pass number `sample`."""

    sample: int
    start: int
    stop: int
    may_give_up: bool
    final: bool


class SequentialTest:
    """The bare procedure, on families by number and scores in [0, 1]. `SequentialGate` speaks of tasks and verdicts.

    Use: while `stage` is not None, `record` a pair for each task of each family in `families_of(stage)`, then `look`.
    """

    def __init__(
        self, tasks: Sequence[int], policy: GatePolicy, *, seed: int = 0, give_up_below: float = GIVE_UP_BELOW
    ) -> None:
        """`tasks`: how many tasks each family has; each is sampled once in every pass."""
        self._policy = policy
        self._give_up_below = give_up_below
        rng = random.Random(seed)
        self.order = rng.sample(range(len(tasks)), len(tasks))
        """Place in the order -> family. Drawn before any score is seen."""
        self._place = {family: place for place, family in enumerate(self.order)}
        self.families = [Progress(to_come=count * policy.samples) for count in tasks]
        self._pairs_planned = sum(tasks) * policy.samples
        self._stages = list(reversed(schedule(len(tasks), policy)))
        self._flips = SequentialSignFlip(len(tasks), policy.alpha, seed=rng.getrandbits(32))
        self._single = policy.alpha * self._flips.twins < 2.0
        self._missing = 0
        self._looks = 0
        self.outcome: Outcome | None = None

    @property
    def testable(self) -> bool:
        """Whether any scores at all could be accepted."""
        return self._flips.testable

    @property
    def stage(self) -> Stage | None:
        """What to gather next; None once the procedure has ended."""
        return self._stages[-1] if self.outcome is None else None

    def families_of(self, stage: Stage) -> list[int]:
        return self.order[stage.start : stage.stop]

    def record(self, family: int, before: float | None, after: float | None) -> None:
        """One pair of a family. A missing score drops the pair; it was paid for all the same."""
        progress = self.families[family]
        progress.to_come -= 1
        if before is None or after is None:
            self._missing += 1
            return
        progress.before += before
        progress.after += after
        progress.pairs += 1

    def look(self) -> Outcome | None:
        """Judge what is there at the end of the present stage."""
        stage = self._stages.pop()
        for family in self.families_of(stage):
            self._flips.set_effect(self._place[family], self.families[family].effect)
        self._looks += 1
        if self._enough_scored():
            self.outcome = self._flips.look(self._level(stage))
        if self.outcome is None and stage.final:
            self.outcome = "exhausted"
        if self.outcome is None and (self._cannot_recover() or (stage.may_give_up and self._hopeless())):
            self.outcome = "futile"
        return self.outcome

    @property
    def p_values(self) -> tuple[float, float]:
        """One-sided p of "no better" and of "no worse", in the order of the looks."""
        return self._flips.p_better, self._flips.p_worse

    @property
    def too_many_missing(self) -> bool:
        """Whether more of the pairs tried so far lack a score than the policy allows."""
        return self._missing > self._policy.max_unscored * self._pairs_used

    @property
    def looks(self) -> int:
        """How often the data were looked at."""
        return self._looks

    @property
    def pairs_planned(self) -> int:
        """Pairs that the full budget holds."""
        return self._pairs_planned

    @property
    def _pairs_used(self) -> int:
        return self._pairs_planned - sum(family.to_come for family in self.families)

    def _level(self, stage: Stage) -> float:
        effects = [family.effect for family in self.families]
        if stage.final:
            return final_level(effects, self._policy)
        if self._single:
            # Only one twin can ever be spent. It is kept for the end unless the data are as extreme as data can be.
            return 1.0 / self._flips.twins if all(abs(effect) >= _ALL_MOVED for effect in effects) else 0.0
        return pocock_spending(self._policy.alpha, self._pairs_used / self._pairs_planned)

    def _enough_scored(self) -> bool:
        scored = sum(family.pairs > 0 for family in self.families)
        return not self.too_many_missing and scored >= self._policy.min_families

    def _cannot_recover(self) -> bool:
        return self._missing > self._policy.max_unscored * self._pairs_planned

    def _hopeless(self) -> bool:
        return chance_of_acceptance(self.families, self._policy) < self._give_up_below


def schedule(families: int, policy: GatePolicy) -> list[Stage]:
    """The looks at the full budget, in order."""
    quarters = _cut(families, 4)
    steps = _cut(families, 4 * math.ceil(families / (4 * _MOST_BETWEEN_LOOKS)))
    first = _first_useful_look(families, policy)
    stages = []
    for sample in range(policy.samples):
        ends = steps if sample else sorted({first, *(end for end in steps if end > first)})
        for start, stop in zip([0, *ends], ends, strict=False):
            final = sample == policy.samples - 1 and stop == families
            may_give_up = stop in quarters[1:] or (sample == 0 and start == 0)
            stages.append(Stage(sample, start, stop, may_give_up=may_give_up, final=final))
    return stages


def _cut(families: int, parts: int) -> list[int]:
    """Where `parts` about equal parts of the order end."""
    return sorted({math.ceil(families * part / parts) for part in range(1, parts + 1)})


def _first_useful_look(families: int, policy: GatePolicy) -> int:
    """After how many families of the first pass the spending allows any acceptance: if every one of them got better."""
    for seen in range(min(policy.min_families, families), families):
        if 0.5**seen <= pocock_spending(policy.alpha, seen / (families * policy.samples)):
            return seen
    return families
