"""Models by name: a spec is "name" or "name:model" ("sim:strong"). A backend is loaded when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import cast

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.errors import UnknownName, UsageError
from skillopt_sleep.domain.ports import Model


class Options(Frozen):
    """What a model may need besides its name. Each factory takes what concerns it."""

    seed: int = 0
    """For simulated models."""
    latency: float = 0.0
    """Seconds that a simulated call lasts, for benchmarks."""
    environ: Mapping[str, str] = {}
    """Where keys and addresses are looked up. Nothing else of it reaches a service or a child process."""
    claude_path: str | None = None
    """The Claude Code program [default: the one on the PATH of `environ`]."""
    claude_workers: int = 4
    """Claude Code processes that answer side by side."""
    openai_url: str | None = None
    """Address of an OpenAI-compatible service, up to and with "/v1"."""
    call_seconds: float = 180.0
    """Deadline of one call."""
    codex_path: str | None = None
    """The Codex program, for the backend that starts it."""


Factory = Callable[[str | None, Options], Model]
"""Builds a model from the part of the spec after the colon. Raises `UnknownName` for a model it does not have."""

BACKENDS: Mapping[str, str] = MappingProxyType(
    {
        "sim": "skillopt_sleep.backend.registry:sim",
        "template": "skillopt_sleep.backend.registry:template",
        "scripted": "skillopt_sleep.backend.registry:scripted",
        "claude": "skillopt_sleep.backend.registry:claude",
        "anthropic": "skillopt_sleep.backend.registry:anthropic",
        "openai": "skillopt_sleep.backend.registry:openai",
    }
)
"""Backend name -> import string of its factory."""


def build(
    spec: str,
    options: Options | None = None,
    *,
    trusted: bool = False,
    backends: Mapping[str, str] = BACKENDS,
) -> Model:
    """The model that a spec names.

    `trusted` accepts "pkg.module:attr" as well, where `attr` is a `Factory`: loading it runs its code, so only a flag
    or the user's own configuration may say so. Raises `UnknownName` with the nearest match, and `UsageError` for an
    import string that is not trusted or cannot be loaded.
    """
    options = options or Options()
    name, _, model = spec.strip().partition(":")
    if "." in name:
        if not trusted:
            raise UsageError(
                f"{spec!r} names code to load, which is not accepted here.",
                hint="Name it with a flag or in your own configuration, or use a known model.",
            )
        from skillopt_sleep.backend.foreign import Foreign

        return Foreign.built(spec, lambda: load(spec)(None, options))
    if name not in backends:
        raise UnknownName("model", name, backends)
    return load(backends[name])(model or None, options)


def load(reference: str) -> Factory:
    """The factory behind "pkg.module:attr". Raises `UsageError` where there is none."""
    module_name, _, attribute = reference.partition(":")
    try:
        factory = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"{reference!r} cannot be loaded: {error}.", hint='The form is "package.module:name".'
        ) from error
    if not callable(factory):
        raise UsageError(f"{reference!r} is not a model factory.")
    return cast("Factory", factory)


def sim(model: str | None, options: Options) -> Model:
    from skillopt_sleep.backend.sim import SimModel, strength_named

    return SimModel(strength_named(model or "mid"), seed=options.seed, latency=options.latency)


def template(model: str | None, _options: Options) -> Model:
    from skillopt_sleep.backend.template import TemplateModel

    if model is not None:
        raise UnknownName("model of the template backend", model, ())
    return TemplateModel()


def scripted(model: str | None, _options: Options) -> Model:
    from skillopt_sleep.backend.scripted import from_file

    return from_file(model)


def claude(model: str | None, options: Options) -> Model:
    from skillopt_sleep.backend import claude_cli

    return claude_cli.claude(model, options)


def anthropic(model: str | None, options: Options) -> Model:
    from skillopt_sleep.backend.anthropic_api import from_name

    return from_name(model, options)


def openai(model: str | None, options: Options) -> Model:
    from skillopt_sleep.backend.openai_compatible import from_name

    return from_name(model, options)
