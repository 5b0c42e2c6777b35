"""How likely the rest of the budget is to end in acceptance: what tells the gate when to give up.

Giving up can only take acceptances away, so nothing here touches the false-accept rate; it decides what a night costs.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

from skillopt_sleep import stats
from skillopt_sleep.domain.verdicts import GatePolicy
from skillopt_sleep.gate.judge import final_level

_PRIOR_WEIGHT = 2.0
"""A family's pass rate is shrunk towards its arm's pooled rate as if the pooled rate had been seen in two samples."""
SIMULATED_UP_TO = 8
"""With more families the final sum is close enough to normal, and simulation would only cost time."""
_COMPLETIONS = 100


@dataclass(slots=True)
class Progress:
    """What one family has shown so far: summed scores of each arm over its complete pairs, and how many are to come."""

    before: float = 0.0
    after: float = 0.0
    pairs: int = 0
    to_come: int = 0

    @property
    def effect(self) -> float:
        return (self.after - self.before) / self.pairs if self.pairs else 0.0

    def completed(self, rates: tuple[float, float], draws: Sequence[tuple[float, float]]) -> float:
        """The effect after a rest made of these uniform numbers, at rates shrunk towards the given ones."""
        before, after = _shrunk(self.before, self.pairs, rates[0]), _shrunk(self.after, self.pairs, rates[1])
        gain = self.after - self.before
        for u, v in draws[: self.to_come]:
            gain += (v < after) - (u < before)
        planned = self.pairs + self.to_come
        return gain / planned if planned else 0.0


@dataclass(frozen=True, slots=True)
class Completion:
    """The random numbers of one simulated rest."""

    z: tuple[float, float]
    """Where the pooled rates lie in their uncertainty, in standard deviations."""
    draws: tuple[tuple[tuple[float, float], ...], ...]
    """For each family, for each pair to come: uniform numbers for the attempt before and the one after."""


@lru_cache(maxsize=64)
def completions(families: int, pairs: int) -> tuple[Completion, ...]:
    """The rests that predictions for so many families with so many pairs each are made from.

    Always the same ones, so that a prediction is a function of the data: a test that is continued in another night
    stops where it would have stopped in one.
    """
    rng = random.Random(f"completions/{families}/{pairs}")
    normal = NormalDist()
    return tuple(
        Completion(
            z=(normal.inv_cdf(rng.uniform(1e-6, 1 - 1e-6)), normal.inv_cdf(rng.uniform(1e-6, 1 - 1e-6))),
            draws=tuple(tuple((rng.random(), rng.random()) for _ in range(pairs)) for _ in range(families)),
        )
        for _ in range(_COMPLETIONS)
    )


def chance_of_acceptance(families: Sequence[Progress], policy: GatePolicy) -> float:
    """Predictive probability that one test at the full budget accepts, were the rest like what was seen so far.

    Scores to come are drawn as pass or fail at each family's shrunk rate; the pooled rates themselves are uncertain,
    which early on is most of what is not known. Simulated for few families (a hundred completions), by the normal
    approximation otherwise.
    """
    if len(families) <= SIMULATED_UP_TO:
        return _simulated(families, policy)
    return _approximated(families, policy)


def _simulated(families: Sequence[Progress], policy: GatePolicy) -> float:
    pairs, before, after = _totals(families)
    accepted = 0
    for rest in completions(len(families), max(family.pairs + family.to_come for family in families)):
        rates = _pooled(before, pairs, rest.z[0]), _pooled(after, pairs, rest.z[1])
        effects = [family.completed(rates, draws) for family, draws in zip(families, rest.draws, strict=True)]
        accepted += _p(tuple(sorted(effects))) <= final_level(effects, policy)
    return accepted / _COMPLETIONS


def _pooled(total: float, pairs: int, z: float) -> float:
    """An arm's pass rate, `z` standard deviations from the best guess."""
    mean = (total + 0.5) / (pairs + 1.0)
    return min(1.0, max(0.0, mean + z * math.sqrt(_variance(mean) / (pairs + 2.0))))


@lru_cache(maxsize=4096)
def _p(effects: tuple[float, ...]) -> float:
    """Completions of pass/fail scores fall on few distinct sets of effects, so most of them have been met before."""
    return stats.sign_flip_p(effects)


def _approximated(families: Sequence[Progress], policy: GatePolicy) -> float:
    """The final sum of effects as a normal variable, against the sum that the sign-flip test would then ask for."""
    pairs, total_before, total_after = _totals(families)
    pooled_before, pooled_after = (total_before + 0.5) / (pairs + 1.0), (total_after + 0.5) / (pairs + 1.0)
    mean = variance = square = weight = 0.0
    for family in families:
        before, after = (
            _shrunk(family.before, family.pairs, pooled_before),
            _shrunk(family.after, family.pairs, pooled_after),
        )
        planned = max(1, family.pairs + family.to_come)
        expected = (family.after - family.before + family.to_come * (after - before)) / planned
        noise = family.to_come * (_variance(before) + _variance(after)) / planned**2
        mean, variance, square = mean + expected, variance + noise, square + expected**2 + noise
        weight += family.to_come / planned * _PRIOR_WEIGHT / (family.pairs + _PRIOR_WEIGHT)
    variance += weight**2 * (_variance(pooled_before) + _variance(pooled_after)) / (pairs + 1.0)
    needed = max(NormalDist().inv_cdf(1.0 - policy.alpha) * math.sqrt(square), _least_sum(families, policy))
    if variance == 0.0:
        return float(0.0 < mean >= needed)
    return NormalDist().cdf((mean - needed) / math.sqrt(variance))


def _least_sum(families: Sequence[Progress], policy: GatePolicy) -> float:
    """The smallest sum any acceptance can have: log2(1/alpha) families, each better by one pass of those planned.

    Where nearly everything passes or fails in both arms, the normal approximation would hope on without this.
    """
    if policy.metric != "hard":
        return 0.0
    return -math.log2(policy.alpha) / max(family.pairs + family.to_come for family in families)


def _totals(families: Sequence[Progress]) -> tuple[int, float, float]:
    return sum(f.pairs for f in families), sum(f.before for f in families), sum(f.after for f in families)


def _shrunk(total: float, pairs: int, pooled: float) -> float:
    return (total + _PRIOR_WEIGHT * pooled) / (pairs + _PRIOR_WEIGHT)


def _variance(rate: float) -> float:
    return rate * (1.0 - rate)
