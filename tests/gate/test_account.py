from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep import gate
from skillopt_sleep.domain.gate_tests import GateTest, Question
from skillopt_sleep.domain.verdicts import GatePolicy
from skillopt_sleep.gate import account

POLICY = GatePolicy()


def families(*numbers: int) -> dict[str, tuple[str, ...]]:
    return {f"f{number}": (f"t{number}",) for number in numbers}


def a_test(numbers: Sequence[int], level: float, *, name: str = "edit", looks: int = 1, number: int = 1) -> GateTest:
    question = Question(skill="s", before_sha256="b", after_sha256=name, agent="a", judge="j", metric="hard")
    return GateTest(
        question=question,
        families=families(*numbers),
        policy=POLICY.model_copy(update={"alpha": level}),
        seed=0,
        number=number,
        looks=looks,
    )


def at(level: float) -> GatePolicy:
    return POLICY.model_copy(update={"alpha": level})


def levels(count: int, tests: int = 12, policy: GatePolicy = POLICY) -> list[float]:
    """The levels that one test after the other gets on the same families."""
    past: list[GateTest] = []
    while len(past) < tests:
        granted = account.grant(families(*range(count)), past, policy)
        if granted.level is None:
            break
        assert granted.number == len(past) + 1
        past.append(a_test(range(count), granted.level, name=f"edit {len(past)}", number=granted.number))
    return [test.policy.alpha for test in past]


@pytest.mark.parametrize("count", [5, 6, 7])
def test_under_eight_families_there_is_one_test_at_full_alpha_and_then_none(count: int) -> None:
    assert levels(count) == [0.05]


@pytest.mark.parametrize(("count", "tests"), [(8, 3), (12, 7), (20, 9), (60, 9)])
def test_from_eight_on_the_first_test_gets_one_in_32_and_the_others_half_of_what_is_left(
    count: int, tests: int
) -> None:
    found = levels(count)
    assert found[0] == pytest.approx(1 / 32)
    assert len(found) == tests
    assert found[1:3] == pytest.approx([0.009375, 0.0046875])
    assert sum(levels(count, tests=60)) <= 0.05
    assert all(gate.SequentialGate(families(*range(count)), at(level)).next_batch() for level in found)


def test_a_family_that_was_used_ties_the_new_ones_to_the_old_account() -> None:
    past = [a_test(range(8), 1 / 32)]
    mixed = account.grant(families(7, *range(20, 31)), past, POLICY)
    assert mixed.number == 2
    assert mixed.level == pytest.approx(0.009375)
    unused = account.grant(families(*range(20, 31)), past, POLICY)
    assert unused.number == 1
    assert unused.level == pytest.approx(1 / 32)


def test_use_passes_on_through_families_that_two_tests_share() -> None:
    past = [a_test(range(8), 1 / 32), a_test(range(7, 20), 0.009375, name="other", number=2)]
    assert account.grant(families(*range(12, 28)), past, POLICY).number == 3, "though none of these was in the first"


def test_where_the_account_is_used_up_the_unused_families_may_have_one_of_their_own() -> None:
    past = [a_test(range(6), 0.05)]
    assert account.grant(families(*range(10)), past, POLICY).level is None
    granted = account.grant(families(*range(11)), past, POLICY)
    assert (granted.number, granted.level, sorted(granted.families)) == (1, 0.05, sorted(families(*range(6, 11))))


def test_a_test_that_was_never_looked_at_used_nothing() -> None:
    assert account.grant(families(*range(8)), [a_test(range(8), 1 / 32, looks=0)], POLICY).number == 1


def test_the_standing_says_what_is_left_what_the_next_test_gets_and_what_would_renew_it() -> None:
    tests = [a_test(range(8), 1 / 32)]
    left = account.standing(families(*range(8)), families(*range(10)), tests, POLICY, number=1)
    assert left.left == pytest.approx(0.01875)
    assert left.next_level == pytest.approx(0.009375)
    assert left.unused_needed == 3, "two of the five that an account needs are there"


def test_a_stricter_alpha_later_is_not_loosened_by_what_was_spent_before() -> None:
    strict = POLICY.model_copy(update={"alpha": 0.01})
    assert account.grant(families(*range(20)), [a_test(range(20), 1 / 32)], strict).level is None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 2**32), min_size=1, max_size=12), st.sampled_from((0.05, 0.1, 0.01)))
def test_all_tests_that_are_tied_together_never_use_more_than_alpha(seeds: list[int], alpha: float) -> None:
    policy = GatePolicy(alpha=alpha)
    past: list[GateTest] = []
    for seed in seeds:
        rng = random.Random(seed)
        chosen = rng.sample(range(30), rng.randint(5, 20))
        granted = account.grant(families(*chosen), past, policy)
        if granted.level is not None:
            numbers = [int(family[1:]) for family in granted.families]
            past.append(a_test(numbers, granted.level, name=f"edit {seed}", number=granted.number))
    for test in past:
        tied = account.tied(test.families, past)
        # an account that swallows another one spent both alphas while they were apart, and gives no more
        apart = sum(member.number == 1 for member in tied)
        assert sum(member.policy.alpha for member in tied) <= alpha * apart + 1e-12
