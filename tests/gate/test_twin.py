from __future__ import annotations

import random

import numpy as np
import pytest

from benchmarks import gate_twin
from benchmarks.gate_twin import Floats
from skillopt_sleep.domain.verdicts import GatePolicy, Metric
from skillopt_sleep.gate.looks import SequentialTest
from skillopt_sleep.stats import sign_flip_p


def random_nights(families: int, nights: int, grid: int) -> tuple[Floats, Floats, list[int]]:
    """Scores before and after in steps of 1/grid, of edits that do all kinds of things, and a seed for each night."""
    rng = random.Random(f"{families}/{grid}")
    before, after = (np.zeros((nights, families, 3)) for _ in range(2))
    for night in range(nights):
        effect = rng.choice((0.0, 0.0, 0.3, 0.6, 1.0, -0.4))
        for family in range(families):
            rate = rng.random()
            for sample in range(3):
                before[night, family, sample] = sum(rng.random() < rate for _ in range(grid)) / grid
                after[night, family, sample] = sum(rng.random() < rate + effect for _ in range(grid)) / grid
    return before, after, [rng.getrandbits(32) for _ in range(nights)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("families", "alpha", "nights", "metric"),
    [
        (5, 0.05, 200, "hard"),
        (6, 0.05, 50, "hard"),
        (8, 0.05, 150, "hard"),
        (8, 0.00625, 50, "hard"),
        (9, 0.0025, 50, "hard"),
        (12, 0.03125, 150, "hard"),
        (13, 0.004, 50, "hard"),
        (20, 0.05, 200, "hard"),
        (40, 0.00625, 100, "hard"),
        (5, 0.05, 100, "soft"),
        (8, 0.03125, 100, "soft"),
        (20, 0.03125, 100, "soft"),
    ],
)
def test_the_twin_decides_a_thousand_random_nights_as_the_gate_does(
    families: int, alpha: float, nights: int, metric: Metric
) -> None:
    policy = GatePolicy(alpha=alpha, metric=metric)
    grid = 1 if metric == "hard" else 5
    before, after, seeds = random_nights(families, nights, grid)
    decided = gate_twin.outcomes(before, after, policy, seeds, grid=grid)
    for night, seed in enumerate(seeds):
        test = SequentialTest([1] * families, policy, seed=seed)
        while stage := test.stage:
            for family in test.families_of(stage):
                scores = before[night, family, stage.sample], after[night, family, stage.sample]
                test.record(family, float(scores[0]), float(scores[1]))
            test.look()
        assert gate_twin.NAMES[int(decided.outcome[night])] == test.outcome, night
        assert list(decided.counts[night]) == [family.pairs for family in test.families], night
        assert [family.effect for family in test.families] == pytest.approx(list(decided.effects[night]))


@pytest.mark.parametrize("families", [5, 12, 30])
def test_the_twin_of_the_fixed_test_gives_the_exact_p(families: int) -> None:
    before, after, _ = random_nights(families, 20, 1)
    exact = [sign_flip_p([float(effect) for effect in night]) for night in (after - before).mean(axis=2)]
    assert list(gate_twin.fixed_p(before, after)) == pytest.approx(exact)
