"""Layered settings: every option is declared once, here, as a field; every resolved value knows where it came from.

    built-in defaults < user file < project file (allow-listed options only) < environment < flags

The option groups are plain mixins: a request model inherits the groups it offers as flags, so a flag, a TOML key, an
environment variable (`SKILLOPT_SLEEP_` + name in capitals) and a line of `config show` are one definition.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.errors import InputError, UnknownName, UsageError
from skillopt_sleep.domain.slices import SplitPolicy
from skillopt_sleep.domain.verdicts import GatePolicy, Metric

ENV_PREFIX = "SKILLOPT_SLEEP_"
PROJECT_FILE = ".skillopt-sleep.toml"


def _split_commas(value: Any) -> Any:
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, list | tuple):
        return value
    return tuple(name.strip() for part in parts for name in str(part).split(",") if name.strip())


Names = Annotated[tuple[str, ...], BeforeValidator(_split_commas)]
"""Several names; as a flag or in the environment separated by commas."""


class PlaceOptions(Frozen):
    """Where a person's own files lie."""

    claude_home: str | None = None
    """Folder of Claude Code's own files [default: $CLAUDE_CONFIG_DIR, else ~/.claude]."""


class HarvestOptions(PlaceOptions):
    """Which past sessions are read."""

    include_headless: bool = False
    """Also read sessions that a program started (`claude -p`, SDK)."""
    since_days: Annotated[int, Field(ge=1, le=3650)] = 30
    """Only sessions that ended in the last N days."""
    max_sessions: Annotated[int, Field(ge=1)] = 2000
    """At most this many sessions, newest first."""
    all_projects: bool = False
    """Read the sessions of every project, not only of this one."""
    sources: Names = ("claude-code", "codex")
    """Whose transcripts are read (comma-separated)."""
    codex_home: str | None = None
    """Folder of Codex's own files [default: $CODEX_HOME, else ~/.codex]."""
    deny_folders: Names = ()
    """Never read sessions of these working folders, or of folders below them (comma-separated)."""


class ServiceOptions(Frozen):
    """How models are reached."""

    openai_url: str | None = None
    """Address of an OpenAI-compatible service [default: $OPENAI_BASE_URL, else Ollama on this machine]."""
    claude_path: str | None = None
    """The `claude` program [default: the one on PATH]."""
    claude_workers: Annotated[int, Field(ge=1, le=32)] = 4
    """`claude` processes that answer side by side."""
    call_seconds: Annotated[float, Field(gt=0, le=3600)] = 180.0
    """Longest time one model call may take, in seconds."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Seed of everything random that is ours: the simulated model and resampling."""
    slots: Annotated[int, Field(ge=1, le=256)] = 16
    """Calls under way at once."""


class ModelOptions(ServiceOptions):
    """Who does the work. A spec is `backend` or `backend:model`, for example `sim:mid`."""

    target_model: str | None = None
    """Model that attempts the tasks (the one the skill is for)."""
    optimizer_model: str | None = None
    """Model that proposes edits; `template` needs no model [default: the target model]."""
    judge_model: str | None = None
    """Model that grades replies where a task has a rubric [default: rubrics stay unscored]."""
    mining: Literal["rules", "model"] = "rules"
    """How tasks are found in sessions: by fixed rules, free of cost, or by asking the optimiser's model."""


class BudgetOptions(Frozen):
    """Hard caps, of this command and of the day. They are reserved before each call, so they are never passed."""

    max_calls: Annotated[int, Field(ge=1)] = 2000
    """At most this many model calls a night."""
    max_tokens: Annotated[int, Field(ge=1)] = 5_000_000
    """At most this many tokens a night, input and output together."""
    max_usd: Annotated[float, Field(ge=0)] | None = 5.0
    """At most this much money a night, in US dollars, for models whose price is known."""
    max_minutes: Annotated[float, Field(gt=0)] | None = 480.0
    """At most this many minutes a night."""
    daily_calls: Annotated[int, Field(ge=1)] | None = None
    """At most this many model calls a day (UTC), all commands and projects together."""
    daily_tokens: Annotated[int, Field(ge=1)] | None = None
    """At most this many tokens a day."""
    daily_usd: Annotated[float, Field(ge=0)] | None = 20.0
    """At most this much money a day, in US dollars."""
    daily_minutes: Annotated[float, Field(gt=0)] | None = None
    """At most this many minutes of nights a day."""


class NightOptions(Frozen):
    """How a night works."""

    edit_budget: Annotated[int, Field(ge=1, le=20)] = 4
    """At most this many edits of one skill a night."""
    samples: Annotated[int, Field(ge=1, le=20)] = 3
    """Rollouts of each gate and test task before and after."""
    train_samples: Annotated[int, Field(ge=1, le=20)] = 1
    """Rollouts of each training task."""
    candidates: Annotated[int, Field(ge=1, le=8)] = 3
    """Sets of edits to propose; the best on the training tasks goes to the gate."""
    alpha: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.05
    """Largest tolerated chance that an edit which does nothing is accepted."""
    min_effect: Annotated[float, Field(gt=0.0, le=1.0)] = 0.3
    """An improvement worth having: "no gain" is said only when this much is ruled out."""
    metric: Metric = "hard"
    """Score the gate looks at: all checks (hard), share of checks (soft), or a mixture."""
    mixed_weight: Annotated[float, Field(ge=0.0, le=1.0)] = 0.5
    """Share of the hard score in the mixed metric."""
    anchors: Names = ()
    """Tasks or families that no edit may make worse at all, by id (comma-separated)."""
    gate: Literal["on", "off"] = "on"
    """`off` stages every edit without any test. Loud, and never the default."""
    skip_test: bool = False
    """Do not measure before and after on the sealed test tasks (they are for the report only and cost calls)."""
    review: bool = False
    """Work only on a tasks file that a person has marked `reviewed: true`, wherever a model costs something."""


class ConsentOptions(Frozen):
    """What a person allows agents. Counts only in the user's own file: see `app.agent_may_adopt`."""

    allow_agent_adopt: bool = False
    """Let an agent adopt and undo without asking a person. Only the user's own config.toml can say so."""


class Settings(HarvestOptions, ModelOptions, BudgetOptions, NightOptions, ConsentOptions):
    """All options, resolved."""

    def gate_policy(self) -> GatePolicy:
        return GatePolicy(
            alpha=self.alpha,
            min_effect=self.min_effect,
            samples=self.samples,
            metric=self.metric,
            mixed_weight=self.mixed_weight,
        )

    def split_policy(self) -> SplitPolicy:
        return SplitPolicy()


PROJECT_ALLOWED = frozenset({"edit_budget", "samples", "train_samples", "candidates", "since_days", "skip_test"})
"""What a project's own file may set. A cloned repository must not choose models, folders, caps or how sure is sure."""

Origin = str
"""Where a value came from: "default", "user file PATH", "project file PATH", "environment NAME" or "flag --name"."""


class Resolved(Frozen):
    """Settings with the origin of every value."""

    settings: Settings
    origins: dict[str, Origin]


def resolve(*, user_file: Path, project: Path | None, environ: Mapping[str, str], flags: Mapping[str, Any]) -> Resolved:
    """Settings from all layers. `flags` holds only what was really given.

    Raises `UnknownName` for an option nobody knows (nearest match named), `UsageError` for a value that does not fit or
    a project file that sets what it may not, `InputError` for a file that cannot be read.
    """
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = dict.fromkeys(Settings.model_fields, "default")

    def layer(found: Mapping[str, Any], origin_of: Mapping[str, Origin]) -> None:
        for name, value in found.items():
            if name not in Settings.model_fields:
                raise UnknownName("setting", name, Settings.model_fields, hint=f"It stands in {origin_of[name]}.")
            _check_one(name, value, origin_of[name])
            values[name] = value
            origins[name] = origin_of[name]

    user = _read_toml(user_file)
    layer(user, dict.fromkeys(user, f"user file {user_file}"))
    if project is not None:
        file = project / PROJECT_FILE
        table = _read_toml(file)
        for name in table:
            if name in Settings.model_fields and name not in PROJECT_ALLOWED:
                raise UsageError(
                    f"{file} sets {name!r}, which a project may not decide for you.",
                    hint=f"Put it into {user_file}, or give it as a flag.",
                )
        layer(table, dict.fromkeys(table, f"project file {file}"))
    from_environment = _from_environment(environ)
    layer(from_environment, {name: f"environment {ENV_PREFIX}{name.upper()}" for name in from_environment})
    layer(flags, {name: f"flag --{name.replace('_', '-')}" for name in flags})
    return Resolved(settings=_validate(values, origins), origins=origins)


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Options set through the environment. Other variables with our prefix (HOME, TEST_DATA) are not options."""
    return {
        name: environ[variable]
        for name in Settings.model_fields
        if environ.get(variable := ENV_PREFIX + name.upper(), "") != ""
    }


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path} is not valid TOML: {error}.", hint="Correct it, or move it away.") from error


def _check_one(name: str, value: Any, origin: Origin) -> None:
    _validate({name: value}, {name: origin})


def _validate(values: Mapping[str, Any], origins: Mapping[str, Origin]) -> Settings:
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise UsageError(_sentence(error, origins)) from error


def _sentence(error: ValidationError, origins: Mapping[str, Origin]) -> str:
    first = error.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else "settings"
    wanted = first["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return f"{name.replace('_', '-')} {wanted}, not {first['input']!r} ({origins.get(name, 'default')})."
