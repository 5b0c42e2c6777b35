"""`python -m skillopt_sleep.experiments.run_gbrain`: do deficient skills get better on held-out tasks?

Runs on any data set in the gbrain-evals `skillopt-v1` layout. Each seed is one deficient skill.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any, Literal

import anyio
from cyclopts import App
from pydantic import Field, field_validator

from skillopt_sleep.backend.budget import Budget
from skillopt_sleep.backend.cached import MemoryCache
from skillopt_sleep.backend.registry import Options
from skillopt_sleep.backend.registry import build as build_model
from skillopt_sleep.backend.stack import compose
from skillopt_sleep.commandline import Flags, Json, new_app, run
from skillopt_sleep.domain.aio import one_error
from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.events import Event
from skillopt_sleep.domain.ports import Model
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.experiments.gbrain_bench import available_seeds, find_data_root, load_seed
from skillopt_sleep.experiments.learning import GateRule, NightTrace, held_out_score, learn


class GbrainRequest(Frozen):
    """One run over several seeds."""

    backend: str = "sim"
    """Backend of the target model."""
    model: str = "mid"
    """Its model."""
    optimizer: str | None = None
    """Spec of the optimiser, for example `sim:strong` or `template` [default: the target model]."""
    data_root: str | None = None
    """Folder with `seed-*` folders [default: $GBRAIN_DATA, else ./data]."""
    seeds: tuple[str, ...] = ()
    """Seeds by name, comma-separated [default: all that are present]."""
    nights: Annotated[int, Field(ge=1, le=20)] = 2
    """At most this many nights a seed."""
    gate: GateRule = "seed"
    """`seed`: accept when the mixed gate score is strictly higher. `strict`: only what the product's gate accepts."""
    edit_budget: Annotated[int, Field(ge=1, le=20)] = 4
    """At most this many edits a night."""
    samples: Annotated[int, Field(ge=1, le=20)] = 1
    """Rollouts of each gate and test task."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Seed of a simulated model."""
    slots: Annotated[int, Field(ge=1, le=256)] = 16
    """Calls under way at once."""
    max_calls: Annotated[int, Field(ge=1)] = 5000
    """At most this many model calls."""
    max_tokens: Annotated[int, Field(ge=1)] = 10_000_000
    """At most this many tokens."""

    @field_validator("seeds", mode="before")
    @classmethod
    def _split_commas(cls, value: Any) -> Any:
        parts = [value] if isinstance(value, str) else value
        return tuple(name.strip() for part in parts for name in str(part).split(",") if name.strip())


class SeedResult(Frozen):
    """One deficient skill before and after the nights."""

    seed: str
    held_out_before: float
    held_out_after: float
    nights: int
    shape_only: bool
    """Whether the tasks check only the form of a reply: a gain here certifies nothing of substance."""
    trace: tuple[NightTrace, ...]


class GbrainView(Frozen):
    experiment: Literal["skillopt-sleep/gbrain"] = "skillopt-sleep/gbrain"
    target: str
    optimizer: str
    gate: GateRule
    simulated: bool
    calls: int
    tokens: int
    results: tuple[SeedResult, ...]


def run_gbrain(request: GbrainRequest) -> GbrainView:
    """Run the experiment. All seeds run side by side under one limiter and one budget.

    Raises `UnknownName` for an unknown seed, backend or model and `InputError` for missing data, before any call.
    """
    root = find_data_root(request.data_root)
    seeds = [(name, *load_seed(root, name)) for name in request.seeds or available_seeds(root)]
    target_spec = f"{request.backend}:{request.model}"
    optimizer_spec = request.optimizer or target_spec
    models = [build_model(spec, Options(seed=request.seed), trusted=True) for spec in (target_spec, optimizer_spec)]

    async def story() -> GbrainView:
        budget = Budget(max_calls=request.max_calls, max_tokens=request.max_tokens)
        limiter, cache = anyio.CapacityLimiter(request.slots), MemoryCache()
        target, optimizer = (
            compose(model, budget=budget, limiter=limiter, cache=cache, events=_ignore) for model in models
        )
        results: dict[str, SeedResult] = {}

        async def one(name: str, skill: str, tasks: list[Task]) -> None:
            results[name] = await _one_seed(name, skill, tasks, target, optimizer, request)

        async with one_error(anyio.create_task_group()) as group:
            for name, skill, tasks in seeds:
                group.start_soon(one, name, skill, tasks)
        spend = budget.spend()
        return GbrainView(
            target=target.id,
            optimizer=optimizer.id,
            gate=request.gate,
            simulated=any(model.id.startswith("sim:") for model in models),
            calls=sum(row.calls for row in spend),
            tokens=sum(row.tokens for row in spend),
            results=tuple(results[name] for name, _, _ in seeds),
        )

    return anyio.run(story)


async def _one_seed(
    name: str, skill: str, tasks: list[Task], target: Model, optimizer: Model, request: GbrainRequest
) -> SeedResult:
    before = await held_out_score(target, skill, tasks, samples=request.samples)
    learned = await learn(
        target,
        optimizer,
        skill,
        tasks,
        nights=request.nights,
        rule=request.gate,
        edit_budget=request.edit_budget,
        samples=request.samples,
    )
    after = before
    if learned.skill != skill:
        after = await held_out_score(target, learned.skill, tasks, samples=request.samples)
    return SeedResult(
        seed=name,
        held_out_before=before,
        held_out_after=after,
        nights=len(learned.trace),
        shape_only=all(task.shape_only for task in tasks),
        trace=learned.trace,
    )


def _ignore(_: Event) -> None:
    """The experiment reports through its result alone."""


def _show(view: GbrainView) -> None:
    out = sys.stdout
    if view.simulated:
        out.write("SIMULATED: every figure below rests on the built-in simulated model.\n")
    out.write(f"target {view.target}, optimiser {view.optimizer}, acceptance rule: {view.gate}\n")
    for result in view.results:
        note = " [shape only: certifies nothing]" if result.shape_only else ""
        last = result.trace[-1] if result.trace else None
        says = f"; product gate: {last.product_verdict or 'not reached'}" if last else ""
        out.write(
            f"{result.seed}: held out {result.held_out_before:.2f} -> {result.held_out_after:.2f} "
            f"after {result.nights} night{'s' if result.nights != 1 else ''}{says}{note}\n"
        )
    better = sum(1 for result in view.results if result.held_out_after > result.held_out_before)
    out.write(f"{better}/{len(view.results)} better; {view.calls} calls, {view.tokens:,} tokens\n")


def command(*, request: Annotated[GbrainRequest | None, Flags] = None, json: Json = False) -> int:
    """Optimise deficient skills for some nights and measure them on held-out tasks."""
    view = run_gbrain(request or GbrainRequest())
    if json:
        sys.stdout.write(view.model_dump_json(indent=2) + "\n")
    else:
        _show(view)
    return 0


def build() -> App:
    app = new_app("run_gbrain", "Do deficient skills get better on held-out tasks?")
    app.default(command)
    return app


if __name__ == "__main__":
    sys.exit(run(build, sys.argv[1:]))
