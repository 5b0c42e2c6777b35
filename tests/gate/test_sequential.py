from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.domain.trials import Pair
from skillopt_sleep.domain.verdicts import GatePolicy, Verdict
from skillopt_sleep.gate import SequentialGate, calls_for_one_comparison, judge_gate
from skillopt_sleep.gate.looks import SequentialTest
from tests.gate.evidence import DOWN, SAME_0, UP, Score, mark

POLICY = GatePolicy()
Draw = Callable[[str, int], Score]


def families(count: int, tasks: int = 1) -> dict[str, list[str]]:
    return {f"f{i:02}": [f"f{i:02}-t{t}" for t in range(tasks)] for i in range(count)}


def run(
    tasks: Mapping[str, Sequence[str]], draw: Draw, policy: GatePolicy = POLICY, seed: int = 0
) -> tuple[Verdict, int]:
    """The verdict and the calls it took. `draw` gives (before, after) for a family and a sample."""
    gate = SequentialGate(tasks, policy, seed=seed)
    family_of = {task: family for family, listed in tasks.items() for task in listed}
    while batch := gate.next_batch():
        assert gate.verdict() is None
        scores = [(task, sample, draw(family_of[task], sample)) for task, sample in batch]
        gate.observe(
            Pair(family=family_of[task], task_id=task, sample=sample, before=mark(before), after=mark(after))
            for task, sample, (before, after) in reversed(scores)
        )
    verdict = gate.verdict()
    assert verdict is not None
    return verdict, 2 * len(gate.evidence.pairs)


@pytest.mark.parametrize(("count", "calls"), [(5, 10), (8, 12), (12, 16), (20, 18)])
def test_a_plain_improvement_is_accepted_after_few_calls(count: int, calls: int) -> None:
    for seed in range(5):
        verdict, used = run(families(count), lambda *_: UP, seed=seed)
        assert (verdict.decision, verdict.reason, verdict.effect) == ("accept", "improved", 1.0)
        assert used <= calls
        assert verdict.p_value is not None
        assert verdict.p_value <= 0.05


@pytest.mark.parametrize("count", [5, 8, 12, 20])
def test_a_plain_harm_is_rejected_after_few_calls(count: int) -> None:
    verdict, used = run(families(count), lambda *_: DOWN)
    assert (verdict.decision, verdict.reason in ("harmful", "no_gain")) == ("reject", True)
    assert "Worse" in verdict.explanation or "loss" in verdict.explanation
    assert used <= 18


@pytest.mark.parametrize("count", [5, 8, 12, 20])
def test_where_nothing_ever_moves_the_gate_gives_up_early_and_rejects(count: int) -> None:
    verdict, used = run(families(count), lambda *_: SAME_0)
    assert (verdict.decision, verdict.reason) == ("reject", "no_gain")
    assert used <= calls_for_one_comparison(count, POLICY) / 2


def test_giving_up_on_a_noisy_draw_says_that_it_stopped_early() -> None:
    noisy = (UP, DOWN, UP, DOWN, SAME_0, UP, SAME_0, DOWN)
    verdict, used = run(families(8), lambda family, sample: noisy[(int(family[1:]) + 3 * sample) % 8])
    assert verdict.decision != "accept"
    assert used < calls_for_one_comparison(8, POLICY)
    assert "Stopped early" in verdict.explanation or verdict.decision == "reject"


def test_five_families_with_one_tie_are_accepted_at_the_full_budget_only() -> None:
    verdict, used = run(families(5), lambda family, _: SAME_0 if family == "f03" else UP)
    assert (verdict.decision, verdict.p_value) == ("accept", 2 / 32)
    assert used == 30


@pytest.mark.parametrize(("count", "alpha"), [(8, 0.0025), (5, 0.025), (9, 0.001)])
def test_an_alpha_below_one_sign_vector_is_untestable_spends_nothing_and_never_accepts(
    count: int, alpha: float
) -> None:
    verdict, used = run(families(count), lambda *_: UP, GatePolicy(alpha=alpha))
    assert (verdict.decision, verdict.reason, used) == ("inconclusive", "untestable", 0)
    assert verdict.families_needed == 1


def test_a_single_sign_vector_of_alpha_accepts_only_data_as_extreme_as_data_can_be() -> None:
    policy = GatePolicy(alpha=0.005)
    assert run(families(8), lambda *_: UP, policy)[0].decision == "accept"
    assert run(families(8), lambda family, _: SAME_0 if family == "f03" else UP, policy)[0].decision != "accept"


@pytest.mark.parametrize("count", range(5))
def test_too_few_families_cost_no_calls(count: int) -> None:
    verdict, used = run(families(count), lambda *_: UP)
    assert (verdict.reason, used) == ("too_few_families", 0)


@pytest.mark.parametrize("words", [{"overlap": True}, {"shape_only": True}, {"edits": 0}], ids=str)
def test_what_bars_a_verdict_beforehand_costs_no_calls(words: dict[str, bool]) -> None:
    gate = SequentialGate(families(8), POLICY, **words)
    verdict = gate.verdict()
    assert gate.next_batch() == ()
    assert verdict is not None
    assert verdict.decision != "accept"


def test_every_look_has_equally_many_samples_of_both_arms_and_no_pair_is_asked_for_twice() -> None:
    gate = SequentialGate(families(8, tasks=2), POLICY)
    seen: set[tuple[str, int]] = set()
    while batch := gate.next_batch():
        assert seen.isdisjoint(batch)
        seen.update(batch)
        gate.observe(
            Pair(family=task[:3], task_id=task, sample=sample, before=mark(0.0), after=mark(float(sample % 2)))
            for task, sample in batch
        )
    assert {sample for _, sample in seen} <= {0, 1, 2}


def test_pairs_that_were_not_asked_for_are_refused() -> None:
    gate = SequentialGate(families(8), POLICY)
    stray = Pair(family="f00", task_id="f00-t0", sample=2, before=mark(0.0), after=mark(1.0))
    with pytest.raises(ValueError, match="asked for"):
        gate.observe([stray])
    with pytest.raises(ValueError, match="one family only"):
        SequentialGate({"a": ["t"], "b": ["t"]}, POLICY)


def test_outages_drop_pairs_and_too_many_of_them_leave_the_question_open() -> None:
    verdict, _ = run(families(8), lambda *_: (None, 1.0))
    assert (verdict.decision, verdict.reason) == ("inconclusive", "too_many_missing")
    rare, _ = run(families(8), lambda family, sample: (None, 1.0) if (family, sample) == ("f01", 0) else UP)
    assert rare.decision == "accept"


def test_a_family_that_never_answers_does_not_count_towards_the_least_number() -> None:
    policy = GatePolicy(max_unscored=0.9)
    verdict, _ = run(families(6), lambda family, _: UP if family < "f04" else (None, None), policy)
    assert (verdict.decision, verdict.reason) == ("inconclusive", "too_few_families")


@pytest.mark.parametrize("count", [6, 12])
def test_a_steady_gain_in_soft_scores_is_found(count: int) -> None:
    verdict, _ = run(families(count), lambda family, _: (0.25, 0.5 + int(family[1:]) / 100), GatePolicy(metric="soft"))
    assert verdict.decision == "accept"


def test_the_same_seed_asks_for_the_same_pairs_in_the_same_order() -> None:
    first, second, other = (SequentialGate(families(20), POLICY, seed=seed).next_batch() for seed in (1, 1, 2))
    assert first == second
    assert first != other


@settings(max_examples=40, deadline=None)
@given(st.integers(5, 13), st.integers(0, 10**6), st.sampled_from((0.05, 0.025, 0.2)))
def test_the_mirrored_run_never_accepts_what_the_run_accepts(count: int, seed: int, alpha: float) -> None:
    rng = random.Random(seed)
    table = {(f, k): (float(rng.random() < 0.3), float(rng.random() < 0.7)) for f in families(count) for k in range(3)}
    policy = GatePolicy(alpha=alpha)
    verdict, _ = run(families(count), lambda f, k: table[f, k], policy, seed)
    mirrored, _ = run(families(count), lambda f, k: (table[f, k][1], table[f, k][0]), policy, seed)
    assert not (verdict.decision == mirrored.decision == "accept")


def test_at_the_full_budget_without_early_looks_both_gates_agree() -> None:
    rng = random.Random(4)
    policy = GatePolicy(samples=1)
    for seed in range(60):
        table = {f: (float(rng.random() < 0.3), float(rng.random() < 0.8)) for f in families(5)}
        gate = SequentialGate(families(5), policy, seed=seed)
        pairs = [
            Pair(
                family=task[:3], task_id=task, sample=k, before=mark(table[task[:3]][0]), after=mark(table[task[:3]][1])
            )
            for task, k in gate.next_batch()
        ]
        gate.observe(pairs)
        verdict = gate.verdict()
        assert verdict is not None
        fixed = judge_gate(gate.evidence, policy)
        assert (verdict.decision, verdict.p_value) == (fixed.decision, fixed.p_value)


Rates = Callable[[random.Random, int], list[tuple[float, float]]]


def _idle(rng: random.Random, count: int) -> list[tuple[float, float]]:
    return [(rate, rate) for rate in (rng.betavariate(2, 2) for _ in range(count))]


def _half_up_half_down(rng: random.Random, count: int) -> list[tuple[float, float]]:
    return [(0.5, 0.9) if rng.random() < 0.5 else (0.5, 0.1) for _ in range(count)]


def _accepted(rates: Rates, count: int, trials: int, policy: GatePolicy = POLICY) -> float:
    accepted = 0
    for trial in range(trials):
        rng = random.Random(f"{count}-{trial}")
        world = rates(rng, count)
        test = SequentialTest([1] * count, policy, seed=trial)
        while stage := test.stage:
            for family in test.families_of(stage):
                before, after = world[family]
                test.record(family, float(rng.random() < before), float(rng.random() < after))
            test.look()
        accepted += test.outcome == "better"
    return accepted / trials


@pytest.mark.parametrize("count", [5, 8, 12, 20])
@pytest.mark.parametrize("rates", [_idle, _half_up_half_down])
def test_idle_edits_are_accepted_no_more_often_than_promised_in_spite_of_all_looks(rates: Rates, count: int) -> None:
    trials = 120
    assert _accepted(rates, count, trials) <= 0.05 + 2.5 * (0.05 * 0.95 / trials) ** 0.5


def test_a_strong_edit_is_found_most_of_the_time() -> None:
    assert _accepted(lambda _, count: [(0.3, 0.8)] * count, 12, 60) >= 0.8
