"""Exact statistics for small paired samples: no approximation where counting is possible, no dependency.

The unit is the family. `effects` holds one number in [-1, 1] for each: its mean score after minus its mean score
before. If the edit does nothing, before and after may be swapped within a family without changing what could have
been seen; so the data at hand is as likely as each of its 2^n swapped twins. Everything below counts such twins.

Swapping the families in a set S turns the sum of effects D into D - 2*sum(S). A twin is therefore at least as good as
the data exactly when the effects of S add up to zero or less: the p-value is the share of such sets, the empty one
(the data itself) included.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from statistics import NormalDist

_EXACT_ENTRIES = 4096
"""Distinct (size, sum) entries that each half of the families may have before sampling takes over. That covers 24
families with any scores, and hundreds with pass/fail scores, whose sums mostly coincide."""
_SAMPLED_TWINS = 20_000

_Entries = dict[tuple[int, int], int]


def sign_flip_p(effects: Sequence[float], *, seed: int = 0) -> float:
    """One-sided p of "no better than before", by the paired sign-flip test on the sum of effects.

    Exact for up to 24 families, and for more where scores are coarse; otherwise estimated from 20,000 seeded twins
    with the data itself among them, which keeps the test valid (it can then never be 0). Ties count against the
    effect. No families: 1.0. The mirrored test ("no worse than before") is the p of the negated effects.

    Source: Fisher, The Design of Experiments (1935), section 21; Pitman (1937); sampling with the identity included:
    Dwass (1957), Phipson and Smyth (2010).
    """
    twins = _Twins.of(effects, seed)
    return twins.at_least_as_good(0) / twins.total


def sign_flip_interval(effects: Sequence[float], *, confidence: float = 0.90, seed: int = 0) -> tuple[float, float]:
    """Two-sided confidence interval of the mean effect: every shift that the sign-flip test would not refuse.

    Exact under effects that are symmetric about their mean; its ends are means of subsets of the effects (Hartigan,
    "Using subsample values as typical values", JASA 1969). Bounded to [-1, 1], and that whole range where there are
    too few families to refuse anything: fewer than five at 90 %. When all effects are equal the interval is that one
    point: it speaks of these families only, and cannot know what others would have shown.
    """
    tail = (1.0 - confidence) / 2
    low = _lower_end(_Twins.of(effects, seed), tail)
    high = -_lower_end(_Twins.of([-effect for effect in effects], seed), tail)
    return round(low, 9), round(high, 9) + 0.0  # "+ 0.0" turns -0.0 into 0.0


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p-values, in the given order: those at most alpha hold together at family-wise error alpha.

    Valid under any dependence. Source: Holm, "A simple sequentially rejective multiple test procedure" (1979).
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    scaled = (min(1.0, (len(order) - rank) * p_values[index]) for rank, index in enumerate(order))
    adjusted = dict(zip(order, accumulate(scaled, max), strict=True))
    return tuple(adjusted[index] for index in range(len(p_values)))


def wilson_interval(successes: int, trials: int, *, confidence: float = 0.90) -> tuple[float, float]:
    """Two-sided score interval of a proportion; (0, 1) without trials.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference", JASA 1927.
    """
    if trials == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1.0 + confidence) / 2)
    share = successes / trials
    centre = share + z * z / (2 * trials)
    spread = z * math.sqrt(share * (1.0 - share) / trials + z * z / (4 * trials * trials))
    scale = 1.0 + z * z / trials
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


@dataclass(frozen=True, slots=True)
class _Twins:
    """The sets of families that could be swapped, counted by size and sum of effects.

    A set is a choice in the left half joined to a choice in the right half ("meet in the middle"), so 2^n sets cost
    2^(n/2) entries, and far fewer where sums coincide. Sums are integers: `scale` units make 1.0.
    """

    left: _Entries
    right: _Entries
    total: int
    scale: int
    slack: int
    """How far from zero, in units, a sum may be and still count as a tie: rounding must not break one."""

    @classmethod
    def of(cls, effects: Sequence[float], seed: int) -> _Twins:
        units, scale, slack = _in_units(effects)
        left, right = _subsets(units[::2]), _subsets(units[1::2])
        if left is not None and right is not None:
            return cls(left, right, 2 ** len(units), scale, slack)
        return cls(_sampled_subsets(units, seed), {(0, 0): 1}, _SAMPLED_TWINS, scale, slack)

    def at_least_as_good(self, shift: int) -> int:
        """How many twins reach the data's own sum once `shift` units are taken off every effect."""
        rows = sorted((total - shift * size, ways) for (size, total), ways in self.right.items())
        sums = [total for total, _ in rows]
        ways_up_to = list(accumulate((ways for _, ways in rows), initial=0))
        return sum(
            ways * ways_up_to[bisect_right(sums, self.slack - (total - shift * size))]
            for (size, total), ways in self.left.items()
        )


def _in_units(effects: Sequence[float]) -> tuple[list[int], int, int]:
    """Effects as integers, the units per 1.0, and the slack for ties.

    Means of a few scores are fractions with small denominators; on their common grid 1/3 + 2/3 ties with 1 exactly.
    """
    fractions = [Fraction(effect).limit_denominator(1000) for effect in effects]
    common = math.lcm(*(fraction.denominator for fraction in fractions))
    close = all(abs(float(f) - effect) < 1e-12 for f, effect in zip(fractions, effects, strict=True))
    if close and common <= 10**9:
        scale = common * -(-(10**9) // common)  # a multiple, fine enough for the ends of an interval
        return [int(fraction * scale) for fraction in fractions], scale, 0
    scale = 10**12
    return [round(effect * scale) for effect in effects], scale, len(effects)


def _subsets(units: Iterable[int]) -> _Entries | None:
    """All subsets by (size, sum), with how many there are of each; None once there are too many entries."""
    entries: _Entries = {(0, 0): 1}
    for unit in units:
        grown = dict(entries)
        for (size, total), ways in entries.items():
            key = (size + 1, total + unit)
            grown[key] = grown.get(key, 0) + ways
        if len(grown) > _EXACT_ENTRIES:
            return None
        entries = grown
    return entries


def _sampled_subsets(units: Sequence[int], seed: int) -> _Entries:
    """The empty set and seeded random ones, `_SAMPLED_TWINS` in all."""
    rng = random.Random(seed)
    entries: _Entries = {(0, 0): 1}
    for _ in range(_SAMPLED_TWINS - 1):
        bits = rng.getrandbits(len(units))
        chosen = [unit for index, unit in enumerate(units) if bits >> index & 1]
        key = (len(chosen), sum(chosen))
        entries[key] = entries.get(key, 0) + 1
    return entries


def _lower_end(twins: _Twins, tail: float) -> float:
    """The smallest shift whose upper-tail p exceeds `tail`; p grows with the shift, so halving finds it."""
    low, high = -twins.scale, twins.scale
    while low < high:
        middle = (low + high) // 2
        if twins.at_least_as_good(middle) > tail * twins.total:
            high = middle
        else:
            low = middle + 1
    return low / twins.scale
