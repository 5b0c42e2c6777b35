"""Two documents tried on the same tasks: the k-th attempt before is paired with the k-th attempt after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from skillopt_sleep.consolidate.bench import Bench
from skillopt_sleep.domain.aio import one_error
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.domain.trials import Arm, PairedEvidence, Trial
from skillopt_sleep.replay import Job, pair_up, run_jobs
from skillopt_sleep.skilldoc import SkillDoc


@dataclass(frozen=True, slots=True)
class Replays:
    """Trials of one document. Each is made once, whoever asks for it and when: a baseline is shared by all askers."""

    bench: Bench
    doc: SkillDoc
    arm: Arm
    done: dict[tuple[str, int], Trial] = field(default_factory=dict)
    _asked: dict[tuple[str, int], anyio.Event] = field(default_factory=dict)

    async def of(self, jobs: Sequence[Job]) -> tuple[Trial, ...]:
        """The trials of these jobs; those that nobody asked for before are attempted now, the others waited for."""
        new = [(task, sample) for task, sample in jobs if (task.id, sample) not in self._asked]
        self._asked.update({(task.id, sample): anyio.Event() for task, sample in new})
        roles = self.bench.roles
        await run_jobs(roles.agent, roles.judge, self.doc.text, new, arm=self.arm, on_trial=self._keep)
        for task, sample in jobs:
            await self._asked[task.id, sample].wait()
        return tuple(self.done[task.id, sample] for task, sample in jobs)

    def _keep(self, trial: Trial) -> None:
        self.done[trial.task_id, trial.sample] = trial
        self._asked[trial.task_id, trial.sample].set()
        self.bench.seen(trial)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both arms, on tasks by id."""

    before: Replays
    after: Replays
    tasks: Mapping[str, Task]

    async def pairs(self, asked: Iterable[tuple[str, int]]) -> PairedEvidence:
        """The (task, sample) pairs that were asked for, attempted with both documents side by side.

        Pairs of tasks that are not at hand any more are left out.
        """
        jobs = [(self.tasks[task], sample) for task, sample in asked if task in self.tasks]
        async with one_error(anyio.create_task_group()) as group:
            group.start_soon(self.before.of, jobs)
            await self.after.of(jobs)
        return pair_up(_of(self.before, jobs), _of(self.after, jobs))

    def trials(self, tasks: Iterable[Task]) -> tuple[Trial, ...]:
        """All trials of these tasks that both arms have."""
        ids = {task.id for task in tasks}
        both = [key for key in self.before.done if key in self.after.done and key[0] in ids]
        return (*(self.before.done[key] for key in both), *(self.after.done[key] for key in both))


def _of(replays: Replays, jobs: Sequence[Job]) -> list[Trial]:
    return [replays.done[task.id, sample] for task, sample in jobs]
