"""Each function against an oracle that shares nothing with it: scipy, or the definition written out in full."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats  # type: ignore[import-untyped]

from skillopt_sleep.stats import holm, sign_flip_interval, sign_flip_p, wilson_interval

THIRDS = st.integers(-3, 3).map(lambda k: k / 3)
SOFT = st.floats(-1.0, 1.0, allow_nan=False).map(lambda x: round(x, 3))


def _p_by_definition(effects: Sequence[Fraction], shift: Fraction = Fraction(0)) -> Fraction:
    moved = [effect - shift for effect in effects]
    twins = list(itertools.product((1, -1), repeat=len(moved)))
    good = sum(sum(s * d for s, d in zip(signs, moved, strict=True)) >= sum(moved) for signs in twins)
    return Fraction(good, len(twins))


def _thirds(effects: Sequence[float]) -> list[Fraction]:
    return [Fraction(round(effect * 3), 3) for effect in effects]


@settings(max_examples=60, deadline=None)
@given(st.lists(THIRDS, max_size=8))
def test_the_p_value_counts_the_swapped_twins_that_are_at_least_as_good(effects: list[float]) -> None:
    assert sign_flip_p(effects) == _p_by_definition(_thirds(effects))


@settings(max_examples=25, deadline=None)
@given(st.lists(SOFT, min_size=2, max_size=9))
def test_the_p_value_agrees_with_scipy(effects: list[float]) -> None:
    def total(x: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.asarray(np.round(np.sum(x, axis=axis), 9))

    oracle = scipy_stats.permutation_test(
        (np.asarray(effects),), total, permutation_type="samples", n_resamples=np.inf, alternative="greater"
    )
    assert sign_flip_p(effects) == pytest.approx(oracle.pvalue, abs=1e-12)


def test_many_coarse_families_stay_exact() -> None:
    rng = random.Random(3)
    effects = [rng.choice((-1, 0, 1, 1)) / 1 for _ in range(60)]
    up, down = effects.count(1), effects.count(-1)
    exact = scipy_stats.binomtest(up, up + down, 0.5, alternative="greater").pvalue
    assert sign_flip_p(effects) == pytest.approx(exact, rel=1e-9)


def test_sums_of_thirds_tie_exactly_and_ties_count_against_the_effect() -> None:
    assert (
        sign_flip_p([1 / 3, 2 / 3, -1.0]) == _p_by_definition([Fraction(1, 3), Fraction(2, 3), Fraction(-1)]) == 5 / 8
    )


def test_with_many_families_of_fine_scores_the_sampled_p_is_seeded_close_and_never_zero() -> None:
    rng = random.Random(5)
    effects = [rng.uniform(-0.5, 0.7) for _ in range(40)]
    z = sum(effects) / sum(d * d for d in effects) ** 0.5
    assert sign_flip_p(effects, seed=1) == sign_flip_p(effects, seed=1)
    assert sign_flip_p(effects, seed=1) == pytest.approx(scipy_stats.norm.sf(z), abs=0.01)
    assert 0.0 < sign_flip_p([abs(d) + 0.01 for d in effects]) <= 1 / 10_000


def test_no_families_or_only_ties_show_nothing() -> None:
    assert sign_flip_p([]) == sign_flip_p([0.0] * 8) == 1.0


@settings(max_examples=12, deadline=None)
@given(st.lists(THIRDS, min_size=5, max_size=6))
def test_the_interval_holds_the_shifts_that_the_test_does_not_refuse(effects: list[float]) -> None:
    exact = _thirds(effects)
    means = {sum(c, Fraction(0)) / r for r in range(1, len(exact) + 1) for c in itertools.combinations(exact, r)}
    kept_below = min(m for m in means if _p_by_definition(exact, m) > Fraction(1, 20))
    kept_above = max(m for m in means if _p_by_definition([-d for d in exact], -m) > Fraction(1, 20))
    assert sign_flip_interval(effects) == pytest.approx((float(kept_below), float(kept_above)), abs=1e-8)


@pytest.mark.parametrize("families", [0, 1, 2, 3, 4])
def test_below_five_families_the_interval_excludes_nothing_on_the_far_side(families: int) -> None:
    low, high = sign_flip_interval([0.5] * families)
    assert (low, high) == (-1.0, 1.0)


def test_five_families_give_the_range_of_their_effects() -> None:
    assert sign_flip_interval([0.2, 0.9, -0.1, 0.4, 0.5]) == pytest.approx((-0.1, 0.9))


def test_only_ties_give_a_point() -> None:
    assert sign_flip_interval([0.0] * 6) == (0.0, 0.0)
    assert str(sign_flip_interval([0.0] * 6)) == "(0.0, 0.0)"


def test_the_interval_covers_the_true_mean_as_often_as_it_says() -> None:
    rng = random.Random(11)
    covered = 0
    for _ in range(200):
        low, high = sign_flip_interval([max(-1.0, min(1.0, rng.gauss(0.2, 0.2))) for _ in range(9)])
        covered += low <= 0.2 <= high
    assert 0.85 <= covered / 200 <= 0.95


def test_the_interval_of_many_fine_scores_is_close_to_the_t_interval() -> None:
    rng = random.Random(7)
    effects = [rng.gauss(0.1, 0.25) for _ in range(60)]
    mean, sem = np.mean(effects), scipy_stats.sem(effects)
    expected = scipy_stats.t.interval(0.9, df=59, loc=mean, scale=sem)
    assert sign_flip_interval([max(-1.0, min(1.0, d)) for d in effects]) == pytest.approx(expected, abs=0.02)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), max_size=6))
def test_holm_equals_the_closed_test_built_from_bonferroni(p_values: list[float]) -> None:
    def closed(index: int) -> float:
        others = [i for i in range(len(p_values)) if i != index]
        families = [(index, *c) for r in range(len(others) + 1) for c in itertools.combinations(others, r)]
        return max(min(1.0, len(family) * min(p_values[i] for i in family)) for family in families)

    assert holm(p_values) == pytest.approx([closed(i) for i in range(len(p_values))])


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_wilson_interval_agrees_with_scipy(counts: tuple[int, int]) -> None:
    successes, trials = counts
    oracle = scipy_stats.binomtest(successes, trials).proportion_ci(0.9, method="wilson")
    assert wilson_interval(successes, trials) == pytest.approx((oracle.low, oracle.high), abs=1e-9)


def test_the_wilson_interval_without_trials_is_everything() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)
