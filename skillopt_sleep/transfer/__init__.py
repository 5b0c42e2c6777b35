"""The story of one transfer experiment: learn a skill on several models, deploy each version on several models.

Tasks are frozen once, and the sealed test tasks are for the matrix only. All models share one budget and one set of
slots. The skill as it is, and none at all, are tried beside the learning, a few attempts at a time, so that they fill
the slots that learning leaves empty and do not stand in its way; a learned skill is deployed as soon as it is learned.
A model that fails leaves its cells missing, with the reason, and holds up no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

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
from skillopt_sleep.transfer.analysis import Arm, cells, recommendation, why_unscored
from skillopt_sleep.workload import SkillWork

__all__ = ["Company", "Terms", "placebo", "run_transfer"]

_FILLER = (
    "The house was built in the year of the great flood, and its stairs are of oak. The collection began with a chest "
    "of shells. Three gardeners once looked after the lime trees. The clock in the yard was a present of the town. "
)
"""Says nothing about any task."""


@dataclass(frozen=True, slots=True)
class Company:
    """The models of an experiment with all their wrappers, ready to be asked."""

    roles: Mapping[str, Roles]
    """By spec of the model."""
    spend: Callable[[], tuple[RoleSpend, ...]]


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
    slots: int
    clock: Callable[[], datetime]


@dataclass(slots=True)
class _State:
    """What is known so far."""

    learned: dict[str, anyio.Event]
    """Model -> set when its learning has ended, well or badly."""
    texts: dict[str, str] = field(default_factory=dict)
    """Model -> the text of the skill that was learned on it."""
    lessons: dict[str, Lesson] = field(default_factory=dict)
    trials: dict[tuple[str, str], tuple[Trial, ...]] = field(default_factory=dict)
    """Deploy model and skill text -> all attempts at the test tasks."""
    asked: dict[tuple[str, str], anyio.Event] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    """Model -> why it could not go on."""


async def run_transfer(item: SkillWork, terms: Terms, company: Company, events: EventSink) -> TransferReport:
    """Do the experiment. Never raises for a model that fails; raises what is a bug, and what interrupts everything."""
    began = terms.clock()
    state = _State({model: anyio.Event() for model in terms.learn_on})
    events(PhaseStarted(phase="test", skill=item.name, total=len(terms.deploy_on)))
    with anyio.move_on_after(None if terms.minutes is None else terms.minutes * 60) as time:
        async with one_error(anyio.create_task_group()) as group:
            for model in terms.learn_on:
                group.start_soon(_learn, item, terms, model, company, state, events)
            for model in terms.deploy_on:
                group.start_soon(_deploy, item, terms, model, company, state)
    events(PhaseFinished(phase="test", skill=item.name, detail=f"{len(terms.deploy_on)} models tried"))
    if time.cancelled_caught:
        _note_what_is_missing(item, terms, state)
    every = [
        _settled(arm, text, state) for model in terms.deploy_on for arm, text in _wanted(item, terms, model, state)
    ]
    policy = terms.options.policy
    sealed = [task for task in item.tasks if task.slice == "test"]
    shape_only = all(task.shape_only and task.model_authored for task in sealed)
    found = cells(every, policy, terms.prices, exploratory=terms.exploratory, shape_only=shape_only)
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
        shape_only=shape_only,
        simulated=terms.simulated,
        lessons=tuple(state.lessons[model] for model in terms.learn_on),
        cells=found,
        recommendation=recommendation(every, found, terms.prices, policy, terms.margin, shape_only=shape_only),
        partial=_why_partial(every, state, terms),
        spend=company.spend(),
    )


async def _learn(item: SkillWork, terms: Terms, model: str, company: Company, state: _State, events: EventSink) -> None:
    """One epoch on one model. What its gate does not accept is not deployed: its skill stays the original."""
    learning = [task for task in item.tasks if task.slice != "test"]
    try:
        epoch = await optimise(
            f"{item.name} on {model}", item.doc, learning, company.roles[model], terms.options, events=events
        )
    except SleepError as error:
        state.problems[model] = error.message
        state.lessons[model] = Lesson(model=model, learned=False, says="", error=error.message)
        state.learned[model].set()
        return
    accepted = epoch.accepted and epoch.candidate is not None
    state.texts[model] = epoch.candidate.doc.text if accepted and epoch.candidate else item.doc.text
    says = epoch.verdict.explanation if epoch.verdict else f"Nothing was learned: {epoch.stopped}."
    edits = epoch.candidate.new_rules if accepted and epoch.candidate else ()
    state.lessons[model] = Lesson(model=model, learned=accepted, says=says, edits=edits)
    state.learned[model].set()


async def _deploy(item: SkillWork, terms: Terms, model: str, company: Company, state: _State) -> None:
    """All skill texts on one model, each as soon as there is one. Arms of one text share its attempts."""

    async def arm(sources: Iterable[str], number: int) -> None:
        for source in sources:
            await state.learned[source].wait()
        text = _wanted(item, terms, model, state)[number][1]
        if text is not None:
            await _attempt(item, terms, model, text, company, state, ahead=not sources)

    try:
        async with one_error(anyio.create_task_group()) as group:
            for number, (wanted, _) in enumerate(_wanted(item, terms, model, state)):
                group.start_soon(arm, _sources(wanted, terms), number)
    except SleepError as error:
        state.problems[model] = error.message


def _sources(arm: Arm, terms: Terms) -> tuple[str, ...]:
    """Models that must have learned before this arm has a text."""
    if arm.kind == "placebo":
        return terms.learn_on
    return (arm.learned_on,) if arm.learned_on is not None else ()


async def _attempt(
    item: SkillWork, terms: Terms, model: str, text: str, company: Company, state: _State, *, ahead: bool
) -> None:
    """The test tasks under one text on one model, once, whoever asks first. `ahead`: beside the learning."""
    if (model, text) in state.asked:
        await state.asked[model, text].wait()
        return
    state.asked[model, text] = anyio.Event()
    state.trials[model, text] = await run_trials(
        company.roles[model].agent,
        company.roles[model].judge,
        text,
        [task for task in item.tasks if task.slice == "test"],
        arm="before" if text == item.doc.text else "after",
        samples=terms.options.policy.samples,
        on_trial=lambda _: None,
        # what is tried ahead never has more calls under way or in the queue than there are slots
        width=max(1, terms.slots // (2 * len(terms.deploy_on))) if ahead else 64,
    )
    state.asked[model, text].set()


def _wanted(item: SkillWork, terms: Terms, model: str, state: _State) -> list[tuple[Arm, str | None]]:
    """All arms on one model with their texts; None where there is no text (yet)."""
    wanted: list[tuple[Arm, str | None]] = [
        (Arm(model, "none"), ""),
        (Arm(model, "original"), item.doc.text),
        *((Arm(model, "learned", learned_on=source), state.texts.get(source)) for source in terms.learn_on),
    ]
    if terms.control:
        wanted.append((Arm(model, "placebo"), placebo(item.doc.text, state.texts.values())))
    return wanted


def _note_what_is_missing(item: SkillWork, terms: Terms, state: _State) -> None:
    """Time is over: what has no result yet is missing, and says so."""
    why = f"{terms.minutes:g} minutes were over"
    for model in terms.learn_on:
        if model not in state.lessons:
            state.lessons[model] = Lesson(model=model, learned=False, says="", error=why)
            state.problems.setdefault(model, why)
    for model in terms.deploy_on:
        wanted = _wanted(item, terms, model, state)
        if any(text is None or (model, text) not in state.trials for _, text in wanted):
            state.problems.setdefault(model, why)


def _settled(arm: Arm, text: str | None, state: _State) -> Arm:
    """An arm with what came of it. A model's problem is the reason for whatever it did not get to."""
    if text is None:
        why = state.problems.get(arm.learned_on or "", "it was not learned")
        return replace(arm, error=f"nothing to deploy: {why}")
    if (trials := state.trials.get((arm.deploy, text))) is None:
        return replace(arm, error=state.problems.get(arm.deploy))
    return replace(arm, trials=trials)


def _why_partial(arms: Sequence[Arm], state: _State, terms: Terms) -> str | None:
    """Why figures are missing; None where none is."""
    why = [f"{model}: {problem.rstrip('.')}" for model, problem in state.problems.items()]
    for model in terms.deploy_on:
        tried = [trial for arm in arms if arm.deploy == model for trial in arm.trials]
        if tried and not any(trial.mark for trial in tried):
            why.append(f"{model}: {why_unscored(tried)}")
    return "; ".join(why) or None


def placebo(original: str, learned: Iterable[str]) -> str:
    """The original with as much text added as was learned at most, none of which asks for anything.

    Where nothing was learned, it is a few sentences longer.
    """
    extra = max((len(text) - len(original) for text in learned), default=0)
    length = extra if extra > 0 else len(_FILLER)
    added = f"\n{_FILLER * (length // len(_FILLER) + 1)}"[: length - 1].rstrip()
    return f"{original}{added.ljust(length - 1, '.')}\n"
