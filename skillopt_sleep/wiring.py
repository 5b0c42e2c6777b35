"""The composition root: the only module that names adapters and puts the pieces together."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from skillopt_sleep.domain.errors import UsageError
from skillopt_sleep.settings import Settings
from skillopt_sleep.store import ProjectFolder, Relay, StateHome, default_home, project_root

if TYPE_CHECKING:
    from skillopt_sleep.consolidate import EpochOptions
    from skillopt_sleep.domain.ports import EventSink, Model
    from skillopt_sleep.domain.reports import RoleSpend
    from skillopt_sleep.domain.sessions import Query
    from skillopt_sleep.domain.tasks import Task
    from skillopt_sleep.night import Crew
    from skillopt_sleep.shelf import Shelf
    from skillopt_sleep.staging import AllowedRoots
    from skillopt_sleep.workload import Search


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Environment:
    """The outside world as the use-cases may see it. Tests and the demo hand in their own."""

    environ: Mapping[str, str]
    cwd: Path
    home: Path
    clock: Callable[[], datetime] = field(default=_now)

    @classmethod
    def current(cls) -> Environment:
        return cls(environ=os.environ, cwd=Path.cwd(), home=Path.home())


@dataclass(frozen=True, slots=True)
class Places:
    """Folders that belong together."""

    state: StateHome
    project: ProjectFolder
    claude: Path
    """Claude Code's own folder: transcripts, the person's skills, plugins."""


def state_home(environment: Environment) -> StateHome:
    return StateHome(default_home(environment.environ))


def places(environment: Environment, settings: Settings) -> Places:
    from skillopt_sleep.shelf import claude_root, whole_path

    state = state_home(environment)
    claude = (
        whole_path(settings.claude_home) if settings.claude_home else claude_root(environment.environ, environment.home)
    )
    return Places(state=state, project=state.project(project_root(environment.cwd)), claude=claude)


def shelf(where: Places) -> Shelf:
    from skillopt_sleep.shelf import Shelf

    return Shelf(where.claude, where.project.root)


def allowed_roots(where: Places) -> AllowedRoots:
    from skillopt_sleep.staging import AllowedRoots

    return AllowedRoots(claude_root=where.claude, project_root=where.project.root)


def query(environment: Environment, where: Places, settings: Settings) -> Query:
    from skillopt_sleep.domain.sessions import Query

    return Query(
        project=None if settings.all_projects else str(where.project.root),
        since=environment.clock() - timedelta(days=settings.since_days),
        limit=settings.max_sessions,
        include_headless=settings.include_headless,
    )


def search(
    environment: Environment,
    where: Places,
    settings: Settings,
    events: EventSink,
    *,
    only: tuple[str, ...] = (),
    given: tuple[Task, ...] | None = None,
) -> Search:
    """Everything `night.gather` needs."""
    from skillopt_sleep.harvest import Tally
    from skillopt_sleep.harvest.claude_code import ClaudeCodeSource
    from skillopt_sleep.redact import redact
    from skillopt_sleep.workload import Search

    tally = Tally(events)
    return Search(
        sources=(ClaudeCodeSource(where.claude, redact=redact, events=tally),),
        query=query(environment, where, settings),
        tally=tally,
        shelf=shelf(where),
        memory=where.state.memory(where.project.root),
        policy=settings.split_policy(),
        only=only,
        given=given,
    )


def require_model(settings: Settings) -> str:
    """The target model's spec. Nothing is ever simulated silently: without a choice there is no run."""
    if settings.target_model is None:
        raise UsageError(
            "No model is chosen, and nothing is ever simulated without being asked for.",
            hint="Try `--target-model sim:mid`: the built-in simulated model, whose figures always say so.",
        )
    return settings.target_model


def models(settings: Settings) -> tuple[Model, Model]:
    """The target and the optimiser, without their wrappers. Unknown names are errors; nothing is called yet.

    A spec may name code of the person's own ("package.module:factory"): it comes from a flag, the environment or the
    user's own file, never from a project's file, which may not choose models.
    """
    from skillopt_sleep.backend.registry import Options, build

    options = Options(seed=settings.seed)
    target = require_model(settings)
    if target == "template":
        raise UsageError(
            "`template` is no model: it writes edits and cannot attempt a task.",
            hint="Use it as --optimizer-model, and choose another --target-model.",
        )
    return build(target, options, trusted=True), build(settings.optimizer_model or target, options, trusted=True)


def is_simulated(*model_ids: str) -> bool:
    return any(model_id.startswith("sim:") for model_id in model_ids)


FREE = ("sim:", "template", "scripted:")
"""Models that cost nothing. What others cost is unknown to this version, and shown as unknown."""


def _with_prices(rows: tuple[RoleSpend, ...]) -> tuple[RoleSpend, ...]:
    return tuple(row.model_copy(update={"usd": 0.0}) if row.model.startswith(FREE) else row for row in rows)


def epoch_options(settings: Settings) -> EpochOptions:
    from skillopt_sleep.consolidate import EpochOptions

    return EpochOptions(
        policy=settings.gate_policy(),
        edit_budget=settings.edit_budget,
        train_samples=settings.train_samples,
        candidates=settings.candidates,
        measure_test=not settings.skip_test,
        gate_off=settings.gate == "off",
    )


def crew(environment: Environment, where: Places, settings: Settings, events: Relay) -> Crew:
    """Who works through a night. Call inside an event loop."""
    import anyio

    from skillopt_sleep.agents.tool_loop import ToolLoop
    from skillopt_sleep.backend.budget import Budget
    from skillopt_sleep.backend.stack import compose
    from skillopt_sleep.domain.ports import Roles
    from skillopt_sleep.judges import JudgeByCriterion
    from skillopt_sleep.night import Crew

    budget = Budget(max_calls=settings.max_calls, max_tokens=settings.max_tokens)
    limiter = anyio.CapacityLimiter(settings.slots)
    cache = where.state.reply_cache(events)
    target, optimizer = (
        compose(model, budget=budget, limiter=limiter, events=events, cache=cache, cache_extra=f"seed={settings.seed}")
        for model in models(settings)
    )
    return Crew(
        roles=Roles(agent=ToolLoop(target), optimizer=optimizer, judge=JudgeByCriterion()),
        models={"target": target.id, "optimizer": optimizer.id},
        simulated=is_simulated(target.id, optimizer.id),
        options=epoch_options(settings),
        max_calls=settings.max_calls,
        spend=lambda: _with_prices(budget.spend()),
        events=events,
        clock=environment.clock,
    )
