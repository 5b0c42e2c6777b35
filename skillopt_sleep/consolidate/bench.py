"""The parts of an epoch that call models: replays, sets of edits, and trying those on the training tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import anyio
from pydantic import BaseModel

from skillopt_sleep.domain.aio import one_error
from skillopt_sleep.domain.briefing import Requirement
from skillopt_sleep.domain.describe import leaks
from skillopt_sleep.domain.errors import ModelAuthError, ModelDown, ModelError
from skillopt_sleep.domain.events import Phase, PhaseFinished, PhaseStarted, TrialFinished, Warned
from skillopt_sleep.domain.llm import Prompt, Reply, Usage
from skillopt_sleep.domain.ports import EventSink, Model, Roles
from skillopt_sleep.domain.skills import EditOutcome, added_rules
from skillopt_sleep.domain.tasks import Rules, Task
from skillopt_sleep.domain.trials import Arm, Trial
from skillopt_sleep.domain.verdicts import GatePolicy
from skillopt_sleep.reflect import failures_of, reflect, screen, typed_by_people
from skillopt_sleep.replay import run_trials, summarise
from skillopt_sleep.skilldoc import SkillDoc

SHOWN_FAILURES = 6
"""Failed training attempts that the optimiser sees in full; the requirements count all of them."""


@dataclass(frozen=True, slots=True)
class EpochOptions:
    """How one epoch works; see the settings of the same names."""

    policy: GatePolicy
    edit_budget: int = 4
    train_samples: int = 1
    candidates: int = 3
    measure_test: bool = True
    gate_off: bool = False
    one_look: bool = False
    """Judge the whole gate slice at once, for callers that want its mean scores as well. Nights stop as soon as the
    answer is clear."""
    anchors: tuple[str, ...] = ()
    """Tasks or families, by name, that must not get worse at all; beside the tasks that are marked so themselves."""
    first_proposal: int = 0
    """Number of the first set of edits. A repeated epoch counts on, so that the optimiser is asked anew; replays of an
    unchanged document are the same and come from the cache."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A changed document and how it did on the training tasks."""

    doc: SkillDoc
    outcomes: tuple[EditOutcome, ...]
    train: tuple[Trial, ...] = ()

    @property
    def changes(self) -> bool:
        return any(outcome.status == "applied" for outcome in self.outcomes)

    @property
    def new_rules(self) -> tuple[str, ...]:
        """Texts of the rules that were added or rewritten."""
        return added_rules(self.outcomes)


@dataclass(frozen=True, slots=True)
class Lesson:
    """What there is to learn from: training material only."""

    doc: SkillDoc
    train: Sequence[Task]
    before: Sequence[Trial]
    requirements: Sequence[Requirement]
    turned_down: Sequence[str]


@dataclass(slots=True)
class Used:
    """Running totals of one epoch."""

    calls: int = 0
    tokens: int = 0

    def add(self, calls: int, usage: Usage) -> None:
        self.calls += calls
        self.tokens += usage.total


@dataclass(frozen=True, slots=True)
class Counting:
    """The optimiser, with its answered calls added to the epoch's totals."""

    model: Model
    used: Used

    @property
    def id(self) -> str:
        return self.model.id

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        reply = await self.model.generate(prompt, schema=schema)
        self.used.add(1, reply.usage)
        return reply


@dataclass(frozen=True, slots=True)
class Bench:
    """The parts of an epoch that call models."""

    skill: str
    roles: Roles
    options: EpochOptions
    events: EventSink
    on_trial: Callable[[Trial], None]
    used: Used

    async def trials(
        self, doc: SkillDoc, tasks: Sequence[Task], arm: Arm, samples: int, *, phase: Phase | None = None
    ) -> tuple[Trial, ...]:
        """Replay tasks under a document. A phase is announced only where a person would want to see it."""
        if phase:
            self.events(PhaseStarted(phase=phase, skill=self.skill, total=len(tasks) * samples))
        found = await run_trials(
            self.roles.agent, self.roles.judge, doc.text, tasks, arm=arm, samples=samples, on_trial=self.seen
        )
        if phase:
            self.events(PhaseFinished(phase=phase, skill=self.skill, detail=passed_in_words(found)))
        return found

    def seen(self, trial: Trial) -> None:
        """Take note of a trial: in the night's folder, in the totals, and for whoever watches."""
        self.on_trial(trial)
        if trial.attempt:
            self.used.add(trial.attempt.calls, trial.attempt.usage)
        passed = None if trial.mark is None else trial.mark.hard == 1.0
        self.events(
            TrialFinished(skill=self.skill, task_id=trial.task_id, arm=trial.arm, sample=trial.sample, passed=passed)
        )

    async def best_candidate(self, lesson: Lesson) -> Candidate | None:
        """Several sets of edits are proposed; the one that does best on the *training* tasks is chosen.

        The gate sees only that one, so choosing among several does not weaken its error rate.
        """
        found: dict[int, Candidate] = {}

        async def propose(number: int) -> None:
            candidate = await self._propose(number, lesson)
            if candidate is not None:
                found[number] = candidate

        self.events(PhaseStarted(phase="reflect", skill=self.skill, total=self.options.candidates))
        async with one_error(anyio.create_task_group()) as group:
            for number in range(self.options.candidates):
                group.start_soon(propose, number)
        distinct = {found[number].doc.data: found[number] for number in sorted(found, reverse=True)}
        changed = [candidate for candidate in distinct.values() if candidate.changes]
        if len(changed) > 1:
            changed = await self._try_on_training(changed, lesson.train)
        self.events(PhaseFinished(phase="reflect", skill=self.skill, detail=_candidates_in_words(changed)))
        if changed:
            return max(reversed(changed), key=_training_score)
        return found[min(found)] if found else None

    async def _propose(self, number: int, lesson: Lesson) -> Candidate | None:
        """One set of edits, screened and applied; None where the optimiser gave no usable answer."""
        try:
            edits = await reflect(
                self.roles.optimizer,
                skill_text=lesson.doc.text,
                rules=lesson.doc.rules,
                requirements=lesson.requirements,
                attempts=failures_of(lesson.train, lesson.before, limit=SHOWN_FAILURES),
                edit_budget=self.options.edit_budget,
                turned_down=lesson.turned_down,
                sample=self.options.first_proposal + number,
            )
        except (ModelAuthError, ModelDown):
            raise
        except ModelError as error:
            self.events(Warned(message=f"{self.skill}: the optimiser gave no usable edits ({error.message})"))
            return None
        kept, refused = screen(
            edits,
            leaks=lambda text: _repeats_a_pattern(text, lesson.train),
            typed=(lesson.doc.text, *typed_by_people(lesson.train)),  # what the skill says already enters nothing new
        )
        changed, outcomes = lesson.doc.apply(kept, budget=self.options.edit_budget, turned_down=lesson.turned_down)
        return Candidate(changed, (*outcomes, *refused))

    async def _try_on_training(self, candidates: Sequence[Candidate], train: Sequence[Task]) -> list[Candidate]:
        tried: dict[int, Candidate] = {}

        async def attempt(number: int, candidate: Candidate) -> None:
            trials = await self.trials(candidate.doc, train, "after", self.options.train_samples)
            tried[number] = replace(candidate, train=trials)

        async with one_error(anyio.create_task_group()) as group:
            for number, candidate in enumerate(candidates):
                group.start_soon(attempt, number, candidate)
        return [tried[number] for number in sorted(tried)]


def _training_score(candidate: Candidate) -> tuple[float, float]:
    return summarise(candidate.train) or (0.0, 0.0)


def passed_in_words(trials: Sequence[Trial]) -> str:
    """What came of some trials, for a line of progress."""
    scored = [trial for trial in trials if trial.mark]
    passed = sum(1 for trial in scored if trial.mark and trial.mark.hard == 1.0)
    missing = len(trials) - len(scored)
    return f"{passed} of {len(scored)} passed" + (f", {missing} without a score" if missing else "")


def _candidates_in_words(candidates: Sequence[Candidate]) -> str:
    if not candidates:
        return "no change proposed"
    return f"{len(candidates)} different version{'s' if len(candidates) > 1 else ''} of the skill proposed"


def _repeats_a_pattern(text: str, tasks: Sequence[Task]) -> bool:
    return any(
        leaks(check, text) for task in tasks if isinstance(task.criterion, Rules) for check in task.criterion.checks
    )
