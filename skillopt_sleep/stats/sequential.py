"""The sign-flip test with looks: how to watch the evidence come in without fooling oneself."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

_GROUP_BITS = 10
_MOST_GROUP_BITS = 14
_TWINS_WITHIN_ALPHA = 5
"""A subgroup is made so large that alpha holds this many twins, as far as `_MOST_GROUP_BITS` goes."""
_UNITS = 10**12


def pocock_spending(alpha: float, used: float) -> float:
    """How much of alpha may be spent once the share `used` of the budget is: early looks get a fair part of it.

    Source: Lan and DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 1983 (Pocock type).
    """
    return alpha * math.log(1.0 + (math.e - 1.0) * min(1.0, used))


def testable_by_looks(families: int, alpha: float) -> bool:
    """Whether `SequentialSignFlip` could call any data at all better: alpha holds at least one twin of its group."""
    return alpha * (1 << _group_bits(families, alpha)) >= 1.0


class SequentialSignFlip:
    """The sign-flip test, looked at as often as one likes while the effects come in.

    It keeps a group of swapped twins and, at each look, spends the best of those not spent before: as many as the
    level allows, ties together or not at all. The data count as better once they themselves are spent. Whatever the
    looks, at most the share `level` of the twins is ever spent; and were the edit idle, each twin could as well have
    been the data: so this is the probability of a false "better", exactly. The mirrored side works alike for "worse".

    Up to ten families (more for a small alpha) the group holds all twins, beyond that it is a subgroup drawn by
    `seed`; a subgroup of swaps keeps the argument exact, where a loose sample would keep it only on average (Hemerik
    and Goeman, "Exact testing with random permutations", TEST 2018). What decides when to look, how much to spend and
    what to draw next must not change when before and after are swapped; stopping for want of promise may.
    """

    def __init__(self, families: int, alpha: float, *, seed: int = 0) -> None:
        bits = _group_bits(families, alpha)
        self.twins: int = 1 << bits
        self._columns = group_columns(families, bits, seed)
        self._alpha, self._bits = alpha, bits
        self._effects = [0] * families
        self._sums = [0] * self.twins
        """For each twin the sum of its effects, in units of 1e-12; the data themselves are twin 0."""
        self._better, self._worse = _Spending(self.twins), _Spending(self.twins)

    def set_effect(self, family: int, effect: float) -> None:
        """The present mean effect of one family; 0 until it is set."""
        units = round(effect * _UNITS)
        change, self._effects[family] = units - self._effects[family], units
        if change:
            signs = _signs(self._columns[family], self._bits)
            self._sums = [
                total + change if kept else total - change for total, kept in zip(self._sums, signs, strict=True)
            ]

    @property
    def testable(self) -> bool:
        """Whether any data at all could be called better: alpha holds at least one twin."""
        return self._alpha * self.twins >= 1.0

    def look(self, level: float) -> Literal["better", "worse"] | None:
        """Spend up to `level` (of all looks so far together) on both sides; what the data now count as, if anything."""
        allowance, slack = math.floor(level * self.twins + 1e-9), len(self._effects)
        if self._better.spend(self._sums, allowance, slack):
            return "better"
        return "worse" if self._worse.spend([-total for total in self._sums], allowance, slack) else None

    @property
    def p_better(self) -> float:
        """One-sided p in the order of the looks: twins spent so far, and those left that are as good as the data."""
        return self._better.as_good(self._sums, len(self._effects)) / self.twins

    @property
    def p_worse(self) -> float:
        """The p of the mirrored test."""
        return self._worse.as_good([-total for total in self._sums], len(self._effects)) / self.twins


class _Spending:
    """One side's unspent twins, in order: while the data are unspent, they stand first."""

    def __init__(self, twins: int) -> None:
        self.unspent = list(range(twins))
        self.spent = 0

    @property
    def reached_data(self) -> bool:
        return not self.unspent or self.unspent[0] != 0

    def spend(self, sums: Sequence[int], allowance: int, slack: int) -> bool:
        """Whether the data are spent after this look. `slack`: how far apart two sums may be and still tie."""
        while not self.reached_data and self.spent < allowance:
            best = max(sums[twin] for twin in self.unspent)
            left = [twin for twin in self.unspent if sums[twin] < best - slack]
            taken = len(self.unspent) - len(left)
            if best <= slack or self.spent + taken > allowance:
                break
            self.unspent = left
            self.spent += taken
        return self.reached_data

    def as_good(self, sums: Sequence[int], slack: int) -> int:
        if self.reached_data:
            return self.spent
        return self.spent + sum(sums[twin] >= sums[0] - slack for twin in self.unspent)


def _group_bits(families: int, alpha: float) -> int:
    wanted = max(_GROUP_BITS, math.ceil(math.log2(_TWINS_WITHIN_ALPHA / alpha)))
    return min(families, wanted, _MOST_GROUP_BITS)


def group_columns(families: int, bits: int, seed: int) -> list[int]:
    """One column of `bits` bits for each family: twin t swaps a family when both share an odd number of ones.

    The first families get one bit each, so that they are swapped independently; the others get distinct columns with
    an odd number of ones, which keeps families pairwise independent and every twin's mirror image in the group.
    """
    columns = [1 << bit for bit in range(bits)]
    if families <= bits:
        return columns[:families]
    odd = _odd_columns(bits)
    rng = random.Random(seed)
    more = families - bits
    chosen = rng.sample(odd, more) if more <= len(odd) else rng.choices(odd, k=more)
    return columns + chosen


@lru_cache(maxsize=16)
def _odd_columns(bits: int) -> tuple[int, ...]:
    return tuple(column for column in range(1, 1 << bits) if column.bit_count() % 2 and column.bit_count() > 1)


@lru_cache(maxsize=1024)
def _signs(column: int, bits: int) -> tuple[bool, ...]:
    """For every twin whether it leaves the family as it is."""
    return tuple((twin & column).bit_count() % 2 == 0 for twin in range(1 << bits))
