from __future__ import annotations

import random

import pytest

from skillopt_sleep.domain.trials import PairedEvidence
from skillopt_sleep.domain.verdicts import GatePolicy
from skillopt_sleep.gate import regressions
from skillopt_sleep.stats import sign_flip_p
from tests.gate.evidence import DOWN, SAME_0, SAME_1, UP, Scores, evidence

POLICY = GatePolicy()


def judged(fresh: dict[str, Scores], anchors: dict[str, Scores] | None = None) -> regressions.Findings:
    pinned = anchors or {}
    return regressions.judge_fresh(
        evidence(fresh), tuple(fresh), evidence(pinned), {name: (f"{name}-task",) for name in pinned}, POLICY
    )


def test_families_that_point_down_are_suspects_the_worst_first() -> None:
    seen = evidence({"a": [UP] * 3, "b": [DOWN, DOWN, SAME_0], "c": [DOWN] * 3, "d": [SAME_0, SAME_0, DOWN], "e": [UP]})
    assert regressions.suspects(seen, POLICY, planned=20) == ("c", "b")


@pytest.mark.parametrize(("scores", "suspect"), [([DOWN], True), ([DOWN, SAME_1], True), ([UP, DOWN], False)])
def test_with_one_or_two_pairs_pointing_down_at_all_is_enough(scores: Scores, suspect: bool) -> None:
    assert bool(regressions.suspects(evidence({"a": scores}), POLICY, planned=20)) == suspect


def test_only_so_many_families_are_tried_again_as_a_plan_reserves() -> None:
    seen = evidence({f"f{i}": [DOWN] * 3 for i in range(12)})
    suspected = regressions.suspects(seen, POLICY, planned=12)
    tasks = {family: (f"{family}-1", f"{family}-2") for family in suspected}
    asked = regressions.fresh_batch(suspected, tasks, POLICY)
    assert len(suspected) == 3
    assert len(asked) <= regressions.most_fresh_pairs(12, POLICY, tasks_each=2)
    assert min(sample for _, sample in asked) == POLICY.samples, "numbered beyond those of the test"


@pytest.mark.parametrize("suspects", [1, 2, 5, 10])
def test_a_suspect_gets_so_many_fresh_pairs_that_a_collapse_can_be_shown_in_spite_of_two_idle_ones(
    suspects: int,
) -> None:
    each = regressions.fresh_pairs_each(suspects, POLICY)
    assert each >= 6
    assert sign_flip_p([1.0] * (each - 2) + [0.0] * 2) * suspects <= 0.05


def test_a_suspect_whose_fresh_pairs_all_went_down_got_worse_and_one_that_held_did_not() -> None:
    found = judged({"worse": [DOWN] * 9, "held": [SAME_1] * 9, "noisy": [UP, DOWN, DOWN] * 3})
    assert (found.regressed, found.unresolved) == (("worse",), ())


def test_six_fresh_pairs_without_a_score_leave_a_suspect_unresolved() -> None:
    found = judged({"lost": [(1.0, None)] * 4 + [DOWN] * 5})
    assert (found.regressed, found.unresolved) == ((), ("lost",))


def test_an_anchor_falls_when_its_mean_does_and_stands_when_it_is_equal() -> None:
    found = judged({}, {"fell": [SAME_1, SAME_1, DOWN], "equal": [UP, DOWN, SAME_0], "lost": [(None, 1.0)] * 3})
    assert (found.fallen, found.unresolved) == (("fell",), ("lost",))


def test_families_the_gate_has_not_seen_are_swept_once() -> None:
    tasks = {"a": ("a-task",), "b": ("b-1", "b-2")}
    assert regressions.sweep_batch(evidence({"a": [UP]}), tasks) == (("b-1", 0), ("b-2", 0))


def test_a_family_that_did_not_change_is_seldom_said_to_have_got_worse() -> None:
    rng = random.Random(5)
    blocked = 0
    for _ in range(400):
        fresh: dict[str, Scores] = {
            f"f{i}": [(float(rng.random() < 0.5), float(rng.random() < 0.5)) for _ in range(9)] for i in range(3)
        }
        blocked += bool(judged(fresh).regressed)
    assert blocked <= 0.05 * 400 + 2 * (0.05 * 0.95 * 400) ** 0.5


def test_no_evidence_has_no_suspects() -> None:
    assert regressions.suspects(PairedEvidence(), POLICY, planned=0) == ()
    assert regressions.fresh_batch((), {}, POLICY) == ()
