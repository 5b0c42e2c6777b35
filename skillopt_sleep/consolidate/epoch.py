"""One optimisation epoch of one skill: replay, reflect, choose on the training tasks, confirm on the gate tasks.

The order of calls is what makes a night short. Training replays are asked for first; the baseline of the gate and test
tasks runs beside them and fills the slots that reflection would leave empty; the chosen candidate then meets the gate
and the test tasks at the same time. Nothing that was read from a gate or test task reaches the optimiser.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import anyio

from skillopt_sleep.consolidate.bench import Bench, Candidate, Counting, EpochOptions, Lesson, Used
from skillopt_sleep.domain.aio import one_error
from skillopt_sleep.domain.describe import describe
from skillopt_sleep.domain.events import VerdictReached
from skillopt_sleep.domain.ports import EventSink, Roles
from skillopt_sleep.domain.slices import Slice
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.domain.trials import PairedEvidence, Trial
from skillopt_sleep.domain.verdicts import Verdict
from skillopt_sleep.gate import judge_gate
from skillopt_sleep.reflect import requirements_of
from skillopt_sleep.replay import pair_up
from skillopt_sleep.skilldoc import SkillDoc


@dataclass(frozen=True, slots=True)
class Epoch:
    """What one epoch found. `verdict` is None where nothing reached the gate; `stopped` then says why."""

    skill: str
    before: SkillDoc
    candidate: Candidate | None = None
    verdict: Verdict | None = None
    stopped: str | None = None
    train_before: tuple[Trial, ...] = ()
    gate_trials: tuple[Trial, ...] = ()
    test_trials: tuple[Trial, ...] = ()
    calls: int = 0
    """Answered model calls, those for candidates that were not chosen included."""
    tokens: int = 0

    @property
    def accepted(self) -> bool:
        return self.verdict is not None and self.verdict.decision == "accept"

    def evidence(self, slice_: Literal["gate", "test"]) -> PairedEvidence:
        """The pairs of one held-out slice; empty where it was not measured on both sides."""
        trials = self.gate_trials if slice_ == "gate" else self.test_trials
        before = [trial for trial in trials if trial.arm == "before"]
        after = [trial for trial in trials if trial.arm == "after"]
        return pair_up(before, after) if after else PairedEvidence()


async def optimise(
    skill: str,
    doc: SkillDoc,
    tasks: Sequence[Task],
    roles: Roles,
    options: EpochOptions,
    *,
    turned_down: Sequence[str] = (),
    events: EventSink,
    on_trial: Callable[[Trial], None] = lambda _: None,
) -> Epoch:
    """Run one epoch.

    Missing replies become missing pairs. `ModelAuthError` and `BudgetExhausted` pass through: the run must stop.
    """
    train, overlap = _training_tasks(tasks)
    if not train:
        return Epoch(skill, doc, stopped="there are no training tasks yet, so there was nothing to learn from")
    measured = {"gate": not options.gate_off, "test": options.measure_test, "train": False}
    held_out = [task for task in tasks if measured[task.slice]]
    used = Used()
    bench = Bench(skill, replace(roles, optimizer=Counting(roles.optimizer, used)), options, events, on_trial, used)
    candidate: Candidate | None = None
    baseline: tuple[Trial, ...] = ()
    after: tuple[Trial, ...] = ()

    async def measure_baseline() -> None:
        nonlocal baseline
        baseline = await bench.trials(doc, held_out, "before", options.policy.samples)

    async with one_error(anyio.create_task_group()) as group:
        group.start_soon(measure_baseline)
        train_before = await bench.trials(doc, train, "before", options.train_samples, phase="replay")
        requirements = requirements_of(train, train_before, describe)
        if any(requirement.failed for requirement in requirements):
            lesson = Lesson(doc, train, train_before, requirements, turned_down)
            candidate = await bench.best_candidate(lesson)
        if candidate is None or not candidate.changes:
            group.cancel_scope.cancel()  # a baseline that nothing will be compared with is money for nothing
        else:
            after = await bench.trials(candidate.doc, held_out, "after", options.policy.samples, phase="gate")

    epoch = Epoch(
        skill,
        doc,
        candidate,
        train_before=train_before,
        gate_trials=_of_slice("gate", tasks, (*baseline, *after)),
        test_trials=_of_slice("test", tasks, (*baseline, *after)),
        calls=used.calls,
        tokens=used.tokens,
    )
    if candidate is None or not candidate.changes:
        return replace(epoch, stopped=_why_nothing(train_before, candidate))
    verdict = _decide(epoch, tasks, options, overlap=overlap)
    events(VerdictReached(skill=skill, decision=verdict.decision, explanation=verdict.explanation))
    return replace(epoch, verdict=verdict)


def _training_tasks(tasks: Sequence[Task]) -> tuple[list[Task], bool]:
    """The training tasks, and whether the gate tasks had to serve as such.

    A person's own file may hold a few tasks that all fall into the gate slice. They cannot validate anything, but
    they can still give an idea; the verdict then says that it is one. Mined families are never used that way: they
    would be spent for every later night.
    """
    train = [task for task in tasks if task.slice == "train"]
    if train:
        gate_families = {task.family for task in tasks if task.slice == "gate"}
        return train, bool(gate_families & {task.family for task in train})
    borrowed = [task for task in tasks if task.slice == "gate" and task.origin == "file"]
    return [task.model_copy(update={"slice": "train"}) for task in borrowed], True


def _of_slice(slice_: Slice, tasks: Sequence[Task], trials: Sequence[Trial]) -> tuple[Trial, ...]:
    ids = {task.id for task in tasks if task.slice == slice_}
    return tuple(trial for trial in trials if trial.task_id in ids)


def _decide(epoch: Epoch, tasks: Sequence[Task], options: EpochOptions, *, overlap: bool) -> Verdict:
    if options.gate_off:
        return Verdict(
            decision="inconclusive",
            reason="gate_off",
            explanation="The gate was switched off: these edits were not tested at all. Adopting them is a guess.",
        )
    gate = [task for task in tasks if task.slice == "gate"]
    shape_only = bool(gate) and all(task.shape_only and task.model_authored for task in gate)
    return judge_gate(epoch.evidence("gate"), options.policy, overlap=overlap, shape_only=shape_only)


def _why_nothing(train_before: Sequence[Trial], candidate: Candidate | None) -> str:
    scored = [trial for trial in train_before if trial.mark]
    if not scored:
        first = next((trial.error for trial in train_before if trial.error), None)
        why = f" (the first one: {first.rstrip('.')})" if first else ""
        return f"no training attempt could be scored, so there was nothing to learn from{why}"
    if all(trial.mark and trial.mark.hard == 1.0 for trial in scored):
        return "every training attempt already passed, so there was nothing to improve"
    if candidate is None:
        return "the optimiser gave no usable edits"
    return "the optimiser proposed no change that could be applied"
