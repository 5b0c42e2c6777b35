"""The gate: paired evidence in, a verdict out. A pure function that may say "I don't know yet".

Accept means: an edit that does nothing would have looked this good in at most `alpha` of all nights. The unit is the
family, the test the exact paired sign-flip, one-sided; a harmful edit is found by the same test, mirrored. "Reject"
needs evidence too: that the edit harms, that it cannot be worth having, or that a family got worse. All else is
inconclusive.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import get_args

from skillopt_sleep import stats
from skillopt_sleep.domain.errors import UnknownName, UsageError
from skillopt_sleep.domain.trials import Mark, PairedEvidence
from skillopt_sleep.domain.verdicts import Decision, GatePolicy, Metric, Verdict, VerdictReason

_TIE_RULE_FAMILIES = 5
_TIE_RULE_ALPHA = 0.045
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
    """
    table = _Table.of(evidence, policy)
    reason = _bar_to_judging(table, policy, overlap=overlap, shape_only=shape_only, edits=edits) or _judge(
        table, policy
    )
    return Verdict(
        decision=_DECISIONS[reason],
        reason=reason,
        explanation=_explain(reason, table, policy),
        before=table.before,
        after=table.after,
        effect=table.effect,
        interval=stats.sign_flip_interval(table.effects) if table.effects else None,
        p_value=table.p_better if table.effects else None,
        families=len(table.effects),
        pairs=table.complete,
        missing_pairs=table.missing,
        regressed=table.regressed,
        families_needed=_families_needed(reason, table, policy),
        alpha=policy.alpha,
    )


def select_gate_score(hard: float, soft: float, metric: Metric, mixed_weight: float = 0.5) -> float:
    """One score out of the two: `hard`, `soft`, or `mixed_weight` of hard and the rest of soft.

    Raises `UnknownName` for another metric and `UsageError` for a weight outside [0, 1].
    """
    if metric not in get_args(Metric):
        raise UnknownName("gate metric", metric, get_args(Metric))
    if not 0.0 <= mixed_weight <= 1.0:
        raise UsageError(f"The mixed weight must lie between 0 and 1, not {mixed_weight}.")
    if metric == "mixed":
        return mixed_weight * hard + (1.0 - mixed_weight) * soft
    return hard if metric == "hard" else soft


def calls_for_one_comparison(families: int, policy: GatePolicy) -> int:
    """Attempts that one full comparison takes, with one task in each family: `samples` before and as many after."""
    return 2 * families * policy.samples


def testable(families: int, alpha: float) -> bool:
    """Whether any data at all could be accepted: n families have 2^n swapped twins, so no p is below 1/2^n."""
    return alpha * math.ldexp(1.0, families) >= 1.0


@dataclass(frozen=True, slots=True)
class _Table:
    """The evidence, one row a family. Only complete pairs count, so both arms of a family have equally many scores."""

    effects: tuple[float, ...]
    before: float | None
    after: float | None
    complete: int
    missing: int
    regressed: tuple[str, ...]
    p_better: float
    p_worse: float

    @classmethod
    def of(cls, evidence: PairedEvidence, policy: GatePolicy) -> _Table:
        rows: dict[str, list[tuple[float, float]]] = {}
        for pair in sorted(evidence.pairs, key=lambda pair: (pair.family, pair.task_id, pair.sample)):
            if pair.before is not None and pair.after is not None:
                rows.setdefault(pair.family, []).append((_score(pair.before, policy), _score(pair.after, policy)))
        befores = [fmean(before for before, _ in scores) for scores in rows.values()]
        afters = [fmean(after for _, after in scores) for scores in rows.values()]
        effects = tuple(fmean(after - before for before, after in scores) for scores in rows.values())
        complete = sum(len(scores) for scores in rows.values())
        return cls(
            effects=effects,
            before=fmean(befores) if befores else None,
            after=fmean(afters) if afters else None,
            complete=complete,
            missing=len(evidence.pairs) - complete,
            regressed=_regressed(rows, policy.alpha),
            p_better=stats.sign_flip_p(effects),
            p_worse=stats.sign_flip_p([-effect for effect in effects]),
        )

    @property
    def effect(self) -> float | None:
        return fmean(self.effects) if self.effects else None

    @property
    def missing_share(self) -> float:
        pairs = self.complete + self.missing
        return self.missing / pairs if pairs else 0.0


def _score(mark: Mark, policy: GatePolicy) -> float:
    return select_gate_score(mark.hard, mark.soft, policy.metric, policy.mixed_weight)


def _regressed(rows: dict[str, list[tuple[float, float]]], alpha: float) -> tuple[str, ...]:
    """Families that got worse beyond noise: a sign-flip test over each family's own pairs, Holm over the families.

    With the few pairs a night has this can hardly ever fire: among 8 families it takes 8 pairs of one family, all of
    them worse. It guards against the glaring case, and no more.
    """
    p_values = [stats.sign_flip_p([before - after for before, after in scores]) for scores in rows.values()]
    return tuple(family for family, p in zip(rows, stats.holm(p_values), strict=True) if p <= alpha)


def _bar_to_judging(
    table: _Table, policy: GatePolicy, *, overlap: bool, shape_only: bool, edits: int | None
) -> VerdictReason | None:
    """Why these scores, whatever they are, cannot carry a verdict about the edit; None if they can."""
    families = len(table.effects)
    bars: Iterable[tuple[bool, VerdictReason]] = (
        (edits == 0, "no_edits"),
        (overlap, "overlap"),
        (shape_only, "shape_only"),
        (table.missing_share > policy.max_unscored, "too_many_missing"),
        (families < policy.min_families, "too_few_families"),
        (not testable(families, policy.alpha), "untestable"),
    )
    return next((reason for applies, reason in bars if applies), None)


def _judge(table: _Table, policy: GatePolicy) -> VerdictReason:
    if table.p_better <= policy.alpha or _four_better_one_tied(table, policy):
        return "regressed" if table.regressed else "improved"
    if table.p_worse <= policy.alpha:
        return "harmful"
    if fmean(table.effects) <= 0.0 and _plausible_effect(table.effects) < policy.min_effect:
        return "no_gain"
    return "not_enough_evidence"


def _four_better_one_tied(table: _Table, policy: GatePolicy) -> bool:
    """The one pattern accepted although its own p (2/32) is above alpha; pass/fail only. See `_TIE_RULE_ALPHA`."""
    return (
        policy.metric == "hard"
        and len(table.effects) == _TIE_RULE_FAMILIES
        and policy.alpha >= _TIE_RULE_ALPHA
        and 0.0 in table.effects
        and table.p_better <= 2 / 2**_TIE_RULE_FAMILIES
    )


def _plausible_effect(effects: tuple[float, ...]) -> float:
    """The largest mean effect that is still plausible (nine in ten). The added .25 keeps ties from looking certain."""
    return fmean(effects) + _NINE_IN_TEN * math.sqrt(sum(d * d for d in effects) + 0.25) / len(effects)


def _families_needed(reason: VerdictReason, table: _Table, policy: GatePolicy) -> int | None:
    """About how many more families would settle it, were the new ones like those seen. None: settled, or no use."""
    families = len(table.effects)
    floor = max(policy.min_families, math.ceil(-math.log2(policy.alpha)))
    if reason in ("too_few_families", "untestable"):
        return floor - families
    if reason != "not_enough_evidence":
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
    more = max(math.ceil(needed), floor, families + 1) - families
    return more if more <= _MOST_FAMILIES_TO_ASK_FOR else None


_DECISIONS: dict[VerdictReason, Decision] = {
    "improved": "accept",
    "gate_off": "accept",
    "harmful": "reject",
    "no_gain": "reject",
    "regressed": "reject",
    "no_edits": "reject",
    "too_few_families": "inconclusive",
    "untestable": "inconclusive",
    "not_enough_evidence": "inconclusive",
    "too_many_missing": "inconclusive",
    "overlap": "inconclusive",
    "shape_only": "inconclusive",
}


def _explain(reason: VerdictReason, table: _Table, policy: GatePolicy) -> str:
    """The verdict in words, for a person who never studied statistics."""
    families = len(table.effects)
    more = _families_needed(reason, table, policy)
    text = {
        "improved": f"Better beyond chance: {_change(table)}. {_why_accepted(table, policy)}",
        "gate_off": f"Not tested: the gate was switched off. {_change(table)}.",
        "harmful": f"Worse beyond chance: {_change(table)}. {_luck(table.p_worse, sign='bad')}",
        "no_gain": f"No gain worth having: {_change(table)}; an improvement of {policy.min_effect:.2f} or more "
        f"would very likely have shown.",
        "regressed": f"Better on the whole ({_change(table)}), but not accepted: some got worse.",
        "too_few_families": f"Too few tasks to tell: {_count(families)} with scores, and a verdict needs at least "
        f"{policy.min_families}. {_more(more)}",
        "untestable": f"Nothing could pass at this strictness (alpha {policy.alpha:g}): with {_count(families)}, even "
        f"if all of them improved, luck alone would do it once in {2**families} times. {_more(more)}",
        "not_enough_evidence": f"Not enough evidence yet: {_change(table)}. {_luck(table.p_better)} "
        f"At most {_percent(policy.alpha)} is tolerated. {_more(more)}",
        "too_many_missing": f"Too many attempts gave no score: {table.missing} of {table.missing + table.complete} "
        f"pairs are incomplete, and at most {_percent(policy.max_unscored)} may be.",
        "overlap": "Not validated: tasks of the gate were also trained on, so a gain on them proves nothing.",
        "shape_only": "Not validated: the only checks were written by a model and look at form, not at substance.",
        "no_edits": "The document did not change, so there is nothing to accept.",
    }[reason]
    worse = f" Got worse beyond chance: {', '.join(table.regressed)}." if table.regressed else ""
    return text.strip() + worse


def _change(table: _Table) -> str:
    if table.before is None or table.after is None:
        return "no scores"
    return f"the score went from {table.before:.2f} to {table.after:.2f} over {_count(len(table.effects))}"


def _count(families: int) -> str:
    return f"{families} task {'family' if families == 1 else 'families'}"


def _luck(p: float, sign: str = "good") -> str:
    return f"An edit that changes nothing would look this {sign} in {_percent(p)} of cases."


def _why_accepted(table: _Table, policy: GatePolicy) -> str:
    if table.p_better <= policy.alpha:
        return _luck(table.p_better)
    return (
        "Four families got better and one stayed the same, the least that is accepted with five: "
        "over many nights at most 4.4 % of edits that change nothing pass."
    )


def _percent(share: float) -> str:
    if share < 0.001:
        return "less than 0.1 %"
    return f"{share * 100:.2g} %" if share < 0.995 else "nearly all" if share < 1 else "all"


def _more(families: int | None) -> str:
    if families is None:
        return "The difference is too small for more tasks to settle soon."
    return f"About {families} more {'family' if families == 1 else 'families'} would probably settle it."
