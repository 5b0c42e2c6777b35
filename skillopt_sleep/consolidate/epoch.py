"""One optimisation epoch of one skill: replay, reflect, choose on the training tasks, confirm on the gate tasks.

The order of calls is what makes a night short. Training replays are asked for first; the baseline of the test tasks and
of the gate's first batch runs beside them and fills the slots that reflection would leave empty; the chosen candidate
then meets the gate and the test tasks at the same time. Nothing that was read from a gate or test task reaches the
optimiser.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import anyio

from skillopt_sleep.consolidate.bench import (
    Bench,
    Candidate,
    Counting,
    EpochOptions,
    Lesson,
    Used,
    passed_in_words,
)
from skillopt_sleep.consolidate.comparison import Comparison, Replays
from skillopt_sleep.consolidate.confirm import Confirmation
from skillopt_sleep.domain.aio import one_error
from skillopt_sleep.domain.base import sha256_hex
from skillopt_sleep.domain.describe import describe
from skillopt_sleep.domain.events import PhaseFinished, PhaseStarted, VerdictReached
from skillopt_sleep.domain.gate_tests import GateTests, NoGateTests, Question
from skillopt_sleep.domain.ports import EventSink, Roles
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.domain.trials import PairedEvidence, Trial
from skillopt_sleep.domain.verdicts import Verdict
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
    tests: GateTests | None = None,
    events: EventSink,
    on_trial: Callable[[Trial], None] = lambda _: None,
) -> Epoch:
    """Run one epoch. `tests` keeps account of the gate's tests over nights; without it every test is the first.

    Missing replies become missing pairs. `ModelAuthError` and `BudgetExhausted` pass through: the run must stop. A test
    that was begun by then is kept, and the next night that asks the same goes on with it.
    """
    train, overlap = _training_tasks(tasks)
    if not train:
        return Epoch(skill, doc, stopped="there are no training tasks yet, so there was nothing to learn from")
    used = Used()
    bench = Bench(skill, replace(roles, optimizer=Counting(roles.optimizer, used)), options, events, on_trial, used)
    by_id = {task.id: task for task in tasks}
    sealed = [task for task in tasks if task.slice == "test" and options.measure_test]
    sealed_pairs = [(task.id, sample) for sample in range(options.policy.samples) for task in sealed]
    confirmation = Confirmation.prepare(doc, tasks, options, tests or NoGateTests(), overlap=overlap)
    baseline = Replays(bench, doc, "before")
    comparison: Comparison | None = None
    candidate: Candidate | None = None
    verdict: Verdict | None = None

    async with one_error(anyio.create_task_group()) as group:
        ahead = (*confirmation.first_batch, *sealed_pairs)
        group.start_soon(baseline.of, [(by_id[task], sample) for task, sample in ahead])
        train_before = await bench.trials(doc, train, "before", options.train_samples, phase="replay")
        requirements = requirements_of(train, train_before, describe)
        if any(requirement.failed for requirement in requirements):
            lesson = Lesson(doc, train, train_before, requirements, turned_down)
            candidate = await bench.best_candidate(lesson)
        if candidate is None or not candidate.changes:
            group.cancel_scope.cancel()  # a baseline that nothing will be compared with is money for nothing
        else:
            comparison = Comparison(baseline, Replays(bench, candidate.doc, "after"), by_id)
            events(PhaseStarted(phase="gate", skill=skill, total=confirmation.most_pairs + len(sealed_pairs)))
            group.start_soon(comparison.pairs, sealed_pairs)
            if options.gate_off:
                verdict = _not_tested()
            else:
                verdict = await confirmation.decide(
                    _question(skill, doc, candidate, roles, options), comparison, events
                )

    epoch = Epoch(skill, doc, candidate, train_before=train_before, calls=used.calls, tokens=used.tokens)
    if comparison is None or verdict is None:
        return replace(epoch, stopped=_why_nothing(train_before, candidate))
    after = tuple(comparison.after.done.values())
    events(PhaseFinished(phase="gate", skill=skill, detail=passed_in_words(after)))
    events(VerdictReached(skill=skill, decision=verdict.decision, explanation=verdict.explanation))
    return replace(
        epoch,
        verdict=verdict,
        gate_trials=comparison.trials(task for task in tasks if task.slice == "gate" and not options.gate_off),
        test_trials=comparison.trials(sealed),
    )


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


def _question(skill: str, doc: SkillDoc, candidate: Candidate, roles: Roles, options: EpochOptions) -> Question:
    policy = options.policy
    weight = f" {policy.mixed_weight:g}" if policy.metric == "mixed" else ""
    return Question(
        skill=skill,
        before_sha256=doc.sha256,
        after_sha256=sha256_hex(candidate.doc.data),
        agent=roles.agent.id,
        judge=roles.judge.version,
        metric=policy.metric + weight,
    )


def _not_tested() -> Verdict:
    return Verdict(
        decision="inconclusive",
        reason="gate_off",
        explanation="The gate was switched off: these edits were not tested at all. Adopting them is a guess.",
    )


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
