"""Replay: tasks under a document become trials, with bounded parallelism and ordered results.

A call that fails is a trial with an error and no score. What makes every further call pointless (a refused login, an
exhausted budget, a service that stays away) and what is a bug stops the replay; the trials finished by then have been
reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean
from typing import Protocol

import anyio
import anyio.lowlevel

from skillopt_sleep.domain.aio import one_error
from skillopt_sleep.domain.errors import ModelAuthError, ModelDown, ModelError, SleepError, UsageError
from skillopt_sleep.domain.ports import Agent, Judge, Model
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.domain.trials import Arm, Attempt, Mark, Pair, PairedEvidence, Trial

Job = tuple[Task, int]
"""A task, and the number of the sample."""


async def run_trials(
    agent: Agent,
    judge: Judge,
    document: str,
    tasks: Sequence[Task],
    *,
    arm: Arm,
    samples: int,
    on_trial: Callable[[Trial], None],
    width: int = 64,
) -> tuple[Trial, ...]:
    """Attempt every task `samples` times under `document`; results come by task, then sample.

    Sample 0 of every task goes before sample 1 of any, so that an interrupted replay has seen as many tasks as it
    could. Else as `run_jobs`.
    """
    if samples < 1:
        raise UsageError(f"A replay needs at least one sample, not {samples}.")
    jobs = [(task, sample) for sample in range(samples) for task in tasks]
    trials = await run_jobs(agent, judge, document, jobs, arm=arm, on_trial=on_trial, width=width)
    return tuple(trials[sample * len(tasks) + place] for place in range(len(tasks)) for sample in range(samples))


async def run_jobs(
    agent: Agent,
    judge: Judge,
    document: str,
    jobs: Sequence[Job],
    *,
    arm: Arm,
    on_trial: Callable[[Trial], None],
    width: int = 64,
) -> tuple[Trial, ...]:
    """Attempt tasks, each as the sample of that number, under `document`; begun and returned in the given order.

    `on_trial` hears of each trial as it finishes, in the order of finishing. `width` bounds how many attempts are open
    at once; how many calls a provider gets is the business of the model's wrappers.

    Raises `ModelAuthError`, `ModelDown`, `BudgetExhausted` and bugs as they are, never inside an exception group. A
    task that is marked as not evaluable costs no call.
    """
    if width < 1:
        raise UsageError(f"A replay needs at least one slot, not {width}.")
    waiting: Iterator[tuple[int, Job]] = iter(enumerate(jobs))
    trials: dict[int, Trial] = {}

    async def work() -> None:
        for place, (task, sample) in waiting:
            # A model that answers without waiting (a cache, a simulation) must not keep Ctrl-C and others out.
            await anyio.lowlevel.checkpoint()
            trials[place] = await _trial(agent, judge, document, task, arm, sample)
            on_trial(trials[place])

    async with one_error(anyio.create_task_group()) as group:
        for _ in range(min(width, len(jobs))):
            group.start_soon(work)
    return tuple(trials[place] for place in sorted(trials))


async def _trial(agent: Agent, judge: Judge, document: str, task: Task, arm: Arm, sample: int) -> Trial:
    trial = Trial(task_id=task.id, family=task.family, sample=sample, arm=arm)
    if task.not_evaluable is not None:
        return trial.model_copy(update={"error": f"not_evaluable: {task.not_evaluable}"})
    attempt: Attempt | None = None
    try:
        attempt = await agent.attempt(task, document, sample=sample)
        score = await judge.score(task, attempt)
    except (ModelAuthError, ModelDown):
        raise
    except ModelError as error:
        return trial.model_copy(update={"attempt": attempt, "error": f"{error.code}: {error.message}"})
    return trial.model_copy(update={"attempt": attempt, "score": score})


def pair_up(before: Iterable[Trial], after: Iterable[Trial]) -> PairedEvidence:
    """Both arms by task and sample. A sample that only one arm has is left out; a missing score stays, as None."""
    afters = {(trial.task_id, trial.sample): trial for trial in after}
    befores = {(trial.task_id, trial.sample): trial for trial in before}
    return PairedEvidence(
        pairs=tuple(
            Pair(
                family=trial.family,
                task_id=trial.task_id,
                sample=trial.sample,
                before=trial.mark,
                after=afters[key].mark,
            )
            for key, trial in befores.items()
            if key in afters
        )
    )


def summarise(trials: Iterable[Trial]) -> tuple[float, float] | None:
    """Mean hard and soft score: over families, of means over a family's tasks, of means over samples.

    Trials without a score are left out; None where none has one.
    """
    families: dict[str, dict[str, list[Mark]]] = {}
    for trial in trials:
        if trial.mark is not None:
            families.setdefault(trial.family, {}).setdefault(trial.task_id, []).append(trial.mark)
    if not families:
        return None
    hard = fmean(fmean(fmean(m.hard for m in marks) for marks in tasks.values()) for tasks in families.values())
    soft = fmean(fmean(fmean(m.soft for m in marks) for marks in tasks.values()) for tasks in families.values())
    return hard, soft


class HasModel(Protocol):
    """A backend as the facades know it: something with a model."""

    @property
    def model(self) -> Model: ...


def replay_batch(backend: HasModel, tasks: Sequence[Task], skill: str, memory: str = "") -> list[tuple[Task, Trial]]:
    """Attempt each task once and score it: `run_trials` for callers without an event loop.

    Uses the agent with tools and the judges that need no model.
    """
    from skillopt_sleep.agents.tool_loop import ToolLoop
    from skillopt_sleep.judges import JudgeByCriterion

    async def replay() -> tuple[Trial, ...]:
        agent, judge = ToolLoop(backend.model, memory), JudgeByCriterion()
        return await run_trials(agent, judge, skill, tasks, arm="before", samples=1, on_trial=lambda _: None)

    return list(zip(tasks, anyio.run(replay), strict=True))


def aggregate_scores(pairs: Iterable[tuple[Task, Trial]]) -> tuple[float, float]:
    """Mean hard and soft score over the trials that have one.

    Raises `SleepError` where none has: no score is not a score of 0.
    """
    trials = [trial for _, trial in pairs]
    marks = [trial.mark for trial in trials if trial.mark is not None]
    if not marks:
        raise SleepError(f"None of {len(trials)} trials has a score.", hint=_why_unscored(trials))
    return fmean(mark.hard for mark in marks), fmean(mark.soft for mark in marks)


def _why_unscored(trials: Sequence[Trial]) -> str:
    reasons = (trial.error or (trial.score.abstained if trial.score else None) for trial in trials)
    first = next((reason for reason in reasons if reason), None)
    return f"The first one: {first}" if first else "There was nothing to replay."
