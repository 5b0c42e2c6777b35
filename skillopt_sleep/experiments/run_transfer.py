"""`python -m skillopt_sleep.experiments.run_transfer`: does a skill that one model learned help another?

For each deficient skill of a data set in the gbrain-evals `skillopt-v1` layout: optimise it on the source for some
nights, freeze it, and try it on held-out tasks on the target, beside the deficient skill and, unless `--no-direct`, a
skill that was optimised on the target itself. Acceptance inside is the experiment's own rule ("mixed score strictly
higher"): with three gate tasks no honest test can certify anything. The product's gate judges each gain beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
from cyclopts import App
from pydantic import Field, field_validator

from skillopt_sleep import wiring
from skillopt_sleep.commandline import Flags, Json, new_app, run
from skillopt_sleep.domain.aio import one_error
from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.errors import NothingToDo, UsageError
from skillopt_sleep.domain.spending import Amount
from skillopt_sleep.experiments.gbrain_bench import find_data_root, load_seed, seed_folder
from skillopt_sleep.experiments.learning import GateRule
from skillopt_sleep.experiments.transferring import Design, Seed, SeedResult, Side, plan_side, run_seed
from skillopt_sleep.settings import Settings, resolve
from skillopt_sleep.transfer.planning import in_words, parts, total
from skillopt_sleep.views import PlanView
from skillopt_sleep.wiring import Environment

Which = Literal["source", "target"]


class TransferRequest(Frozen):
    """One experiment over one or more seeds."""

    source_backend: str = "claude"
    """Backend that the skill is learned on."""
    source_model: str = "haiku"
    """Its model."""
    target_backend: str = "claude"
    """Backend that the frozen skill is tried on."""
    target_model: str = "sonnet"
    """Its model."""
    seeds: tuple[str, ...] = ("brief-writer",)
    """Deficient skills, by name, comma-separated."""
    nights: Annotated[int, Field(ge=1, le=20)] = 2
    """At most this many nights of optimisation."""
    data_root: str | None = None
    """Folder with `seed-*` folders, or `builtin` for seeds of our own [default: $GBRAIN_DATA, else ./data]."""
    edit_budget: Annotated[int, Field(ge=1, le=20)] = 4
    """At most this many edits a night."""
    limit_replay: Annotated[int, Field(ge=0)] = 3
    """At most this many training tasks; 0 takes all."""
    limit_holdout: Annotated[int, Field(ge=0)] = 3
    """At most this many gate tasks, and as many held-out (test) tasks; 0 takes all."""
    no_direct: bool = False
    """Leave out the skill that is optimised on the target itself."""
    gate: GateRule = "seed"
    """`seed`: accept when the mixed gate score is strictly higher. `strict`: only what the product's gate accepts."""
    samples: Annotated[int, Field(ge=1, le=20)] = 1
    """Attempts at each gate and test task."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Seed of a simulated model."""
    claude_path: str | None = None
    """The `claude` program [default: the one on PATH]."""
    openai_url: str | None = None
    """Address of an OpenAI-compatible service."""
    slots: Annotated[int, Field(ge=1, le=256)] = 16
    """Calls under way at once, on each side of each seed."""
    max_calls: Annotated[int, Field(ge=1)] | None = None
    """At most this many model calls [default: the setting of that name]."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """At most this many tokens [default: the setting of that name]."""
    max_usd: Annotated[float, Field(ge=0)] | None = None
    """At most this much money, in US dollars [default: the setting of that name]."""
    dry_run: bool = False
    """Show what it would take, and call no model."""
    yes: bool = False
    """Agree to the price beforehand."""

    @field_validator("seeds", mode="before")
    @classmethod
    def _split_commas(cls, value: Any) -> Any:
        parts = [value] if isinstance(value, str) else value
        return tuple(name.strip() for part in parts for name in str(part).split(",") if name.strip())

    def spec(self, side: Which) -> str:
        """Backend and model of one side, as "backend:model"."""
        return f"{self.source_backend}:{self.source_model}" if side == "source" else self._target

    @property
    def _target(self) -> str:
        return f"{self.target_backend}:{self.target_model}"


class TransferPlan(Frozen):
    """What the experiment would take. Making it called no model."""

    source: str
    target: str
    simulated: bool
    free: bool
    calls: int
    most_calls: int
    tokens: int
    most_tokens: int
    usd: float | None
    """None where a price is not known."""
    most_usd: float | None

    says: str

    def in_words(self) -> str:
        """One sentence."""
        return f"{self.source} -> {self.target}: {self.says}."


class TransferView(Frozen):
    experiment: Literal["skillopt-sleep/transfer"] = "skillopt-sleep/transfer"
    source: str
    target: str
    acceptance: GateRule
    simulated: bool
    plan: TransferPlan
    tokens_source: int = 0
    tokens_target: int = 0
    results: tuple[SeedResult, ...] = ()


Confirm = Callable[[TransferPlan], bool]


class Experiment:
    """An experiment that has been planned: every name is known, every file was read, and nothing was called."""

    def __init__(self, request: TransferRequest, environment: Environment) -> None:
        self._request = request
        self._environment = environment
        self.design = Design(
            nights=request.nights,
            edit_budget=request.edit_budget,
            samples=request.samples,
            rule=request.gate,
            direct=not request.no_direct,
        )
        root = find_data_root(request.data_root)
        if not request.seeds:
            raise UsageError("--seeds names no seed.", hint="`--seeds brief-writer` is the default.")
        self._seeds = [self._load(root, name) for name in dict.fromkeys(request.seeds)]
        self._settings: dict[Which, Settings] = {"source": self._resolve("source"), "target": self._resolve("target")}
        self._where = wiring.places(environment, self._settings["source"])
        self.ids: dict[Which, str] = {}
        self._plans: dict[tuple[str, Which], PlanView] = {}
        self._parts: dict[str, Amount] = {}
        for side, settings in self._settings.items():
            forecast = wiring.forecast(environment, self._where, settings)
            self.ids[side] = forecast.models["target"].id
            for seed in self._seeds:
                self._plans[seed.name, side] = plan_side(seed, self.design, forecast, target=side == "target")
        self.plan = self._sum()

    def _load(self, root: Path, name: str) -> Seed:
        skill, tasks = load_seed(root, name)
        request = self._request
        limits = {"train": request.limit_replay, "gate": request.limit_holdout, "test": request.limit_holdout}
        kept = [
            task
            for slice_, limit in limits.items()
            for task in [task for task in tasks if task.slice == slice_][: limit or None]
        ]
        return Seed(name, seed_folder(root, name), skill, tuple(kept))

    def _resolve(self, side: Which) -> Settings:
        request = self._request
        flags: dict[str, Any] = {
            "target_model": request.spec(side),
            "optimizer_model": request.spec(side),
            "candidates": 1,
            "samples": request.samples,
            "edit_budget": request.edit_budget,
            "seed": request.seed,
            "slots": request.slots,
        }
        own = {name: getattr(request, name) for name in ("claude_path", "openai_url", *_CAPS)}
        flags |= {name: value for name, value in own.items() if value is not None}
        home = wiring.state_home(self._environment)
        return resolve(
            user_file=home.config_path, project=None, environ=self._environment.environ, flags=flags
        ).settings

    def _sum(self) -> TransferPlan:
        whole = total(list(self._plans.values()), self._settings["source"])
        self._parts = parts({self._key(*key): plan for key, plan in self._plans.items()}, whole)
        return TransferPlan(
            source=self.ids["source"],
            target=self.ids["target"],
            simulated=whole.simulated,
            free=whole.costs == "nothing",
            calls=whole.expected_calls,
            most_calls=whole.most_calls,
            tokens=whole.expected_tokens,
            most_tokens=whole.most_tokens,
            usd=whole.expected_usd,
            most_usd=whole.most_usd,
            says=in_words(whole),
        )

    @staticmethod
    def _key(seed: str, side: Which) -> str:
        return f"{seed} {side}"

    def _side(self, seed: Seed, side: Which, run_name: str) -> Side:
        """One side of one seed, with its part of the caps: what it is expected to take, and a share of the rest."""
        mine = self._plans[seed.name, side]
        key = self._key(seed.name, side)
        name = "" if mine.costs == "nothing" else f"{run_name} {key}"
        return Side(self._environment, self._where, self._settings[side], self._parts[key], name)

    def run(self) -> TransferView:
        """Do it. Seeds run side by side; one that fails says so and holds up no other."""
        results: dict[str, SeedResult] = {}
        run_name = f"transfer {self._environment.clock():%Y%m%dT%H%M%S}"

        async def one(seed: Seed) -> None:
            source, target = (self._side(seed, side, run_name) for side in ("source", "target"))
            results[seed.name] = await run_seed(seed, self.design, source, target)

        async def story() -> None:
            async with one_error(anyio.create_task_group()) as group:
                for seed in self._seeds:
                    group.start_soon(one, seed)

        anyio.run(story)
        found = tuple(results[seed.name] for seed in self._seeds)
        return TransferView(
            source=self.ids["source"],
            target=self.ids["target"],
            acceptance=self._request.gate,
            simulated=self.plan.simulated,
            plan=self.plan,
            tokens_source=sum(result.cost_source.tokens for result in found),
            tokens_target=sum(result.cost_target.tokens for result in found),
            results=found,
        )


_CAPS = ("max_calls", "max_tokens", "max_usd")


def run_transfer(
    request: TransferRequest, environment: Environment | None = None, *, confirm: Confirm | None = None
) -> TransferView:
    """Plan the experiment, have its price agreed to, and do it. With `dry_run`, the plan alone.

    Raises `UnknownName` for an unknown backend, model or seed, `InputError` for missing or broken data, `UsageError`
    for caps that are too small or a price nobody agreed to: all before any call.
    """
    experiment = Experiment(request, environment or Environment.current())
    plan = experiment.plan
    if request.dry_run:
        return TransferView(
            source=plan.source, target=plan.target, acceptance=request.gate, simulated=plan.simulated, plan=plan
        )
    if not plan.free and not request.yes:
        if confirm is None:
            raise UsageError(
                f"This can cost money, and nobody has agreed to it: {plan.in_words()}",
                hint="Look at it with --dry-run; then say --yes.",
            )
        if not confirm(plan):
            raise NothingToDo("Nothing was begun, and nothing was spent.")
    return experiment.run()


def _ask(plan: TransferPlan) -> bool:
    """Ask on standard error; whatever is not yes is no."""
    sys.stderr.write(f"{plan.in_words()}\nGo on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def _show(view: TransferView) -> None:
    out = sys.stdout
    if view.simulated:
        out.write("SIMULATED: figures below rest on the built-in simulated model.\n")
    out.write(f"{view.plan.in_words()}\n")
    if view.source == view.target:
        out.write("Source and target are the same model: this measures learning, not transfer.\n")
    for result in view.results:
        out.write(_line(result))
    if view.results:
        positive = sum(1 for result in view.results if (result.transfer_gain or 0) > 0)
        out.write(
            f"{positive}/{len(view.results)} positive; {view.tokens_source:,} tokens on the source, "
            f"{view.tokens_target:,} on the target\n"
        )


def _line(result: SeedResult) -> str:
    note = " [shape only: certifies nothing]" if result.shape_only else ""
    if result.error is not None:
        return f"{result.seed}: missing, because {result.error}{note}\n"
    direct = f", direct {_score(result.direct_target)}" if result.direct_target is not None else ""
    kept = f", retention {result.retention:.2f}" if result.retention is not None else ""
    gain = "missing" if result.transfer_gain is None else f"{result.transfer_gain:+.2f}"
    if result.interval is not None:
        gain += f" (90 % interval {result.interval[0]:+.2f} to {result.interval[1]:+.2f})"
    return (
        f"{result.seed}: baseline {_score(result.baseline_target)}, transferred {_score(result.transferred)}{direct}; "
        f"gain {gain}{kept}; {result.verdict_says}{note}\n"
    )


def _score(value: float | None) -> str:
    return "missing" if value is None else f"{value:.2f}"


def command(*, request: Annotated[TransferRequest | None, Flags] = None, json: Json = False) -> int:
    """Learn skills on one model, and try them on another."""
    asking = _ask if sys.stdin.isatty() and not json else None
    view = run_transfer(request or TransferRequest(), confirm=asking)
    if json:
        sys.stdout.write(view.model_dump_json(indent=2) + "\n")
    else:
        _show(view)
    return 1 if any(result.error is not None for result in view.results) else 0


def build() -> App:
    app = new_app("run_transfer", "Does a skill that one model learned help another?")
    app.default(command)
    return app


if __name__ == "__main__":
    sys.exit(run(build, sys.argv[1:]))
