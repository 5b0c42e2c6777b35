"""Which of the understood instructions a simulated model obeys this time."""

from __future__ import annotations

import math
from collections.abc import Sequence

from skillopt_sleep.backend.sim.aims import Instruction, contradict
from skillopt_sleep.backend.sim.dice import Dice
from skillopt_sleep.backend.sim.reading import Reading
from skillopt_sleep.backend.sim.temperament import Temperament

_IGNORED_WEIGHT = 0.2
"""A statement that is not understood crowds the prompt a little."""
_SPREAD = 0.7
"""Logits by which requests differ in difficulty, at most, either way."""
_LATER_PREVAILS = 0.65
"""Of two contrary instructions of the same kind, the later one is followed that often."""


def obeyed(reading: Reading, request: str, temperament: Temperament, dice: Dice) -> list[Instruction]:
    """The instructions that the reply will follow. Of two that contradict each other, at most one."""
    everything = reading.instructions
    crowding = temperament.crowding * math.log2(max(1.0, len(everything) + _IGNORED_WEIGHT * reading.ignored))
    ease = difficulty(request) - crowding
    followed: list[Instruction] = []
    for index, one in enumerate(everything):
        if dice.roll("obey", index, one) < probability(one, everything, temperament, ease):
            followed = _settle(followed, one, dice)
    return followed


def probability(
    one: Instruction, everything: Sequence[Instruction], temperament: Temperament, ease: float = 0.0
) -> float:
    """How likely one instruction is obeyed among all of them; `ease` in logits."""
    logit = (temperament.concrete if one.concrete else temperament.vague) + ease
    if one.example:
        logit += temperament.example
    if any(contradict(one, other) for other in everything):
        logit -= temperament.torn * (0.5 if one.insistent else 1.0)
    return 1.0 / (1.0 + math.exp(-logit))


def difficulty(request: str) -> float:
    """Logits that a request adds or takes away: the same under every skill."""
    return (2.0 * Dice("difficulty").roll(request) - 1.0) * _SPREAD


def _settle(followed: list[Instruction], one: Instruction, dice: Dice) -> list[Instruction]:
    """Takes one more in, and drops it or what it contradicts: the concrete one stays, then rather the later one."""
    for other in followed:
        if not contradict(one, other):
            continue
        if not (dice.roll("settle", one, other) < _LATER_PREVAILS if one.concrete == other.concrete else one.concrete):
            return followed
        followed = [kept for kept in followed if kept is not other]
    return [*followed, one]
