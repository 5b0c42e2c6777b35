"""Plans that can be begun later: what a night would do and cost, kept for an hour."""

from __future__ import annotations

import secrets
from datetime import timedelta

from skillopt_sleep import app, wiring
from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.errors import UsageError
from skillopt_sleep.domain.ports import Local, Model
from skillopt_sleep.jobs.records import PlanRecord
from skillopt_sleep.requests import RunRequest, TransferRequest
from skillopt_sleep.settings import Settings
from skillopt_sleep.store import project_root
from skillopt_sleep.views import JobKind, OfferView, PlanView, TransferPlanView
from skillopt_sleep.wiring import Environment

GOOD_FOR = timedelta(hours=1)
_KEPT_FOR = timedelta(days=1)
"""How long a plan lies about, so that whoever comes late is told that it has expired."""
_NOTHING_LEAVES = ("sim:", "template", "scripted:")
_CAPS = ("max_calls", "max_tokens", "max_usd", "max_minutes")


def offer(request: RunRequest | TransferRequest, environment: Environment, kind: JobKind) -> OfferView:
    """A plan of a night or of a transfer experiment, with an id under which exactly that can be begun. Calls no model.

    Raises what `app.plan` and `app.transfer_plan` raise, and `UsageError` where no model is chosen.
    """
    if isinstance(request, TransferRequest):
        planned = app.keepable_transfer_plan(request, environment)
    else:
        planned = app.keepable_plan(request, environment)
    now = environment.clock()
    project = project_root(environment.cwd)
    record = PlanRecord(
        id=f"plan-{secrets.token_hex(6)}",
        kind=kind,
        project=str(project),
        cwd=str(environment.cwd),
        home=str(environment.home),
        made_at=now,
        expires_at=now + GOOD_FOR,
        asked=request.model_dump(mode="json", exclude_unset=True),
        view=planned.view,
        skills=planned.skills,
        found=planned.found,
        files=planned.files,
        terms=planned.terms,
    )
    folders = wiring.state_home(environment).project(project).jobs
    folders.drop_plans_before(now - _KEPT_FOR)
    folders.keep_plan(record.id, record)
    return OfferView(
        summary=f"{planned.view.summary} Nothing was spent. Ask the person; then begin with plan_id {record.id}.",
        kind=kind,
        plan_id=record.id,
        expires_at=record.expires_at,
        leaves=_what_leaves(request, environment),
        plan=planned.view if isinstance(planned.view, PlanView) else None,
        transfer=planned.view if isinstance(planned.view, TransferPlanView) else None,
    )


def may_ask(request: RunRequest | TransferRequest, environment: Environment) -> None:
    """Refuse what an agent may not decide for its person: code to load as a model, and caps above the person's own."""
    for spec in _specs(request):
        if "." in spec.partition(":")[0]:
            raise UsageError(
                f"{spec!r} names code to load, which an agent may not choose.",
                hint="The person can set it in the user's config.toml (see `skillopt-sleep config show`).",
            )
    own = app.settings_for(Frozen(), environment).settings
    for name in request.model_fields_set & set(_CAPS):
        cap, given = getattr(own, name), getattr(request, name)
        if cap is not None and (given is None or given > cap):
            raise UsageError(
                f"{name} = {given} lies above the person's own cap of {cap:g}.",
                hint="Ask for less, or let the person raise it in the user's config.toml.",
            )


def _specs(request: RunRequest | TransferRequest) -> tuple[str, ...]:
    """The models that a request names."""
    if isinstance(request, TransferRequest):
        named: tuple[str | None, ...] = (*request.optimize_on, *request.deploy_on, request.judge_model)
    else:
        named = (request.target_model, request.optimizer_model, request.judge_model)
    return tuple(spec for spec in named if spec is not None)


def _what_leaves(request: RunRequest | TransferRequest, environment: Environment) -> tuple[str, ...]:
    settings = app.settings_for(request, environment).settings
    work = {
        "target": "the requests of the tasks and the text of the skill",
        "optimizer": "the skill, failed training attempts"
        + (", and conversations to find tasks in" if settings.mining == "model" else ""),
        "judge": "the requests and replies of tasks with a rubric",
    }
    said: dict[str, None] = {}
    for chosen in _each_models_settings(request, settings):
        for role, model in wiring.models(environment, chosen).items():
            if not model.id.startswith(_NOTHING_LEAVES):
                said[f"To {_place(model)}: {work[role]}; secrets are masked."] = None
    return tuple(said) or ("Nothing: no model beyond this process is called.",)


def _each_models_settings(request: RunRequest | TransferRequest, settings: Settings) -> tuple[Settings, ...]:
    """A transfer experiment is a night for each of its models."""
    if not isinstance(request, TransferRequest):
        return (settings,)
    models = dict.fromkeys((*request.optimize_on, *request.deploy_on))
    return tuple(settings.model_copy(update={"target_model": name, "optimizer_model": name}) for name in models)


def _place(model: Model) -> str:
    if isinstance(model, Local) and model.is_local:
        return f"{model.id} (on this machine or in its network)"
    return model.id
