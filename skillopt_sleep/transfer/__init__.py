"""The story of one transfer experiment: learn a skill on several models, deploy each version on several models.

Tasks are frozen once, and the sealed test tasks are for the matrix only. Every model has wrappers and caps of its own;
one that fails leaves its cells missing, with the reason, and holds up no other.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import anyio

from skillopt_sleep.consolidate import EpochOptions, optimise
from skillopt_sleep.domain.aio import one_error
from skillopt_sleep.domain.errors import SleepError
from skillopt_sleep.domain.events import PhaseFinished, PhaseStarted
from skillopt_sleep.domain.ports import EventSink, Roles
from skillopt_sleep.domain.reports import RoleSpend
from skillopt_sleep.domain.spending import Price
from skillopt_sleep.domain.transfers import Lesson, TransferReport
from skillopt_sleep.domain.trials import Trial
from skillopt_sleep.replay import run_trials
from skillopt_sleep.transfer.analysis import Arm, cells, recommendation
from skillopt_sleep.workload import SkillWork

__all__ = ["Member", "Terms", "run_transfer"]

_FILLER = (
    "The house was built in the year of the great flood, and its stairs are of oak. The collection began with a chest "
    "of shells. Three gardeners once looked after the lime trees. The clock in the yard was a present of the town. "
)
"""Says nothing about any task."""


@dataclass(frozen=True, slots=True)
class Member:
    """One model with all its wrappers, ready to be asked."""

    roles: Roles
    spend: Callable[[], tuple[RoleSpend, ...]]


Stage = Literal["learn", "deploy"]

Hire = Callable[[Stage, str], AbstractAsyncContextManager[Member]]
"""Opens a model by its spec for one stage, and closes it at the end."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What was asked for."""

    id: str
    learn_on: tuple[str, ...]
    deploy_on: tuple[str, ...]
    options: EpochOptions
    grader: str
    self_graded: tuple[str, ...]
    control: bool
    margin: float
    exploratory: bool
    simulated: bool
    prices: Mapping[str, Price | None]
    """By spec of a deploy model."""
    minutes: float | None
    clock: Callable[[], datetime]


@dataclass(slots=True)
class _State:
    texts: dict[str, str] = field(default_factory=dict)
    """Model -> the text of the skill that was learned on it."""
    lessons: dict[str, Lesson] = field(default_factory=dict)
    spend: list[RoleSpend] = field(default_factory=list)
    arms: dict[str, tuple[Arm, ...]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    """Model -> why it could not go on."""


async def run_transfer(item: SkillWork, terms: Terms, hire: Hire, events: EventSink) -> TransferReport:
    """Do the experiment. Never raises for a model that fails; raises what is a bug, and what interrupts everything."""
    began = terms.clock()
    state = _State()
    with anyio.move_on_after(None if terms.minutes is None else terms.minutes * 60) as time:
        events(PhaseStarted(phase="replay", skill=item.name, total=len(terms.learn_on)))
        await _side_by_side(terms.learn_on, lambda model: _learn(item, terms, model, hire, state, events))
        events(PhaseFinished(phase="replay", skill=item.name, detail=f"{len(state.texts)} skills learned"))
        events(PhaseStarted(phase="gate", skill=item.name, total=len(terms.deploy_on)))
        await _side_by_side(terms.deploy_on, lambda model: _deploy(item, terms, model, hire, state))
        events(PhaseFinished(phase="gate", skill=item.name, detail=f"{len(terms.deploy_on)} models tried"))
    if time.cancelled_caught:
        _note_what_is_missing(item, terms, state)
    every = [arm for model in terms.deploy_on for arm in state.arms[model]]
    policy = terms.options.policy
    found = cells(every, policy, terms.prices, exploratory=terms.exploratory)
    return TransferReport(
        id=terms.id,
        skill=item.name,
        started_at=began,
        finished_at=terms.clock(),
        optimised_on=terms.learn_on,
        deployed_on=terms.deploy_on,
        grader=terms.grader,
        self_graded=terms.self_graded,
        test_families=item.families.get("test", 0),
        samples=policy.samples,
        margin=terms.margin,
        exploratory=terms.exploratory,
        simulated=terms.simulated,
        lessons=tuple(state.lessons[model] for model in terms.learn_on),
        cells=found,
        recommendation=recommendation(every, found, terms.prices, policy, terms.margin),
        partial="; ".join(f"{model}: {why}" for model, why in state.problems.items()) or None,
        spend=tuple(state.spend),
    )


async def _side_by_side(models: Iterable[str], work: Callable[[str], Coroutine[Any, Any, None]]) -> None:
    async with one_error(anyio.create_task_group()) as group:
        for model in models:
            group.start_soon(work, model)


async def _learn(item: SkillWork, terms: Terms, model: str, hire: Hire, state: _State, events: EventSink) -> None:
    """One epoch on one model. What its gate does not accept is not deployed: its skill stays the original."""
    learning = [task for task in item.tasks if task.slice != "test"]
    try:
        async with hire("learn", model) as member:
            try:
                epoch = await optimise(
                    f"{item.name} on {model}", item.doc, learning, member.roles, terms.options, events=events
                )
            finally:
                state.spend += member.spend()
    except SleepError as error:
        state.problems[model] = error.message
        state.lessons[model] = Lesson(model=model, learned=False, says="", error=error.message)
        return
    accepted = epoch.accepted and epoch.candidate is not None
    state.texts[model] = epoch.candidate.doc.text if accepted and epoch.candidate else item.doc.text
    says = epoch.verdict.explanation if epoch.verdict else f"Nothing was learned: {epoch.stopped}."
    edits = epoch.candidate.new_rules if accepted and epoch.candidate else ()
    state.lessons[model] = Lesson(model=model, learned=accepted, says=says, edits=edits)


async def _deploy(
    item: SkillWork,
    terms: Terms,
    model: str,
    hire: Hire,
    state: _State,
) -> None:
    """All skill texts on one model. Arms of one text share its attempts."""
    wanted = _wanted(item, terms, model, state)
    trials: dict[str, tuple[Trial, ...]] = {}
    test = [task for task in item.tasks if task.slice == "test"]
    problem = None

    async def attempt(member: Member, text: str) -> None:
        trials[text] = await run_trials(
            member.roles.agent,
            member.roles.judge,
            text,
            test,
            arm="before" if text == item.doc.text else "after",
            samples=terms.options.policy.samples,
            on_trial=lambda _: None,
        )

    try:
        async with hire("deploy", model) as member:
            try:
                async with one_error(anyio.create_task_group()) as group:
                    for text in dict.fromkeys(text for _, text in wanted if text is not None):
                        group.start_soon(attempt, member, text)
            finally:
                state.spend += member.spend()
    except SleepError as error:
        problem = error.message
        state.problems[model] = error.message
    state.arms[model] = tuple(_settled(arm, text, trials, problem, state) for arm, text in wanted)


def _wanted(item: SkillWork, terms: Terms, model: str, state: _State) -> list[tuple[Arm, str | None]]:
    """All arms on one model with their texts; None where there is no text, because learning it failed."""
    wanted: list[tuple[Arm, str | None]] = [
        (Arm(model, "none"), ""),
        (Arm(model, "original"), item.doc.text),
        *((Arm(model, "learned", learned_on=source), state.texts.get(source)) for source in terms.learn_on),
    ]
    if terms.control:
        wanted.append((Arm(model, "placebo"), _placebo(item.doc.text, state.texts.values())))
    return wanted


def _note_what_is_missing(item: SkillWork, terms: Terms, state: _State) -> None:
    """Time is over: what has no result yet is missing, and says so."""
    why = f"{terms.minutes:g} minutes were over"
    for model in terms.learn_on:
        if model not in state.lessons:
            state.lessons[model] = Lesson(model=model, learned=False, says="", error=why)
            state.problems[model] = why
    for model in terms.deploy_on:
        if model not in state.arms:
            state.problems[model] = why
            state.arms[model] = tuple(
                Arm(arm.deploy, arm.kind, arm.learned_on, error=why) for arm, _ in _wanted(item, terms, model, state)
            )


def _settled(
    arm: Arm, text: str | None, trials: Mapping[str, tuple[Trial, ...]], problem: str | None, state: _State
) -> Arm:
    if text is None:
        why = state.problems.get(arm.learned_on or "", "it was not learned")
        return Arm(arm.deploy, arm.kind, arm.learned_on, error=f"nothing to deploy: {why}")
    if text not in trials:
        return Arm(arm.deploy, arm.kind, arm.learned_on, error=problem)
    return Arm(arm.deploy, arm.kind, arm.learned_on, trials=trials[text])


def _placebo(original: str, learned: Iterable[str]) -> str:
    """The original with as much text added as was learned at most, none of which asks for anything."""
    extra = max((len(text) - len(original) for text in learned), default=0)
    length = max(extra, len(_FILLER))
    return f"{original.rstrip()}\n\n{(_FILLER * (length // len(_FILLER) + 1))[:length].strip()}\n"
