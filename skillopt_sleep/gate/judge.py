"""The decision on evidence that is complete, and the rules that the sequential gate shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean

from skillopt_sleep import stats
from skillopt_sleep.domain.trials import PairedEvidence
from skillopt_sleep.domain.verdicts import Decision, GatePolicy, Verdict, VerdictReason
from skillopt_sleep.gate.table import Table
from skillopt_sleep.gate.words import explain

_TIE_RULE_FAMILIES = 5
TIE_RULE_ALPHA = 0.045
"""With five families "four better, one tied" has p = 2/32. Over all nights an idle edit that may be accepted so, or by
"five better", is accepted in (1 + P(exactly one tie))/32 <= (1 + .41)/32 = .044 of them, for exchangeable families."""

_NINE_IN_TEN = NormalDist().inv_cdf(0.9)
_FOUR_IN_FIVE = NormalDist().inv_cdf(0.8)
_MOST_FAMILIES_TO_ASK_FOR = 200


def judge_gate(
    evidence: PairedEvidence,
    policy: GatePolicy,
    *,
    overlap: bool = False,
    shape_only: bool = False,
    edits: int | None = None,
) -> Verdict:
    """Whether the document after the edits is better than the one before, or worse, or whether that is not known.

    `overlap`: some of these tasks were also trained on. `shape_only`: all checks constrain form only and were written
    by a model. `edits`: how many edits really changed the document, where known. Odd evidence (none at all, one family,
    only ties, everything missing) gives an inconclusive or rejecting verdict with its reason; it never raises.

    The evidence must have been planned beforehand. Looking at it as it grows and stopping when it pleases is what
    `SequentialGate` is for.
    """
    table = Table.of(evidence, policy)
    families = len(table.effects)
    reason = bar_to_judging(
        families,
        policy,
        overlap=overlap,
        shape_only=shape_only,
        edits=edits,
        too_many_missing=table.missing_share > policy.max_unscored,
    )
    return verdict_of(reason or _judge(table, policy), table, policy, planned=families)


def calls_for_one_comparison(families: int, policy: GatePolicy) -> int:
    """Attempts that one full comparison takes, with one task in each family: `samples` before and as many after."""
    return 2 * families * policy.samples


def testable(families: int, alpha: float) -> bool:
    """Whether any data at all could be accepted: n families have 2^n swapped twins, so no p is below 1/2^n."""
    return families >= _fewest_families(alpha)


def bar_to_judging(
    families: int,
    policy: GatePolicy,
    *,
    overlap: bool,
    shape_only: bool,
    edits: int | None,
    too_many_missing: bool = False,
) -> VerdictReason | None:
    """Why no scores whatever could carry a verdict about the edit; None if they can. Most of it is known beforehand."""
    bars: tuple[tuple[bool, VerdictReason], ...] = (
        (edits == 0, "no_edits"),
        (overlap, "overlap"),
        (shape_only, "shape_only"),
        (too_many_missing, "too_many_missing"),
        (families < policy.min_families, "too_few_families"),
        (not testable(families, policy.alpha), "untestable"),
    )
    return next((reason for applies, reason in bars if applies), None)


def verdict_of(reason: VerdictReason, table: Table, policy: GatePolicy, *, planned: int) -> Verdict:
    """The verdict with its figures. `planned`: how many families could have been sampled."""
    more = _families_needed(reason, table, policy, planned)
    return Verdict(
        decision=_DECISIONS[reason],
        reason=reason,
        explanation=explain(reason, table, policy, more),
        before=table.before,
        after=table.after,
        effect=fmean(table.effects) if table.effects else None,
        interval=stats.sign_flip_interval(table.effects) if table.effects else None,
        p_value=table.p_better if table.effects else None,
        families=len(table.effects),
        pairs=table.complete,
        missing_pairs=table.missing,
        regressed=table.regressed,
        families_needed=more,
        alpha=policy.alpha,
    )


def unmeasured(reason: VerdictReason, policy: GatePolicy, *, families: int) -> Verdict:
    """The verdict where nothing was spent, because nothing seen could decide. `families`: how many there are."""
    return verdict_of(reason, Table.of(PairedEvidence(), policy), policy, planned=families)


def tie_rule_applies(effects: Sequence[float], policy: GatePolicy) -> bool:
    """Whether "four better, one tied" of five may be accepted although its own p is above alpha: pass/fail scores only.

    See `TIE_RULE_ALPHA`. The caller still has to look at p: with two ties it is 4/32, with a loss 2/32 has no zero.
    """
    return (
        policy.metric == "hard"
        and len(effects) == _TIE_RULE_FAMILIES
        and policy.alpha >= TIE_RULE_ALPHA
        and 0.0 in effects
    )


def final_level(effects: Sequence[float], policy: GatePolicy) -> float:
    """The p that is still accepted once everything is seen: alpha, or 2/32 under the tie rule."""
    return 2 / 2**_TIE_RULE_FAMILIES if tie_rule_applies(effects, policy) else policy.alpha


def no_gain(effects: Sequence[float], policy: GatePolicy) -> bool:
    """Whether an improvement of `min_effect` is ruled out: nine in ten, for a mean that did not rise at all."""
    return fmean(effects) <= 0.0 and _plausible_effect(effects) < policy.min_effect


def _judge(table: Table, policy: GatePolicy) -> VerdictReason:
    level = final_level(table.effects, policy)
    if table.p_better <= level:
        return "regressed" if table.regressed else "improved"
    if table.p_worse <= level:
        return "harmful"
    return "no_gain" if no_gain(table.effects, policy) else "not_enough_evidence"


def _plausible_effect(effects: Sequence[float]) -> float:
    """The largest mean effect that is still plausible (nine in ten). The added .25 keeps ties from looking certain."""
    return fmean(effects) + _NINE_IN_TEN * math.sqrt(sum(d * d for d in effects) + 0.25) / len(effects)


def _fewest_families(alpha: float) -> int:
    return max(0, math.ceil(-math.log2(alpha)))


def _families_needed(reason: VerdictReason, table: Table, policy: GatePolicy, planned: int) -> int | None:
    """About how many more families would settle it, were the new ones like those seen. None: settled, or no use."""
    floor = max(policy.min_families, _fewest_families(policy.alpha))
    if reason in ("too_few_families", "untestable"):
        return floor - planned if floor > planned else None
    if reason != "not_enough_evidence" or not table.effects:
        return None
    mean, square = fmean(table.effects), fmean(d * d for d in table.effects)
    if mean > 0.0:
        # Enough for the sign-flip test to accept four times in five; with that many its sum is close to normal.
        spread = math.sqrt(max(0.0, square - mean**2))
        quantile = NormalDist().inv_cdf(1.0 - policy.alpha)
        needed = ((quantile * math.sqrt(square) + _FOUR_IN_FIVE * spread) / mean) ** 2
    else:
        # Enough for the plausible effect to fall below `min_effect`.
        room = (policy.min_effect - mean) / _NINE_IN_TEN
        needed = (square + math.sqrt(square**2 + room**2)) / (2 * room**2)
    more = max(math.ceil(needed), floor, planned + 1) - planned
    return more if more <= _MOST_FAMILIES_TO_ASK_FOR else None


_DECISIONS: dict[VerdictReason, Decision] = {
    "improved": "accept",
    "gate_off": "accept",
    "harmful": "reject",
    "no_gain": "reject",
    "regressed": "reject",
    "anchor_fell": "reject",
    "no_edits": "reject",
    "too_few_families": "inconclusive",
    "untestable": "inconclusive",
    "used_up": "inconclusive",
    "not_enough_evidence": "inconclusive",
    "too_many_missing": "inconclusive",
    "overlap": "inconclusive",
    "shape_only": "inconclusive",
}
