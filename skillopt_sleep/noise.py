"""How noisy a model and a judge are: the same document against itself (an A/A run).

Whatever differs between two attempts at one task under one document is chance. How often it differs says how much of a
gate's evidence will be noise, and so how many samples of each task are worth their calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean

import anyio

from skillopt_sleep.domain.aio import one_error
from skillopt_sleep.domain.errors import ModelAuthError, ModelError, NothingToDo
from skillopt_sleep.domain.health import Noise
from skillopt_sleep.domain.ports import Agent, Judge
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.domain.trials import Mark, PairedEvidence, Trial
from skillopt_sleep.domain.verdicts import GatePolicy
from skillopt_sleep.gate import judge_gate
from skillopt_sleep.replay import pair_up, run_trials
from skillopt_sleep.stats import wilson_interval

MOST_SAMPLES = 5
"""More samples settle what one family's score is; beyond five the luck lies in which families there are."""


async def measure_noise(
    agent: Agent,
    judge: Judge,
    document: str,
    tasks: Sequence[Task],
    policy: GatePolicy,
    *,
    samples: int = 2,
    on_trial: Callable[[Trial], None] = lambda _: None,
) -> Noise:
    """Attempt every task 2 x `samples` times under one document, and compare the first half with the second.

    The calls: 2 x samples x tasks attempts, and each scored reply is judged once more. A judge that keeps its answers
    (a cache) cannot be caught flipping: hand in one that does not.

    Raises `NothingToDo` without tasks, `ModelAuthError` and `BudgetExhausted` as they are. Failed calls are missing
    pairs, never differences.
    """
    usable = [task for task in tasks if task.not_evaluable is None]
    if not usable:
        raise NothingToDo("There is no task to measure noise with.")
    trials = await run_trials(agent, judge, document, usable, arm="before", samples=2 * samples, on_trial=on_trial)
    evidence = pair_up(
        (trial for trial in trials if trial.sample < samples),
        (_as_second(trial, samples) for trial in trials if trial.sample >= samples),
    )
    twice, flips = await _judge_again(judge, usable, trials)
    return _noise(evidence, twice, flips, policy)


def samples_for(flip_rate: float, min_effect: float) -> int:
    """The fewest samples at which chance moves one family by no more than the effect that is worth finding.

    Two attempts differ with probability f, so the difference of two scores has variance f, and its mean over K pairs
    f/K. The standard deviation is `min_effect` at K = f / min_effect^2.
    """
    return min(MOST_SAMPLES, max(1, math.ceil(flip_rate / min_effect**2 - 1e-9)))


def _as_second(trial: Trial, samples: int) -> Trial:
    return trial.model_copy(update={"arm": "after", "sample": trial.sample - samples})


async def _judge_again(judge: Judge, tasks: Sequence[Task], trials: Sequence[Trial]) -> tuple[int, int]:
    """How many replies could be scored a second time, and how many of those got another score."""
    by_id = {task.id: task for task in tasks}
    same: list[bool] = []

    async def again(trial: Trial) -> None:
        if trial.attempt is None or trial.mark is None:
            return
        try:
            score = await judge.score(by_id[trial.task_id], trial.attempt)
        except ModelAuthError:
            raise
        except ModelError:
            return
        if score.mark is not None:
            same.append(score.mark == trial.mark)

    async with one_error(anyio.create_task_group()) as group:
        for trial in trials:
            group.start_soon(again, trial)
    return len(same), same.count(False)


def _noise(evidence: PairedEvidence, twice: int, flips: int, policy: GatePolicy) -> Noise:
    both = [(pair.before, pair.after) for pair in evidence.pairs if pair.before and pair.after]
    differing = sum(before.hard != after.hard for before, after in both)
    rate = differing / len(both) if both else None
    suggested = None if rate is None else samples_for(rate, policy.min_effect)
    return Noise(
        families=len({pair.family for pair in evidence.pairs if pair.complete}),
        pairs=len(both),
        missing_pairs=len(evidence.pairs) - len(both),
        flip_rate=rate,
        flip_interval=wilson_interval(differing, len(both)),
        soft_difference=fmean(_soft_difference(before, after) for before, after in both) if both else None,
        judged_twice=twice,
        judge_flips=flips,
        verdict=judge_gate(evidence, policy),
        suggested_samples=suggested,
        summary=_in_words(rate, len(both), twice, flips, suggested),
    )


def _soft_difference(before: Mark, after: Mark) -> float:
    return abs(after.soft - before.soft)


def _in_words(rate: float | None, pairs: int, twice: int, flips: int, suggested: int | None) -> str:
    if rate is None:
        return "No attempt could be scored twice, so nothing is known about the noise."
    judge = f"the judge changed its mind on {flips} of {twice} replies" if twice else "no reply was judged twice"
    return (
        f"Under one and the same document {rate:.0%} of {pairs} pairs of attempts differ in passing; {judge}. "
        f"Suggested: {suggested} sample{'' if suggested == 1 else 's'} of each task."
    )
