from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from skillopt_sleep import gate
from skillopt_sleep.domain.errors import UnknownName, UsageError
from skillopt_sleep.domain.trials import Arm, Mark, Pair, PairedEvidence, Score, Trial
from skillopt_sleep.domain.verdicts import GatePolicy, Metric, Verdict
from skillopt_sleep.gate import judge_gate, select_gate_score
from skillopt_sleep.replay import pair_up
from tests.gate.evidence import DOWN, SAME_0, SAME_1, UP, Scores, evidence

POLICY = GatePolicy()


def judge(families: Sequence[Scores], policy: GatePolicy = POLICY) -> Verdict:
    return judge_gate(evidence(families), policy)


def test_eight_families_that_all_improve_are_accepted_with_effect_interval_and_exact_p() -> None:
    verdict = judge([[UP] * 3] * 8)
    assert (verdict.decision, verdict.reason) == ("accept", "improved")
    assert (verdict.before, verdict.after, verdict.effect, verdict.interval) == (0.0, 1.0, 1.0, (1.0, 1.0))
    assert verdict.p_value == 1 / 256
    assert (verdict.families, verdict.pairs, verdict.missing_pairs, verdict.families_needed) == (8, 24, 0, None)
    assert "0.00 to 1.00 over 8 task families" in verdict.explanation
    assert "0.39 %" in verdict.explanation


def test_a_higher_mean_alone_is_not_enough_and_the_verdict_says_how_much_is_missing() -> None:
    verdict = judge([[UP], [UP], [UP], [DOWN], [SAME_0], [SAME_1]])
    assert (verdict.decision, verdict.reason) == ("inconclusive", "not_enough_evidence")
    assert verdict.effect == pytest.approx(1 / 3)
    assert verdict.families_needed == 29
    assert "About 29 more families would probably settle it" in verdict.explanation


def test_an_edit_that_harms_beyond_chance_is_rejected() -> None:
    verdict = judge([[DOWN] * 3] * 6)
    assert (verdict.decision, verdict.reason) == ("reject", "harmful")
    assert verdict.p_value == 1.0


def test_when_nothing_moves_an_improvement_worth_having_is_ruled_out() -> None:
    verdict = judge([[SAME_0] * 3] * 5)
    assert (verdict.decision, verdict.reason) == ("reject", "no_gain")
    assert "0.30 or more" in verdict.explanation


def test_a_noisy_draw_around_zero_rules_nothing_out() -> None:
    verdict = judge([[DOWN], [DOWN], [UP], [UP], [SAME_0], [DOWN]])
    assert (verdict.decision, verdict.reason) == ("inconclusive", "not_enough_evidence")
    assert verdict.families_needed is not None


@pytest.mark.parametrize("families", range(5))
def test_below_five_families_nothing_is_decided_even_if_all_improve(families: int) -> None:
    verdict = judge([[UP] * 3] * families)
    assert (verdict.decision, verdict.reason) == ("inconclusive", "too_few_families")
    assert verdict.families_needed == 5 - families
    assert "Too few tasks" in verdict.explanation


def test_five_families_are_accepted_when_four_improve_and_one_ties() -> None:
    verdict = judge([[UP] * 3] * 4 + [[SAME_1] * 3])
    assert (verdict.decision, verdict.p_value) == ("accept", 2 / 32)
    assert "Four families got better and one stayed the same" in verdict.explanation


@pytest.mark.parametrize(
    "policy", [GatePolicy(alpha=0.04), GatePolicy(metric="soft"), GatePolicy(metric="mixed")], ids=str
)
def test_the_tie_rule_holds_for_hard_scores_at_the_usual_alpha_only(policy: GatePolicy) -> None:
    assert judge([[UP] * 3] * 4 + [[SAME_1] * 3], policy).decision == "inconclusive"


def test_the_tie_rule_is_for_one_tie_not_for_a_small_loss_nor_for_two_ties() -> None:
    small_loss = [[UP] * 3] * 4 + [[DOWN, SAME_1, SAME_1]]
    assert judge(small_loss).p_value == 2 / 32
    assert judge(small_loss).decision == "inconclusive"
    assert judge([[UP] * 3] * 3 + [[SAME_1] * 3] * 2).decision == "inconclusive"


def test_an_alpha_that_no_data_could_reach_is_untestable_and_never_accepts() -> None:
    verdict = judge([[UP] * 3] * 8, GatePolicy(alpha=0.0025))
    assert (verdict.decision, verdict.reason) == ("inconclusive", "untestable")
    assert verdict.families_needed == 1
    assert not gate.testable(8, 0.0025)
    assert gate.testable(9, 0.0025)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_family_is_one_vote_however_many_tasks_and_samples_it_has(reverse: bool) -> None:
    big = [
        Pair(family="big", task_id=f"t{i}", sample=0, before=Mark(hard=0, soft=0), after=Mark(hard=1, soft=1))
        for i in range(40)
    ]
    small = list(evidence([[DOWN]] * 5).pairs)
    pairs = [*big, *small]
    verdict = judge_gate(PairedEvidence(pairs=tuple(reversed(pairs) if reverse else pairs)), POLICY)
    assert verdict.families == 6
    assert verdict.effect == pytest.approx(-4 / 6)


def test_a_missing_score_drops_the_pair_and_is_never_a_zero() -> None:
    verdict = judge([[UP, UP, (1.0, None)]] + [[UP] * 3] * 5)
    assert (verdict.decision, verdict.effect) == ("accept", 1.0)
    assert (verdict.pairs, verdict.missing_pairs) == (17, 1)


def test_too_many_missing_pairs_leave_the_question_open() -> None:
    verdict = judge([[UP, UP, (None, 1.0)]] * 8)
    assert (verdict.decision, verdict.reason) == ("inconclusive", "too_many_missing")
    assert "8 of 24 pairs" in verdict.explanation


@pytest.mark.parametrize(
    ("families", "reason"),
    [
        ([], "too_few_families"),
        ([[UP]], "too_few_families"),
        ([[(None, None)] * 3] * 8, "too_many_missing"),
        ([[]] * 8, "too_few_families"),
    ],
)
def test_odd_evidence_is_inconclusive_and_never_raises(families: Sequence[Scores], reason: str) -> None:
    verdict = judge(families)
    assert (verdict.decision, verdict.reason) == ("inconclusive", reason)
    assert verdict.explanation


def test_overlap_with_training_is_never_validation() -> None:
    verdict = judge_gate(evidence([[UP] * 3] * 8), POLICY, overlap=True)
    assert (verdict.decision, verdict.reason) == ("inconclusive", "overlap")
    assert "Not validated" in verdict.explanation


def test_checks_of_form_that_only_a_model_wrote_certify_nothing() -> None:
    verdict = judge_gate(evidence([[UP] * 3] * 8), POLICY, shape_only=True)
    assert (verdict.decision, verdict.reason) == ("inconclusive", "shape_only")


def test_an_unchanged_document_is_not_accepted_however_lucky_its_scores() -> None:
    verdict = judge_gate(evidence([[UP] * 3] * 8), POLICY, edits=0)
    assert (verdict.decision, verdict.reason) == ("reject", "no_edits")
    assert judge_gate(evidence([[UP] * 3] * 8), POLICY, edits=1).decision == "accept"


def test_a_family_that_collapses_beyond_noise_blocks_acceptance_and_is_named() -> None:
    families = {f"f{i}": [UP] * 12 for i in range(8)} | {"collapsed": [DOWN] * 12}
    verdict = judge_gate(evidence(families), POLICY)
    assert (verdict.decision, verdict.reason, verdict.regressed) == ("reject", "regressed", ("collapsed",))
    assert "collapsed" in verdict.explanation


def test_three_samples_of_one_family_are_too_few_to_call_it_a_regression() -> None:
    verdict = judge([[UP] * 3] * 8 + [[DOWN] * 3])
    assert (verdict.decision, verdict.regressed) == ("accept", ())


@pytest.mark.parametrize(("metric", "weight", "score"), [("hard", 0.5, 0.0), ("soft", 0.5, 0.8), ("mixed", 0.25, 0.6)])
def test_the_gate_looks_at_the_metric_of_its_policy(metric: Metric, weight: float, score: float) -> None:
    pairs = tuple(
        Pair(family=f"f{i}", task_id=f"t{i}", sample=0, before=Mark(hard=0, soft=0), after=Mark(hard=0, soft=0.8))
        for i in range(6)
    )
    verdict = judge_gate(PairedEvidence(pairs=pairs), GatePolicy(metric=metric, mixed_weight=weight))
    assert verdict.effect == pytest.approx(score)
    assert select_gate_score(0.0, 0.8, metric, weight) == pytest.approx(score)


def test_an_unknown_metric_names_the_nearest_and_an_illegal_weight_is_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'hard'"):
        select_gate_score(1.0, 1.0, "hrad")  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        select_gate_score(1.0, 1.0, "mixed", -0.1)


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, float("nan")])
def test_an_illegal_alpha_is_refused_when_the_policy_is_made(alpha: float) -> None:
    with pytest.raises(ValidationError):
        GatePolicy(alpha=alpha)


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_score_outside_the_unit_interval_is_refused_when_the_mark_is_made(score: float) -> None:
    with pytest.raises(ValidationError):
        Mark(hard=score, soft=0.0)


def test_a_task_that_claims_two_families_is_refused() -> None:
    one, two = (Pair(family=f, task_id="t", sample=i, before=None, after=None) for i, f in enumerate(("a", "b")))
    with pytest.raises(ValidationError, match="two families"):
        PairedEvidence(pairs=(one, two))


def test_a_pair_that_stands_in_the_evidence_twice_is_refused() -> None:
    pair = Pair(family="f", task_id="t", sample=0, before=None, after=None)
    with pytest.raises(ValidationError, match="stands in the evidence twice"):
        PairedEvidence(pairs=(pair, pair))


@pytest.mark.parametrize(
    "wrong",
    [{"mixed_weight": -0.1}, {"mixed_weight": 1.1}, {"max_unscored": -1}, {"min_families": 4}, {"samples": 0}],
    ids=str,
)
def test_a_policy_out_of_range_is_refused_when_it_is_made(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        GatePolicy.model_validate(wrong)
    with pytest.raises(ValidationError):
        GatePolicy.model_validate({"min_effect": float("nan")})


def test_tasks_that_only_one_arm_has_are_no_evidence() -> None:
    def trial(task: str, arm: Arm) -> Trial:
        score = Score(judge="j", mark=Mark(hard=1.0, soft=1.0))
        return Trial(task_id=task, family=task, sample=0, arm=arm, score=score)

    paired = pair_up(
        [trial("both", "before"), trial("lost", "before")], [trial("both", "after"), trial("new", "after")]
    )
    assert [pair.task_id for pair in paired.pairs] == ["both"]


def test_the_calls_of_one_comparison_are_known_beforehand() -> None:
    assert gate.calls_for_one_comparison(8, GatePolicy(samples=3)) == 48


SCORE = st.sampled_from((0.0, 1.0, None))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(st.tuples(SCORE, SCORE), max_size=4), max_size=9),
    st.sampled_from((0.001, 0.03, 0.05, 0.3)),
)
def test_swapping_before_and_after_never_leaves_both_accepted(families: Sequence[Scores], alpha: float) -> None:
    policy = GatePolicy(alpha=alpha)
    verdict = judge(families, policy)
    mirrored = judge([[(after, before) for before, after in scores] for scores in families], policy)
    assert not (verdict.decision == mirrored.decision == "accept")
    assert verdict.effect is None or verdict.effect == pytest.approx(-(mirrored.effect or 0.0))
    if verdict.decision == "accept":
        assert mirrored.decision != "accept"
        assert verdict.effect is not None
        assert verdict.effect > 0


def test_idle_edits_on_a_noisy_model_are_accepted_no_more_often_than_promised() -> None:
    rng = random.Random(20)
    accepted = dict.fromkeys((5, 8, 12), 0)
    for families in accepted:
        for _ in range(200):
            rates = [rng.betavariate(2, 2) for _ in range(families)]
            draws: list[Scores] = [
                [(float(rng.random() < p), float(rng.random() < p)) for _ in range(3)] for p in rates
            ]
            accepted[families] += judge(draws).decision == "accept"
    assert max(accepted.values()) <= 0.05 * 200 + 2 * (0.05 * 0.95 * 200) ** 0.5
