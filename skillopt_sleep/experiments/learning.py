"""Optimise a deficient skill over several nights on frozen tasks: the loop that the experiments share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from skillopt_sleep.agents.tool_loop import ToolLoop
from skillopt_sleep.consolidate.facade import Consolidation, consolidate_async
from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.errors import ModelUnavailable
from skillopt_sleep.domain.ports import Model
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.domain.trials import Arm, Trial
from skillopt_sleep.domain.verdicts import Decision
from skillopt_sleep.judges import JudgeByCriterion
from skillopt_sleep.replay import run_trials, summarise

GateRule = Literal["seed", "strict"]
"""`seed`: the experiment's own rule, mixed gate score strictly higher. `strict`: the product gate must accept."""

GOOD_ENOUGH = 0.999
"""Gate score from which on no further night is worth its calls."""


class NightTrace(Frozen):
    """One night of the loop."""

    night: int
    accepted: bool
    gate_before: float | None
    gate_after: float | None
    product_verdict: Decision | None
    """What the product's gate says of the same evidence; None where nothing reached a gate."""
    product_says: str
    edits: tuple[str, ...]


class Learned(Frozen):
    """A skill after the loop."""

    skill: str
    trace: tuple[NightTrace, ...]


async def learn(
    model: Model,
    optimizer: Model,
    skill: str,
    tasks: Sequence[Task],
    *,
    nights: int,
    rule: GateRule,
    edit_budget: int,
    samples: int,
) -> Learned:
    """Run up to `nights` epochs, going on from each accepted document."""
    trace: list[NightTrace] = []
    for night in range(nights):
        found = await consolidate_async(
            model,
            optimizer,
            tasks,
            skill,
            edit_budget=edit_budget,
            gate_metric="mixed",
            night=night,
            samples=samples,
        )
        strict = found.verdict is not None and found.verdict.decision == "accept"
        accepted = found.accepted if rule == "seed" else strict
        if accepted and found.candidate is not None:
            skill = found.candidate
        trace.append(_traced(night, found, accepted=accepted))
        score = found.holdout_candidate if accepted else found.holdout_baseline
        if score is not None and score >= GOOD_ENOUGH:
            break
    return Learned(skill=skill, trace=tuple(trace))


async def held_out_trials(
    model: Model, skill: str, tasks: Sequence[Task], *, samples: int, arm: Arm = "before"
) -> tuple[Trial, ...]:
    """Attempts at the test tasks."""
    test = [task for task in tasks if task.slice == "test"]
    return await run_trials(
        ToolLoop(model), JudgeByCriterion(), skill, test, arm=arm, samples=samples, on_trial=lambda _: None
    )


async def held_out_score(model: Model, skill: str, tasks: Sequence[Task], *, samples: int) -> float:
    """Mean hard score on the test tasks, over families. Raises `ModelUnavailable` where nothing could be scored."""
    return mean_score(await held_out_trials(model, skill, tasks, samples=samples))


def mean_score(trials: Sequence[Trial]) -> float:
    """Mean hard score over families. Raises `ModelUnavailable`, with the first reason, where nothing was scored."""
    means = summarise(trials)
    if means is None:
        reasons = (trial.error or (trial.score.abstained if trial.score else None) for trial in trials)
        first = next((reason for reason in reasons if reason), None)
        said = f" The first one: {first}" if first else ""
        raise ModelUnavailable(f"None of {len(trials)} held-out attempts could be scored.{said}")
    return means[0]


def _traced(night: int, found: Consolidation, *, accepted: bool) -> NightTrace:
    return NightTrace(
        night=night + 1,
        accepted=accepted,
        gate_before=found.holdout_baseline,
        gate_after=found.holdout_candidate,
        product_verdict=found.verdict.decision if found.verdict else None,
        product_says=found.note,
        edits=tuple(
            outcome.edit.rule_id if outcome.edit.kind == "drop_rule" else outcome.edit.text
            for outcome in found.outcomes
            if outcome.status == "applied"
        ),
    )
