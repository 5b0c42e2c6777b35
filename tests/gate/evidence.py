"""Shorthand for evidence in tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillopt_sleep.domain.trials import Mark, Pair, PairedEvidence

Score = tuple[float | None, float | None]
Scores = Sequence[Score]

UP: Score = (0.0, 1.0)
DOWN: Score = (1.0, 0.0)
SAME_0: Score = (0.0, 0.0)
SAME_1: Score = (1.0, 1.0)


def mark(score: float | None, soft: float | None = None) -> Mark | None:
    return None if score is None else Mark(hard=score, soft=score if soft is None else soft)


def evidence(families: Mapping[str, Scores] | Sequence[Scores]) -> PairedEvidence:
    """One task in each family, one (before, after) for each sample; None is a missing score."""
    named = families if isinstance(families, Mapping) else {f"f{i:02}": scores for i, scores in enumerate(families)}
    return PairedEvidence(
        pairs=tuple(
            Pair(family=family, task_id=f"{family}-task", sample=sample, before=mark(before), after=mark(after))
            for family, scores in named.items()
            for sample, (before, after) in enumerate(scores)
        )
    )
