"""What an optimiser may know of the training tasks: requirements in words, and clipped attempts that failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.briefing import Requirement
from skillopt_sleep.domain.checks import Check
from skillopt_sleep.domain.tasks import Rubric, Rules, Task, as_requirement
from skillopt_sleep.domain.trials import CheckResult, Trial

_PROMPT_CHARS, _REPLY_CHARS = 600, 1200
"""Longest excerpts of a request and of a reply that an optimiser is shown, in characters."""


class FailedAttempt(Frozen):
    """An attempt at a training task that did not meet every requirement, clipped for the optimiser to read."""

    request: str
    reply: str
    tools_called: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()
    """Requirements in words."""


@dataclass(slots=True)
class _Tally:
    example: str | None = None
    failed: int = 0
    seen: int = 0
    families: set[str] = field(default_factory=set)


def requirements_of(
    tasks: Sequence[Task], trials: Sequence[Trial], describe: Callable[[Check], Requirement]
) -> tuple[Requirement, ...]:
    """What the training tasks ask for, in words, with how often it was not met; most failures first.

    Whatever else is handed in, only tasks of the training slice and trials of these are looked at.
    """
    training = _training(tasks)
    tallies: dict[str, _Tally] = {}
    for task in training.values():
        for requirement in _stated(task, describe):
            tally = tallies.setdefault(requirement.text, _Tally())
            tally.example = tally.example or requirement.example
            tally.families.add(task.family)
    for trial, task in _of(training, trials):
        for check in trial.score.checks if trial.score else ():
            tally = tallies.setdefault(check.requirement, _Tally())
            tally.seen += 1
            tally.failed += not check.passed
            tally.families.add(task.family)
    found = (
        Requirement(
            text=text, example=tally.example, failed=tally.failed, seen=tally.seen, families=len(tally.families)
        )
        for text, tally in tallies.items()
    )
    return tuple(sorted(found, key=lambda one: (-one.failed, -one.families)))


def typed_by_people(tasks: Sequence[Task]) -> Iterator[str]:
    """What people have typed about the training tasks: requests, corrections, and criteria that a person stated.

    This is no material for an optimiser. It says which commands, addresses and permissions a rule may hold.
    """
    for task in _training(tasks).values():
        yield task.prompt
        yield from task.said
        match task.criterion:
            case Rules(checks=checks):
                yield from (str(check.arg) for check in checks if check.author == "person" and check.arg is not None)
            case Rubric(author="person", text=text):
                yield text


def failures_of(tasks: Sequence[Task], trials: Sequence[Trial], limit: int) -> tuple[FailedAttempt, ...]:
    """Up to `limit` failed attempts at training tasks: one of each family before a second one of any."""
    rounds: dict[str, int] = {}
    ranked: list[tuple[int, FailedAttempt]] = []
    for trial, task in _of(_training(tasks), trials):
        if trial.attempt is None or trial.mark is None or trial.mark.hard >= 1.0:
            continue
        rounds[trial.family] = rounds.get(trial.family, -1) + 1
        failed = FailedAttempt(
            request=_clip(task.prompt, _PROMPT_CHARS),
            reply=_clip(trial.attempt.text, _REPLY_CHARS),
            tools_called=tuple(call.name for call in trial.attempt.tool_calls),
            unmet=tuple(_in_words(check) for check in trial.score.checks if not check.passed) if trial.score else (),
        )
        ranked.append((rounds[trial.family], failed))
    return tuple(attempt for _, attempt in sorted(ranked, key=lambda pair: pair[0])[:limit])


def _stated(task: Task, describe: Callable[[Check], Requirement]) -> Iterator[Requirement]:
    """What a task's criterion asks for. A rubric's reference stays out: it is one answer, and no rule."""
    match task.criterion:
        case Rules(checks=checks):
            yield from map(describe, checks)
        case Rubric(criteria=criteria):
            yield from (Requirement(text=as_requirement(criterion)) for criterion in criteria)


def _in_words(check: CheckResult) -> str:
    return f"{check.requirement} (The grader: {check.reason})" if check.reason else check.requirement


def _training(tasks: Sequence[Task]) -> dict[str, Task]:
    return {task.id: task for task in tasks if task.slice == "train"}


def _of(tasks: dict[str, Task], trials: Sequence[Trial]) -> Iterator[tuple[Trial, Task]]:
    return ((trial, tasks[trial.task_id]) for trial in trials if trial.task_id in tasks)


def _clip(text: str, longest: int) -> str:
    """Head and tail of a long text: openings and closings are what rules are often about."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"
