"""Families that got worse although the whole got better: found by suspicion, judged by fresh pairs.

The pairs that made a family a suspect were chosen for looking bad, so they prove nothing: the worst of many families
looks bad by luck. Each suspect therefore gets pairs of its own, with samples that no test has used, and is judged by
those alone (one-sided sign-flip test within the family, Holm over the suspects). Fresh pairs never feed the test of
acceptance; they can only take an acceptance away. They are paid beside the main budget, and only where the edit would
otherwise be accepted.

A gate that stops early has not seen all families, and what it has not seen it cannot suspect. So an acceptance is
followed by a sweep: one pair for each family that has none yet, out of what the early stop saved.

What a person has pinned (an anchor, by family or by task) needs no proof: it must not fall at all. Anchors are tried as
often as the whole budget would, whatever the gate's test had time for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from skillopt_sleep import stats
from skillopt_sleep.domain.trials import PairedEvidence
from skillopt_sleep.domain.verdicts import GatePolicy, Verdict
from skillopt_sleep.gate.table import score_of

SUSPICION = 0.25
"""A family is suspect when its own pairs point down with a p of at most this; with one or two pairs, at all."""
FEWEST_FRESH_PAIRS = 6
SPARE_PAIRS = 3
"""Fresh pairs beyond those that could just show a collapse: one that failed before the edit too should be no alibi."""

Asked = tuple[tuple[str, int], ...]
"""(task, sample) pairs to gather."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What the fresh pairs showed."""

    regressed: tuple[str, ...]
    """Suspects that are worse beyond chance."""
    fallen: tuple[str, ...]
    """Anchors with a lower mean score than before."""
    unresolved: tuple[str, ...]
    """Suspects and anchors whose fresh pairs mostly lack a score."""


def most_suspects(families: int) -> int:
    """An edit that is accepted got most families up; so more suspects than this do not occur but by a fluke."""
    return max(1, families // 4)


def fresh_pairs_each(suspects: int, policy: GatePolicy) -> int:
    """How many fresh pairs a suspect gets: all of them down must be beyond chance, also after Holm."""
    return max(FEWEST_FRESH_PAIRS, math.ceil(math.log2(suspects / _alpha(policy))) + SPARE_PAIRS)


def most_fresh_pairs(families: int, policy: GatePolicy, *, tasks_each: int = 1) -> int:
    """Upper bound of the pairs that suspects may take, with so many tasks in a family: what a plan reserves."""
    suspected = most_suspects(families)
    return suspected * (fresh_pairs_each(suspected, policy) + tasks_each - 1)


def suspects(evidence: PairedEvidence, policy: GatePolicy, *, planned: int) -> tuple[str, ...]:
    """The families that look worse, the worst first; at most `most_suspects` of those `planned`."""
    ranked = []
    for family, changes in _changes(evidence, policy).items():
        p = stats.sign_flip_p([-change for change in changes])
        if fmean(changes) < 0.0 and p <= (SUSPICION if len(changes) > 2 else 0.5):
            ranked.append((p, fmean(changes), family))
    return tuple(family for _, _, family in sorted(ranked)[: most_suspects(planned)])


def sweep_batch(evidence: PairedEvidence, tasks: Mapping[str, Sequence[str]]) -> Asked:
    """One pair for each task of the families that the gate stopped too early to see."""
    seen = {pair.family for pair in evidence.pairs}
    return tuple((task, 0) for family, listed in tasks.items() if family not in seen for task in listed)


def fresh_batch(suspected: Sequence[str], tasks: Mapping[str, Sequence[str]], policy: GatePolicy) -> Asked:
    """The pairs that suspects are judged by: samples numbered from the policy's last one on, over all their tasks."""
    each = fresh_pairs_each(len(suspected), policy) if suspected else 0
    return tuple(
        (task, policy.samples + sample)
        for family in suspected
        for sample in range(math.ceil(each / max(1, len(tasks[family]))))
        for task in tasks[family]
    )


def anchor_batch(pinned: Iterable[str], policy: GatePolicy) -> Asked:
    """The pairs that anchors are judged by: every sample of the full budget. `pinned`: ids of tasks."""
    return tuple((task, sample) for task in dict.fromkeys(pinned) for sample in range(policy.samples))


def judge_fresh(
    fresh: PairedEvidence,
    suspected: Sequence[str],
    anchored: PairedEvidence,
    anchors: Mapping[str, Sequence[str]],
    policy: GatePolicy,
) -> Findings:
    """What became of suspects, and of anchors: name -> ids of the tasks that it pins."""
    changes = _changes(fresh, policy)
    judged = [family for family in suspected if len(changes.get(family, ())) >= FEWEST_FRESH_PAIRS]
    p_values = stats.holm([stats.sign_flip_p([-change for change in changes[family]]) for family in judged])
    worse = tuple(family for family, p in zip(judged, p_values, strict=True) if p <= _alpha(policy))
    fallen, unknown = [], []
    for name, tasks in anchors.items():
        pinned = [pair for pair in anchored.pairs if pair.task_id in tasks]
        scores = [
            score_of(p.after, policy) - score_of(p.before, policy)
            for p in pinned
            if p.before is not None and p.after is not None
        ]
        if not scores or len(pinned) - len(scores) > policy.max_unscored * len(pinned):
            unknown.append(name)
        elif fmean(scores) < 0.0:
            fallen.append(name)
    unresolved = (*(family for family in suspected if family not in judged), *unknown)
    return Findings(regressed=worse, fallen=tuple(fallen), unresolved=unresolved)


def with_findings(verdict: Verdict, suspected: Sequence[str], findings: Findings, *, pairs: int) -> Verdict:
    """An accepting verdict in the light of what fresh pairs showed. Whatever got worse blocks it."""
    told = verdict.model_copy(update={"suspects": tuple(suspected), "fresh_pairs": pairs})
    if findings.fallen:
        names = ", ".join(findings.fallen)
        return told.model_copy(
            update={
                "decision": "reject",
                "reason": "anchor_fell",
                "regressed": tuple(dict.fromkeys((*findings.fallen, *findings.regressed))),
                "explanation": f"Not accepted: what you pinned got worse ({names}). Else: {verdict.explanation}",
            }
        )
    if findings.regressed:
        names = ", ".join(findings.regressed)
        return told.model_copy(
            update={
                "decision": "reject",
                "reason": "regressed",
                "regressed": findings.regressed,
                "explanation": f"Not accepted: got worse beyond chance, by fresh attempts: {names}. "
                f"Else: {verdict.explanation}",
            }
        )
    if findings.unresolved:
        names = ", ".join(findings.unresolved)
        return told.model_copy(
            update={
                "decision": "inconclusive",
                "reason": "too_many_missing",
                "explanation": f"Not accepted yet: {names} may have got worse, and too few of the attempts that would "
                f"tell gave a score. Else: {verdict.explanation}",
            }
        )
    if not suspected:
        return told
    names = ", ".join(suspected)
    return told.model_copy(
        update={"explanation": f"{verdict.explanation} Tried again because they looked worse, and held: {names}."}
    )


def _alpha(policy: GatePolicy) -> float:
    """The level of the question whether a suspect got worse: the usual one, however little the account leaves.

    A small level protects from false acceptance. Here a small level would hide harm.
    """
    return max(policy.alpha, 0.05)


def _changes(evidence: PairedEvidence, policy: GatePolicy) -> dict[str, list[float]]:
    changes: dict[str, list[float]] = {}
    for pair in evidence.pairs:
        if pair.before is not None and pair.after is not None:
            changes.setdefault(pair.family, []).append(score_of(pair.after, policy) - score_of(pair.before, policy))
    return changes
