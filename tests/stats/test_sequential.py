from __future__ import annotations

import itertools
import random

import pytest

from skillopt_sleep.stats import SequentialSignFlip, pocock_spending, sign_flip_p

EFFECTS = (1 / 3, 1.0, -1 / 3, 2 / 3, 1 / 3, 1.0)


def test_over_all_swapped_data_at_most_alpha_is_ever_called_better() -> None:
    """The defining property, by enumeration: a fixed path of |effects|, every pattern of signs, many looks."""
    rng = random.Random(2)
    path = [[rng.choice((0, 1, 2, 3)) / 3 for _ in range(7)] for _ in range(5)]
    called = 0
    for signs in itertools.product((1, -1), repeat=7):
        test = SequentialSignFlip(7, 0.1)
        answers = []
        for number, sizes in enumerate(path, 1):
            for family, size in enumerate(sizes):
                test.set_effect(family, signs[family] * size)
            answers.append(test.look(pocock_spending(0.1, number / len(path))))
        called += "better" in answers
    assert 0 < called <= 0.1 * 2**7


@pytest.mark.parametrize("families", [6, 9])
def test_a_single_look_is_the_plain_sign_flip_test(families: int) -> None:
    rng = random.Random(families)
    effects = [rng.choice((-1, 0, 1, 2, 3)) / 3 for _ in range(families)]
    test = SequentialSignFlip(families, 0.05)
    for family, effect in enumerate(effects):
        test.set_effect(family, effect)
    assert test.p_better == sign_flip_p(effects)
    assert test.p_worse == sign_flip_p([-effect for effect in effects])
    assert (test.look(0.05) == "better") == (sign_flip_p(effects) <= 0.05)


def test_a_level_below_one_twin_spends_nothing() -> None:
    test = SequentialSignFlip(8, 0.0025)
    for family in range(8):
        test.set_effect(family, 1.0)
    assert not test.testable
    assert test.look(0.0025) is None


def test_ties_at_the_top_are_spent_together_or_not_at_all() -> None:
    test = SequentialSignFlip(5, 0.05)
    for family in range(4):
        test.set_effect(family, 1.0)
    assert test.look(0.05) is None, "the fifth family is a tie, so two twins stand at the top and alpha holds one"
    assert test.look(2 / 32) == "better"


def test_many_families_use_a_group_that_holds_every_mirror_image() -> None:
    test = SequentialSignFlip(40, 0.05, seed=3)
    for family in range(40):
        test.set_effect(family, -1.0)
    assert (test.twins, test.look(0.05)) == (1024, "worse")


def test_a_tiny_alpha_does_not_need_an_endless_group() -> None:
    test = SequentialSignFlip(60, 1e-9)
    assert test.twins == 2**14
    assert not test.testable


def test_pocock_spending_runs_from_nothing_to_alpha() -> None:
    assert pocock_spending(0.05, 0.0) == 0.0
    assert pocock_spending(0.05, 1.0) == pytest.approx(0.05)
    assert pocock_spending(0.05, 0.5) == pytest.approx(0.031, abs=0.0005)
