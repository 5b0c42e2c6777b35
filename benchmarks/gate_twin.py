"""The sequential gate once more, on arrays: many nights at a time, for the benchmark alone.

It covers what the benchmark simulates, one task in each family and nothing missing, and is of use only because
`tests/gate/test_twin.py` finds its outcomes, and the pairs it used, equal to those of `skillopt_sleep.gate` on more
than a thousand random nights.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr  # type: ignore[import-untyped]

from skillopt_sleep.domain.verdicts import GatePolicy
from skillopt_sleep.gate import futility, judge, looks
from skillopt_sleep.gate.looks import GIVE_UP_BELOW
from skillopt_sleep.stats import pocock_spending, sequential

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

OPEN: Final = 0
BETTER: Final = 1
WORSE: Final = 2
FUTILE: Final = 3
EXHAUSTED: Final = 4
NAMES: Final = {BETTER: "better", WORSE: "worse", FUTILE: "futile", EXHAUSTED: "exhausted"}

_CACHE = 1 << 18
"""Numbers of one array that are worked on at a time: about what a processor's cache holds."""
_SPENT: Final = -(1 << 28)
"""Below every sum; its negative is still a number."""


@dataclass(frozen=True)
class Decided:
    """What became of each night."""

    outcome: Ints
    used: Ints
    """Pairs."""
    effects: Floats
    """By family, over the pairs that were used."""
    counts: Ints
    """Pairs of each family."""


def outcomes(before: Floats, after: Floats, policy: GatePolicy, seeds: list[int], *, grid: int = 1) -> Decided:
    """Decide nights. Scores have the shape (nights, families, samples) and are multiples of 1/grid."""
    size = max(50, _CACHE >> min(10, before.shape[1]))
    parts = [
        _chunk(before[part], after[part], policy, seeds[part], grid)
        for part in (slice(start, start + size) for start in range(0, len(seeds), size))
    ]
    return Decided(
        outcome=np.concatenate([part.outcome for part in parts]),
        used=np.concatenate([part.used for part in parts]),
        effects=np.concatenate([part.effects for part in parts]),
        counts=np.concatenate([part.counts for part in parts]),
    )


def fixed_p(before: Floats, after: Floats) -> Floats:
    """The exact one-sided sign-flip p of pass/fail scores at the full budget."""
    gains = (after - before).sum(axis=2).astype(np.int64)
    nights, families = gains.shape
    middle = families * before.shape[2]
    weights = np.zeros((nights, 2 * middle + 1))
    weights[:, middle] = 1.0
    for family in range(families):
        grown = np.zeros_like(weights)
        for size in range(before.shape[2] + 1):
            rows = np.abs(gains[:, family]) == size
            grown[rows] = (np.roll(weights[rows], size, axis=1) + np.roll(weights[rows], -size, axis=1)) / 2
        weights = grown
    reached = np.arange(-middle, middle + 1)[None, :] >= gains.sum(axis=1)[:, None]
    return np.asarray((weights * reached).sum(axis=1))


def _chunk(before: Floats, after: Floats, policy: GatePolicy, seeds: list[int], grid: int) -> Decided:
    nights, families, samples = before.shape
    order, columns, bits = _orders(seeds, families, policy)
    rows = np.arange(nights)[:, None]
    before, after = before[rows, order], after[rows, order]  # now families stand in the order of sampling
    twins = np.arange(1 << bits, dtype=np.int32)
    state = _State(order, 1 << bits, grid, math.lcm(*range(1, samples + 1)) * grid)
    outcome = np.zeros(nights, dtype=np.int64)
    used = np.zeros(nights, dtype=np.int64)
    for stage in looks.schedule(families, policy):
        alive = np.flatnonzero(outcome == OPEN)
        if not len(alive):
            break
        for place in range(stage.start, stage.stop):
            state.record(alive, place, before[alive, place, stage.sample], after[alive, place, stage.sample])
            fresh = state.effect_units(alive, place)
            change = fresh - state.units[alive, place]
            state.units[alive, place] = fresh
            odd = np.bitwise_count(twins[None, :] & columns[alive, place][:, None]) & 1
            state.sums[alive] += change[:, None].astype(np.int32) * (1 - 2 * odd.astype(np.int32))
        used[alive] += stage.stop - stage.start
        outcome[alive] = _look(state, alive, stage, policy, used[alive])
    back = np.argsort(order, axis=1)
    return Decided(outcome, used, (state.units / state.unit)[rows, back], state.pairs.astype(np.int64)[rows, back])


def _orders(seeds: list[int], families: int, policy: GatePolicy) -> tuple[Ints, Ints, int]:
    wanted = max(10, math.ceil(math.log2(5 / policy.alpha)))
    bits = min(families, wanted, 14)
    order, columns = [], []
    for seed in seeds:
        rng = random.Random(seed)
        order.append(rng.sample(range(families), families))
        columns.append(sequential.group_columns(families, bits, rng.getrandbits(32)))
    return np.array(order), np.array(columns, dtype=np.int32), bits


class _State:
    """Sums over twins, what is spent of them, and the running totals of each arm."""

    def __init__(self, order: Ints, twins: int, grid: int, unit: int) -> None:
        nights, families = order.shape
        self.order, self.grid, self.unit = order, grid, unit
        self.sums = np.zeros((nights, twins), dtype=np.int32)
        self.units = np.zeros((nights, families), dtype=np.int64)
        self.before = np.zeros((nights, families))
        self.after = np.zeros((nights, families))
        self.pairs = np.zeros((nights, families))
        self.unspent = {side: np.ones((nights, twins), dtype=np.bool_) for side in (1, -1)}
        self.spent = {side: np.zeros(nights, dtype=np.int64) for side in (1, -1)}

    def record(self, alive: Ints, place: int, before: Floats, after: Floats) -> None:
        self.before[alive, place] += before
        self.after[alive, place] += after
        self.pairs[alive, place] += 1

    def effect_units(self, alive: Ints, place: int) -> Ints:
        gain = np.rint((self.after[alive, place] - self.before[alive, place]) * self.grid)
        return np.asarray(np.rint(gain * (self.unit / self.grid) / self.pairs[alive, place]).astype(np.int64))

    def spend(self, alive: Ints, side: int, allowance: Ints) -> Bools:
        """Spend the best unspent twins, ties together or not at all; whether the data themselves are spent."""
        values = np.where(self.unspent[side][alive], side * self.sums[alive], np.int32(_SPENT))
        own = values[:, 0]
        room = allowance - self.spent[side][alive]
        most = min(values.shape[1], int(max(room.max(initial=0), 0)) + 1)
        top = -np.sort(np.partition(-values, most - 1, axis=1)[:, :most], axis=1)
        # a twin may go if all that are as good as it still fit: so up to the first tie that does not; one that reaches
        # beyond `top` is counted too low, but still as more than there is room for
        fits = np.zeros(len(alive), dtype=np.int64)
        floor = np.full(len(alive), np.iinfo(np.int64).max)
        for place in range(most):
            value = top[:, place]
            as_good = (top >= value[:, None]).sum(axis=1)
            ok = (value > 0) & (as_good <= room) & (place == fits) & (own < floor)
            floor = np.where(ok, value, floor)
            fits = np.where(ok, as_good, fits)
            if not (fits > place).any():
                break
        taken = values >= floor[:, None]
        self.unspent[side][alive] &= ~taken
        self.spent[side][alive] += taken.sum(axis=1)
        return taken[:, 0]


def _look(state: _State, alive: Ints, stage: looks.Stage, policy: GatePolicy, used: Ints) -> Ints:
    families, twins = state.units.shape[1], state.sums.shape[1]
    effects = state.units[alive]
    planned = families * policy.samples
    unit = state.unit
    if stage.final:
        level = np.full(len(alive), policy.alpha)
        if _tie_rule(families, policy):
            level = np.where((effects == 0).any(axis=1), 2 / 32, level)
    elif policy.alpha * twins < 2.0:
        level = np.where((np.abs(effects) == unit).all(axis=1), 1.0 / twins, 0.0)
    else:
        level = np.array([pocock_spending(policy.alpha, count / planned) for count in used])
    allowance = np.floor(level * twins + 1e-9).astype(np.int64)
    found = np.zeros(len(alive), dtype=np.int64)
    found[state.spend(alive, 1, allowance)] = BETTER
    rest = found == OPEN
    worse = state.spend(alive[rest], -1, allowance[rest])
    found[np.flatnonzero(rest)[worse]] = WORSE
    if stage.final:
        found[found == OPEN] = EXHAUSTED
    elif stage.may_give_up and (found == OPEN).any():
        still = np.flatnonzero(found == OPEN)
        chance = _chance(state, alive[still], policy)
        found[still[chance < GIVE_UP_BELOW]] = FUTILE
    return found


def _chance(state: _State, alive: Ints, policy: GatePolicy) -> Floats:
    arms = state.before[alive], state.after[alive], state.pairs[alive]
    if state.units.shape[1] <= futility.SIMULATED_UP_TO:
        return _simulated(*arms, state.order[alive], policy, state.grid)
    return _approximated(*arms, policy)


def _simulated(before: Floats, after: Floats, pairs: Floats, order: Ints, policy: GatePolicy, grid: int) -> Floats:
    nights, families = before.shape
    rests = futility.completions(families, policy.samples)
    draws = np.array([rest.draws for rest in rests])  # completions, families, pairs to come, arm
    signs = 1.0 - 2.0 * ((np.arange(1 << families)[:, None] >> np.arange(families)) & 1)
    total = pairs.sum(axis=1)
    to_come = policy.samples - pairs
    coming = np.arange(policy.samples) < to_come[:, :, None]
    accepted = np.zeros(nights)
    for rest, numbers in zip(rests, draws, strict=True):
        drawn = numbers[order]  # a family keeps its numbers, wherever it stands in the order
        rates = [_pooled(arm.sum(axis=1), total, z)[:, None] for arm, z in zip((before, after), rest.z, strict=True)]
        chance_before = (before + 2.0 * rates[0]) / (pairs + 2.0)
        chance_after = (after + 2.0 * rates[1]) / (pairs + 2.0)
        better = (drawn[..., 1] < chance_after[:, :, None]) & coming
        worse = (drawn[..., 0] < chance_before[:, :, None]) & coming
        gain = np.rint(
            (after - before + better.sum(axis=2) - worse.sum(axis=2)) * grid
        )  # whole numbers: sums are exact
        sums = gain @ signs.T
        p = (sums >= sums[:, :1]).sum(axis=1) / (1 << families)
        level = np.full(nights, policy.alpha)
        if _tie_rule(families, policy):
            level = np.where((gain == 0).any(axis=1), 2 / 32, level)
        accepted += p <= level
    return accepted / len(rests)


def _tie_rule(families: int, policy: GatePolicy) -> bool:
    return policy.metric == "hard" and families == 5 and policy.alpha >= judge.TIE_RULE_ALPHA


def _pooled(total: Floats, pairs: Floats, z: float) -> Any:
    mean = (total + 0.5) / (pairs + 1.0)
    return np.clip(mean + z * np.sqrt(mean * (1.0 - mean) / (pairs + 2.0)), 0.0, 1.0)


def _approximated(before: Floats, after: Floats, pairs: Floats, policy: GatePolicy) -> Floats:
    planned = policy.samples
    to_come = planned - pairs
    total = pairs.sum(axis=1)
    pooled_before, pooled_after = ((arm.sum(axis=1) + 0.5) / (total + 1.0) for arm in (before, after))
    rate_before = (before + 2.0 * pooled_before[:, None]) / (pairs + 2.0)
    rate_after = (after + 2.0 * pooled_after[:, None]) / (pairs + 2.0)
    spread = rate_before * (1.0 - rate_before) + rate_after * (1.0 - rate_after)
    expected = (after - before + to_come * (rate_after - rate_before)) / planned
    noise = to_come * spread / planned**2
    weight = (to_come / planned * 2.0 / (pairs + 2.0)).sum(axis=1)
    pooled = pooled_before * (1.0 - pooled_before) + pooled_after * (1.0 - pooled_after)
    mean = expected.sum(axis=1)
    variance = noise.sum(axis=1) + weight**2 * pooled / (total + 1.0)
    square = (expected**2 + noise).sum(axis=1)
    quantile = NormalDist().inv_cdf(1.0 - policy.alpha)
    least = -math.log2(policy.alpha) / planned if policy.metric == "hard" else 0.0
    needed = np.maximum(quantile * np.sqrt(square), least)
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = ndtr((mean - needed) / np.sqrt(variance))
    return np.asarray(np.where(variance == 0.0, ((mean > 0.0) & (mean >= needed)).astype(float), chance))
