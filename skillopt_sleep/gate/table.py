"""The evidence as a table with one row a family, and the score a gate looks at."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import get_args

from skillopt_sleep import stats
from skillopt_sleep.domain.errors import UnknownName, UsageError
from skillopt_sleep.domain.trials import Mark, PairedEvidence
from skillopt_sleep.domain.verdicts import GatePolicy, Metric


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


def score_of(mark: Mark, policy: GatePolicy) -> float:
    """The score of one mark under the policy's metric."""
    return select_gate_score(mark.hard, mark.soft, policy.metric, policy.mixed_weight)


@dataclass(frozen=True, slots=True)
class Table:
    """What the test looks at. Only complete pairs count, so both arms of a family have equally many scores."""

    effects: tuple[float, ...]
    """Mean score after minus before, for each family that has a complete pair."""
    before: float | None
    after: float | None
    complete: int
    missing: int
    regressed: tuple[str, ...]
    p_better: float
    p_worse: float

    @classmethod
    def of(cls, evidence: PairedEvidence, policy: GatePolicy) -> Table:
        rows: dict[str, list[tuple[float, float]]] = {}
        for pair in sorted(evidence.pairs, key=lambda pair: (pair.family, pair.task_id, pair.sample)):
            if pair.before is not None and pair.after is not None:
                rows.setdefault(pair.family, []).append((score_of(pair.before, policy), score_of(pair.after, policy)))
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
    def missing_share(self) -> float:
        pairs = self.complete + self.missing
        return self.missing / pairs if pairs else 0.0


def _regressed(rows: dict[str, list[tuple[float, float]]], alpha: float) -> tuple[str, ...]:
    """Families that got worse beyond noise: a sign-flip test over each family's own pairs, Holm over the families.

    With the few pairs a night has this can hardly ever fire: among 8 families it takes 8 pairs of one family, all of
    them worse. It guards against the glaring case, and no more.
    """
    p_values = [stats.sign_flip_p([before - after for before, after in scores]) for scores in rows.values()]
    return tuple(family for family, p in zip(rows, stats.holm(p_values), strict=True) if p <= alpha)
