"""The composition root: the only module that names adapters and puts the pieces together."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from skillopt_sleep.domain.errors import InputError, UsageError
from skillopt_sleep.settings import Settings
from skillopt_sleep.store import ProjectFolder, Relay, StateHome, default_home, project_root

if TYPE_CHECKING:
    from skillopt_sleep.backend.budget import Budget
    from skillopt_sleep.backend.redacted import Masking
    from skillopt_sleep.consolidate import EpochOptions
    from skillopt_sleep.domain.health import Finding, Noise
    from skillopt_sleep.domain.llm import Role
    from skillopt_sleep.domain.ports import EventSink, Model, Redactor, Roles, TranscriptSource
    from skillopt_sleep.domain.sessions import Query
    from skillopt_sleep.domain.spending import Amount
    from skillopt_sleep.domain.tasks import Task
    from skillopt_sleep.night import Crew
    from skillopt_sleep.planning import Forecast
    from skillopt_sleep.pricing import PriceList
    from skillopt_sleep.shelf import Shelf
    from skillopt_sleep.staging import AllowedRoots
    from skillopt_sleep.store import SpendFile
    from skillopt_sleep.transfer import Company
    from skillopt_sleep.views import PlanView
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
        try:
            return cls(environ=os.environ, cwd=Path.cwd(), home=Path.home())
        except FileNotFoundError as error:
            raise UsageError(
                "The folder you are in does not exist any more.", hint="Change into another one."
            ) from error


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
    from skillopt_sleep.shelf import whole_path

    return Query(
        project=None if settings.all_projects else str(where.project.root),
        since=environment.clock() - timedelta(days=settings.since_days),
        limit=settings.max_sessions,
        include_headless=settings.include_headless,
        deny=tuple(str(whole_path(folder)) for folder in settings.deny_folders),
    )


def source_folders(environment: Environment, where: Places, settings: Settings) -> dict[str, Path]:
    """Where the transcripts of each chosen source lie. Raises `UnknownName` for a source that nobody knows."""
    from skillopt_sleep.domain.errors import UnknownName
    from skillopt_sleep.shelf import whole_path

    codex = settings.codex_home or environment.environ.get("CODEX_HOME")
    known = {"claude-code": where.claude, "codex": whole_path(codex) if codex else environment.home / ".codex"}
    for name in settings.sources:
        if name not in known:
            raise UnknownName("source of sessions", name, known)
    return {name: known[name] for name in dict.fromkeys(settings.sources)}


def sources(
    environment: Environment, where: Places, settings: Settings, events: EventSink
) -> tuple[TranscriptSource, ...]:
    """Whose transcripts are read. Raises `UnknownName` for a source that nobody knows."""
    from skillopt_sleep.harvest.claude_code import ClaudeCodeSource
    from skillopt_sleep.harvest.codex import CodexSource
    from skillopt_sleep.redact import REDACTOR_VERSION, redact

    kinds = {source.name: source for source in (ClaudeCodeSource, CodexSource)}
    index = where.state.transcripts()
    return tuple(
        kinds[name](
            folder,
            redact=redact,
            events=events,
            index=index,
            redactor_version=REDACTOR_VERSION,
            clock=environment.clock,
        )
        for name, folder in source_folders(environment, where, settings).items()
    )


def redactor() -> Redactor:
    """What masks secrets in a text."""
    from skillopt_sleep.redact import redact

    return redact


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
    from skillopt_sleep.workload import Search

    tally = Tally(events)
    return Search(
        sources=sources(environment, where, settings, tally),
        query=query(environment, where, settings),
        tally=tally,
        shelf=shelf(where),
        memory=where.state.memory(where.project.root),
        policy=settings.split_policy(),
        mining=settings.mining,
        graded=settings.judge_model is not None,
        redact=redactor(),
        only=only,
        given=given,
    )


def require_model(environment: Environment, settings: Settings) -> str:
    """The target model's spec. Nothing is ever simulated silently: without a choice there is no run."""
    if settings.target_model is None:
        from skillopt_sleep.available import look_around

        found = look_around(environment.environ)
        listed = "\n".join(f"  {one.flags:<60} {one.what}" for one in found)
        raise UsageError(
            "No model is chosen, and nothing is ever used or simulated without being asked for.",
            hint=f"Found here:\n{listed}\n  `--dry-run` shows the plan and its price first.",
        )
    return settings.target_model


def models(environment: Environment, settings: Settings) -> dict[Role, Model]:
    """Who does what, without their wrappers. Unknown names are errors; nothing is called yet.

    A spec may name code of the person's own ("package.module:factory"): it comes from a flag, the environment or the
    user's own file, never from a project's file, which may not choose models.
    """
    from skillopt_sleep.backend.registry import Options, build

    options = Options(
        seed=settings.seed,
        environ=dict(environment.environ),
        claude_path=settings.claude_path,
        claude_workers=settings.claude_workers,
        openai_url=settings.openai_url,
        call_seconds=settings.call_seconds,
    )
    target = require_model(environment, settings)
    if target == "template":
        raise UsageError(
            "`template` is no model: it writes edits and cannot attempt a task.",
            hint="Use it as --optimizer-model, and choose another --target-model.",
        )
    specs: dict[Role, str | None] = {
        "target": target,
        "optimizer": settings.optimizer_model or target,
        "judge": settings.judge_model,
    }
    # one model, one connection: roles that name the same one share it
    built = {spec: build(spec, options, trusted=True) for spec in dict.fromkeys(specs.values()) if spec is not None}
    found = {role: built[spec] for role, spec in specs.items() if spec is not None}
    if settings.mining == "model":
        _require_language(found["optimizer"], "read conversations", "--optimizer-model", "mining by rules")
    if "judge" in found:
        _require_language(found["judge"], "grade by a rubric", "--judge-model", "no judge, and leave rubrics out")
    return found


def _require_language(model: Model, work: str, flag: str, otherwise: str) -> None:
    """Refuse a stand-in for a model where only a language model will do: every call would fail."""
    if model.id.startswith(("sim:", "template")):
        raise UsageError(f"{model.id} cannot {work}.", hint=f"Choose another {flag}, or {otherwise}.")


def is_simulated(*model_ids: str) -> bool:
    return any(model_id.startswith("sim:") for model_id in model_ids)


def prices(where: Places) -> PriceList:
    """What models cost, a person's own file before the built-in list."""
    from skillopt_sleep.pricing import price_list

    file = where.state.prices_path
    try:
        own = file.read_bytes()
    except FileNotFoundError:
        own = None
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}.") from error
    return price_list(own, where=str(file))


def spend_file(environment: Environment, where: Places, settings: Settings, run: str) -> SpendFile:
    """The lasting account of what costly calls take, for one run."""
    from skillopt_sleep.domain.spending import Caps

    caps = Caps(calls=settings.daily_calls, tokens=settings.daily_tokens, usd=settings.daily_usd)
    return where.state.spend(run, caps, environment.clock)


def forecast(environment: Environment, where: Places, settings: Settings) -> Forecast:
    """What a plan rests on besides the workload."""
    from skillopt_sleep.planning import Forecast, usual_replies

    nights, _ = where.project.nights(limit=5)
    account = spend_file(environment, where, settings, "")
    try:
        today = account.today()
    finally:
        account.close()
    chosen = models(environment, settings) if settings.target_model else {}
    simulated = is_simulated(*(model.id for model in chosen.values()))
    return Forecast(
        settings=settings,
        prices=prices(where),
        models=chosen,
        gate_tests=where.state.gate_tests(where.project.root, simulated=simulated).all(),
        usual_reply=usual_replies(nights),
        spent_today=today,
    )


def measured_noise(environment: Environment, where: Places, settings: Settings) -> Noise | None:
    """How noisy the target was found to be in this project; None where nobody has measured it."""
    return where.project.noise(models(environment, settings)["target"].id)


def epoch_options(settings: Settings) -> EpochOptions:
    from skillopt_sleep.consolidate import EpochOptions

    return EpochOptions(
        policy=settings.gate_policy(),
        edit_budget=settings.edit_budget,
        train_samples=settings.train_samples,
        candidates=settings.candidates,
        measure_test=not settings.skip_test,
        gate_off=settings.gate == "off",
        anchors=settings.anchors,
    )


K = TypeVar("K", bound=str)
_JUDGE = "(the judge)"
"""Key of the grader beside the specs of models, none of which looks like this."""


@dataclass(frozen=True, slots=True)
class Staff(Generic[K]):
    """Models with all their wrappers, and what keeps account of them."""

    models: dict[K, Model]
    budget: Budget
    masking: Masking
    account: SpendFile | None
    """None where nothing costs anything."""

    @property
    def simulated(self) -> bool:
        return is_simulated(*(model.id for model in self.models.values()))


@asynccontextmanager
async def staff(
    environment: Environment, where: Places, settings: Settings, events: EventSink, most: Amount | None, run: str
) -> AsyncIterator[Staff[Role]]:
    """The chosen models, ready to be asked, within caps of `most` (None: those of the settings). Closed at the end.

    `run` is the name under which costly calls are booked; "" keeps no replies either: what is asked is asked anew.
    """
    async with _equipped(environment, where, settings, events, most, run, models(environment, settings)) as present:
        yield present


@asynccontextmanager
async def _equipped(
    environment: Environment,
    where: Places,
    settings: Settings,
    events: EventSink,
    most: Amount | None,
    run: str,
    raw: Mapping[K, Model],
) -> AsyncIterator[Staff[K]]:
    """Models in their wrappers, all under one budget and on one set of slots."""
    import anyio

    from skillopt_sleep.backend.budget import Budget
    from skillopt_sleep.backend.redacted import Masking
    from skillopt_sleep.backend.stack import compose
    from skillopt_sleep.domain.ports import Closable
    from skillopt_sleep.domain.spending import FREE

    known = prices(where)
    priced = {model.id: known.of(model) for model in raw.values()}
    free = all(price == FREE for price in priced.values())
    account = None if free else spend_file(environment, where, settings, run or f"doctor {environment.clock():%H%M%S}")
    budget = Budget(
        max_calls=most.calls if most else settings.max_calls,
        max_tokens=most.tokens if most else settings.max_tokens,
        max_usd=most.usd if most and most.usd else settings.max_usd,
        price_of=priced.get,
        book=account,
        already=account.spent() if account else (),
    )
    limiter = anyio.CapacityLimiter(settings.slots)
    cache = where.state.reply_cache(events) if run else None
    masking = Masking(redactor())
    extra = f"seed={settings.seed}"
    try:
        ready = {
            role: compose(
                model, budget=budget, limiter=limiter, events=events, cache=cache, cache_extra=extra, masking=masking
            )
            for role, model in raw.items()
        }
        yield Staff(models=ready, budget=budget, masking=masking, account=account)
    finally:
        with anyio.CancelScope(shield=True):
            for model in {id(model): model for model in raw.values()}.values():
                if isinstance(model, Closable):
                    await model.aclose()
        if account:
            account.close()
        if cache:
            cache.close()


def roles(models: Mapping[Role, Model], *, as_memory: bool = False) -> Roles:
    """Who does what with these models. With `as_memory`, the document that is tried is a memory file, and no skill."""
    from skillopt_sleep.agents.tool_loop import ToolLoop
    from skillopt_sleep.domain.ports import Roles
    from skillopt_sleep.judges import JudgeByCriterion, RubricJudge

    judge = JudgeByCriterion(grader=RubricJudge(models["judge"]) if "judge" in models else None)
    agent = ToolLoop(models["target"], as_memory=as_memory)
    return Roles(agent=agent, optimizer=models["optimizer"], judge=judge)


@asynccontextmanager
async def crew(
    environment: Environment, where: Places, settings: Settings, events: Relay, plan: PlanView, run: str
) -> AsyncIterator[Crew]:
    """Who works through a night that was planned so, and is called `run`. Whatever was opened is closed at the end.

    What the plan called its upper bound becomes the cap: it is never passed.
    """
    from skillopt_sleep.domain.spending import Amount
    from skillopt_sleep.night import Crew

    most = Amount(plan.most_calls, plan.most_tokens, plan.most_usd or 0.0)
    async with staff(environment, where, settings, events, most, run) as present:
        yield Crew(
            roles=roles(present.models),
            memory_roles=roles(present.models, as_memory=True),
            models={role: model.id for role, model in present.models.items()},
            simulated=present.simulated,
            options=epoch_options(settings),
            gate_tests=where.state.gate_tests(where.project.root, simulated=present.simulated),
            max_calls=settings.max_calls,
            minutes=_minutes(settings, present.account),
            spend=present.budget.spend,
            masked=lambda: present.masking.counts,
            events=events,
            clock=environment.clock,
        )


@asynccontextmanager
async def company(
    environment: Environment,
    where: Places,
    settings: Settings,
    events: EventSink,
    most: Amount,
    run: str,
    specs: Sequence[str],
) -> AsyncIterator[Company]:
    """The models of a transfer experiment, each as target and optimiser, and the one grader of them all.

    They share the caps and the slots: `--slots` holds for the whole experiment, and so does every cap.
    """
    from skillopt_sleep.transfer import Company

    raw: dict[str, Model] = {}
    for spec in specs:
        found = models(environment, settings.model_copy(update={"target_model": spec, "optimizer_model": spec}))
        raw[spec] = found["target"]
        if "judge" in found and _JUDGE not in raw:
            raw[_JUDGE] = found["judge"]
    async with _equipped(environment, where, settings, events, most, run, raw) as present:
        judge: dict[Role, Model] = {"judge": present.models[_JUDGE]} if _JUDGE in present.models else {}
        ready = {spec: present.models[spec] for spec in specs}
        yield Company(
            roles={spec: roles({"target": model, "optimizer": model, **judge}) for spec, model in ready.items()},
            spend=present.budget.spend,
        )


def versions(environment: Environment, settings: Settings) -> tuple[Finding, ...]:
    """What is installed, for whoever has to help: Python, ourselves, the SDK, and the clients that were found."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    import anyio

    from skillopt_sleep import __version__
    from skillopt_sleep.domain.health import Finding
    from skillopt_sleep.process import version_of

    ours = f"skillopt-sleep {__version__}, Python {platform.python_version()} on {platform.system()}"
    try:
        ours += f", anthropic {version('anthropic')}"
    except PackageNotFoundError:
        ours += ", no anthropic SDK"
    program = settings.claude_path or shutil.which("claude", path=environment.environ.get("PATH", ""))
    if program is None:
        return (Finding(about="versions", state="ok", text=f"{ours}, no Claude Code on the path."),)
    try:
        found = anyio.run(version_of, program, environment.environ)
    except OSError as error:
        text = f"{program} cannot be started: {error.strerror or error}."
        return (
            Finding(about="versions", state="ok", text=f"{ours}."),
            Finding(about="versions", state="problem", text=text, what_to_do="Correct --claude-path."),
        )
    return (Finding(about="versions", state="ok", text=f"{ours}, Claude Code {found} ({program})."),)


def _minutes(settings: Settings, account: SpendFile | None) -> float | None:
    """How long the night may last: its own cap, or what is left of the day's."""
    left = None
    if settings.daily_minutes is not None and account is not None:
        left = max(0.0, settings.daily_minutes - account.minutes_today())
    limits = [limit for limit in (settings.max_minutes, left) if limit is not None]
    return min(limits, default=None)
