"""What one transfer experiment costs, and what comes of each seed: learn on the source, freeze, try on the target.

A figure that could not be measured is missing (None), with the reason in `error`; it is never a zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from skillopt_sleep import planning, wiring
from skillopt_sleep.domain.aio import one_error
from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.errors import SleepError, UsageError
from skillopt_sleep.domain.events import Event
from skillopt_sleep.domain.ports import Model
from skillopt_sleep.domain.reports import HarvestCounts, MineCounts, RoleSpend
from skillopt_sleep.domain.spending import Amount
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.domain.trials import Attempt, Trial
from skillopt_sleep.domain.verdicts import Decision, GatePolicy, Verdict
from skillopt_sleep.experiments.learning import GateRule, NightTrace, held_out_trials, learn, mean_score
from skillopt_sleep.gate import judge_gate
from skillopt_sleep.judges import JudgeByCriterion
from skillopt_sleep.replay import pair_up
from skillopt_sleep.settings import Settings
from skillopt_sleep.shelf import SkillFile
from skillopt_sleep.skilldoc import SkillDoc
from skillopt_sleep.transfer.planning import plan_model
from skillopt_sleep.views import PlanView
from skillopt_sleep.wiring import Environment, Places
from skillopt_sleep.workload import SkillWork, Workload

TAIL_CHARS = 400
"""How much of a learned skill is shown: rules are added at the end."""


class Cost(Frozen):
    """What one side used, or is going to. `usd` is None where no price is known."""

    calls: int
    tokens: int
    usd: float | None


class SeedResult(Frozen):
    """One seed. Scores are mean hard scores on the held-out (test) tasks, over families, in [0, 1]."""

    seed: str
    baseline_target: float | None = None
    """The deficient skill, on the target."""
    transferred: float | None = None
    """The skill that was learned on the source, on the target, without further optimisation."""
    direct_target: float | None = None
    """A skill that was learned on the target, on the target; None where that was not asked for."""
    transfer_gain: float | None = None
    """Mean over families of transferred - baseline."""
    retention: float | None = None
    """Transferred gain / direct gain; None where the direct gain is not positive or was not measured."""
    verdict: Decision | None = None
    """What the product's gate says of the transferred gain."""
    verdict_says: str = ""
    samples: int = 1
    """Attempts at each gate and test task under each skill."""
    test_families: int = 0
    interval: tuple[float, float] | None = None
    """Two-sided 90 % interval of the gain, over families."""
    p_value: float | None = None
    """One-sided, exact: of a gain this large if the learned skill were no better."""
    missing_pairs: int = 0
    """Pairs of attempts without two scores; they count for nothing."""
    shape_only: bool = False
    """Whether the reply "ok" would pass a held-out task: then a gain certifies nothing."""
    learned_skill_tail: str = ""
    nights_source: tuple[NightTrace, ...] = ()
    nights_direct: tuple[NightTrace, ...] = ()
    cost_source: Cost = Cost(calls=0, tokens=0, usd=0.0)
    cost_target: Cost = Cost(calls=0, tokens=0, usd=0.0)
    error: str | None = None
    """Why figures are missing."""


@dataclass(frozen=True, slots=True)
class Seed:
    """A deficient skill and its tasks, cut to what the experiment takes."""

    name: str
    folder: Path
    skill: str
    tasks: tuple[Task, ...]

    def __post_init__(self) -> None:
        for slice_, what in (("train", "to learn from"), ("gate", "to accept by"), ("test", "that are held out")):
            if not any(task.slice == slice_ for task in self.tasks):
                raise UsageError(f"The seed {self.name!r} has no tasks {what} ({slice_}).")


@dataclass(frozen=True, slots=True)
class Design:
    """How the experiment is done."""

    nights: int
    edit_budget: int
    samples: int
    rule: GateRule
    direct: bool


def plan_side(seed: Seed, design: Design, forecast: planning.Forecast, *, target: bool) -> PlanView:
    """What one side takes for one seed: expected values and upper bounds."""
    file = SkillFile(name=seed.name, scope="user", path=seed.folder / "SKILL.md")
    item = SkillWork(file, SkillDoc.parse(seed.skill.encode(), path=file.path), seed.tasks)
    return plan_model(
        item,
        Workload(HarvestCounts(), MineCounts(), (item,), {}, seed.tasks),
        forecast,
        nights=design.nights if design.direct or not target else 0,
        arms=(3 if design.direct else 2) if target else 0,
        project=str(seed.folder),
    )


@dataclass(frozen=True, slots=True)
class Side:
    """The source or the target: whose model, and at most how much of it."""

    environment: Environment
    where: Places
    settings: Settings
    most: Amount
    run: str
    """Under this name costly calls are booked; "" keeps no replies."""


@dataclass(slots=True)
class _Found:
    """What is known of a seed so far."""

    baseline: tuple[Trial, ...] = ()
    transferred: tuple[Trial, ...] = ()
    direct: tuple[Trial, ...] | None = None
    learned: str | None = None
    nights_source: tuple[NightTrace, ...] = ()
    nights_direct: tuple[NightTrace, ...] = ()


async def run_seed(seed: Seed, design: Design, source: Side, target: Side) -> SeedResult:
    """The experiment on one seed. Both sides work at the same time; what fails ends this seed and says why."""
    found, error = _Found(), None
    spent: dict[str, tuple[RoleSpend, ...]] = {}
    try:
        async with (
            wiring.staff(source.environment, source.where, source.settings, _ignore, source.most, source.run) as here,
            wiring.staff(target.environment, target.where, target.settings, _ignore, target.most, target.run) as there,
        ):
            try:
                await _story(seed, design, here.models["target"], there.models["target"], found)
            finally:
                spent = {"source": here.budget.spend(), "target": there.budget.spend()}
    except SleepError as problem:
        error = f"{problem.message}{f' {problem.hint}' if problem.hint else ''}"
    result = await _result(seed, design, found)
    return result.model_copy(
        update={
            "cost_source": _cost(spent.get("source", ())),
            "cost_target": _cost(spent.get("target", ())),
            "error": error or result.error,
        }
    )


async def _story(seed: Seed, design: Design, source: Model, target: Model, found: _Found) -> None:
    async def baseline() -> None:
        found.baseline = await held_out_trials(target, seed.skill, seed.tasks, samples=design.samples)

    async def transfer() -> None:
        found.learned, found.nights_source = await _learn(seed, design, source)
        if found.learned != seed.skill:
            found.transferred = await held_out_trials(
                target, found.learned, seed.tasks, samples=design.samples, arm="after"
            )

    async def direct() -> None:
        skill, found.nights_direct = await _learn(seed, design, target)
        found.direct = ()  # nothing was learned: the baseline's attempts stand for it
        if skill != seed.skill:
            found.direct = await held_out_trials(target, skill, seed.tasks, samples=design.samples, arm="after")

    async with one_error(anyio.create_task_group()) as group:
        group.start_soon(baseline)
        group.start_soon(transfer)
        if design.direct:
            group.start_soon(direct)


async def _learn(seed: Seed, design: Design, model: Model) -> tuple[str, tuple[NightTrace, ...]]:
    learned = await learn(
        model,
        model,
        seed.skill,
        [task for task in seed.tasks if task.slice != "test"],
        nights=design.nights,
        rule=design.rule,
        edit_budget=design.edit_budget,
        samples=design.samples,
    )
    return learned.skill, learned.trace


async def _result(seed: Seed, design: Design, found: _Found) -> SeedResult:
    families = len({task.family for task in seed.tasks if task.slice == "test"})
    result = SeedResult(
        seed=seed.name,
        samples=design.samples,
        test_families=families,
        shape_only=await passes_with_ok(seed.tasks),
        learned_skill_tail=(found.learned or "")[-TAIL_CHARS:],
        nights_source=found.nights_source,
        nights_direct=found.nights_direct,
    )
    if not found.baseline:
        return result
    try:
        before = mean_score(found.baseline)
        result = result.model_copy(update={"baseline_target": before})
        if found.direct is not None:
            result = result.model_copy(update={"direct_target": mean_score(found.direct or found.baseline)})
        if found.learned is not None and (found.transferred or found.learned == seed.skill):
            result = result.model_copy(update=_gain(seed, design, found, result))
    except SleepError as problem:
        return result.model_copy(update={"error": problem.message})
    return result


def _gain(seed: Seed, design: Design, found: _Found, result: SeedResult) -> dict[str, object]:
    """The transferred gain, and how sure it is."""
    after = found.transferred or found.baseline
    verdict = judge_gate(
        pair_up(found.baseline, after),
        GatePolicy(samples=design.samples),
        shape_only=result.shape_only,
        edits=0 if found.learned == seed.skill else None,
    )
    gain = verdict.effect
    direct = None
    if found.direct is not None:
        direct = judge_gate(pair_up(found.baseline, found.direct or found.baseline), GatePolicy()).effect
    return {
        "transferred": mean_score(after),
        "transfer_gain": gain,
        "retention": gain / direct if gain is not None and direct is not None and direct > 0 else None,
        "verdict": verdict.decision,
        "verdict_says": _in_words(verdict),
        "interval": verdict.interval if found.transferred else None,
        "p_value": verdict.p_value if found.transferred else None,
        "missing_pairs": verdict.missing_pairs,
    }


def _in_words(verdict: Verdict) -> str:
    said = {
        "no_edits": "Nothing was learned on the source.",
        "shape_only": 'The reply "ok" would pass some of these tasks, so a gain certifies nothing.',
        "too_few_families": f"Too few tasks to certify: {verdict.families} held-out families, and 5 are the least.",
    }
    return said.get(verdict.reason, verdict.explanation)


async def passes_with_ok(tasks: Sequence[Task]) -> bool:
    """Whether a reply without any content would pass one of the held-out tasks."""
    judge = JudgeByCriterion()
    for task in tasks:
        if task.slice == "test":
            score = await judge.score(task, Attempt(task_id=task.id, text="ok"))
            if score.mark is not None and score.mark.hard == 1:
                return True
    return False


def _cost(rows: Sequence[RoleSpend]) -> Cost:
    usd = [row.usd for row in rows]
    known = [amount for amount in usd if amount is not None]
    return Cost(
        calls=sum(row.calls for row in rows),
        tokens=sum(row.tokens for row in rows),
        usd=sum(known) if len(known) == len(usd) else None,
    )


def _ignore(_: Event) -> None:
    """The experiment reports through its result alone."""
