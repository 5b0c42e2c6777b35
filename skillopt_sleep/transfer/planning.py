"""What a transfer experiment would take, model by model, from the plans of nights; how the caps are shared out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from skillopt_sleep.domain.errors import UsageError
from skillopt_sleep.domain.spending import Amount
from skillopt_sleep.planning import Forecast, dollars, plan_view
from skillopt_sleep.settings import Settings
from skillopt_sleep.views import PlanView
from skillopt_sleep.workload import SkillWork, Workload


def plan_model(
    item: SkillWork, loads: Workload, forecast: Forecast, *, nights: int, arms: int, project: str
) -> PlanView:
    """What one model takes: `nights` of learning at most, and the test tasks under `arms` skill texts."""
    learning = tuple(task for task in item.tasks if task.slice != "test")
    held_out = tuple(task for task in item.tasks if task.slice == "test")
    night, test = (
        plan_view(replace(loads, skills=(replace(item, tasks=tasks),)), forecast, project=project)
        for tasks in (learning, held_out)
    )
    return night.model_copy(
        update={
            "expected_calls": nights * night.expected_calls + _share(test.expected_calls, arms),
            "most_calls": nights * night.most_calls + _share(test.most_calls, arms),
            "expected_tokens": nights * night.expected_tokens + _share(test.expected_tokens, arms),
            "most_tokens": nights * night.most_tokens + _share(test.most_tokens, arms),
            "expected_usd": _money(night.expected_usd, test.expected_usd, nights, arms),
            "most_usd": _money(night.most_usd, test.most_usd, nights, arms),
        }
    )


def _share(count: int, arms: int) -> int:
    return -(-count * arms // 2)  # a plan counts the test tasks under two texts


def _money(night: float | None, test: float | None, nights: int, arms: int) -> float | None:
    return None if night is None or test is None else nights * night + test * arms / 2


def total(plans: Sequence[PlanView], settings: Settings) -> PlanView:
    """All of them together, within the caps. Raises `UsageError` for a cap under which it could not be finished."""
    usd = _sum([plan.expected_usd for plan in plans])
    most_usd = _sum([plan.most_usd for plan in plans])
    whole = plans[0].model_copy(
        update={
            "expected_calls": sum(plan.expected_calls for plan in plans),
            "most_calls": min(sum(plan.most_calls for plan in plans), settings.max_calls),
            "expected_tokens": sum(plan.expected_tokens for plan in plans),
            "most_tokens": min(sum(plan.most_tokens for plan in plans), settings.max_tokens),
            "expected_usd": usd,
            "most_usd": most_usd
            if most_usd is None or settings.max_usd is None
            else min(most_usd, max(settings.max_usd, 0.0)),
            "costs": _costs(plans),
            "simulated": any(plan.simulated for plan in plans),
        }
    )
    _require_room("calls", whole.expected_calls, settings.max_calls)
    _require_room("tokens", whole.expected_tokens, settings.max_tokens)
    _require_room("usd", usd or 0.0, settings.max_usd)
    return whole


def _costs(plans: Sequence[PlanView]) -> str:
    kinds = {plan.costs for plan in plans}
    return "unknown" if "unknown" in kinds else "known" if "known" in kinds else "nothing"


def _sum(amounts: Sequence[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None


def _require_room(unit: str, needed: float, cap: float | None) -> None:
    if cap is None or needed <= cap:
        return
    amounts = (dollars(needed), dollars(cap)) if unit == "usd" else (f"{needed:,.0f} {unit}", f"{cap:,.0f}")
    raise UsageError(
        f"The experiment takes about {amounts[0]}, and the cap is {amounts[1]}: it could not be finished, and half of "
        "it tells nothing.",
        hint=f"Raise --max-{unit}, or take fewer models, tasks or samples.",
    )


def parts(plans: Mapping[str, PlanView], whole: PlanView) -> dict[str, Amount]:
    """What each may take, so that together they keep the caps, and each has what it is expected to take."""
    calls = _portions({k: (p.expected_calls, p.most_calls) for k, p in plans.items()}, whole.most_calls)
    tokens = _portions({k: (p.expected_tokens, p.most_tokens) for k, p in plans.items()}, whole.most_tokens)
    usd = dict.fromkeys(plans, 0.0)
    if whole.most_usd is not None:
        usd = _portions({k: (p.expected_usd or 0.0, p.most_usd or 0.0) for k, p in plans.items()}, whole.most_usd)
    return {name: Amount(int(calls[name]), int(tokens[name]), usd[name]) for name in plans}


def _portions(wanted: Mapping[str, tuple[float, float]], cap: float) -> dict[str, float]:
    spare = cap - sum(low for low, _ in wanted.values())
    room = sum(high - low for low, high in wanted.values())
    share = min(1.0, spare / room) if room > 0 else 0.0
    return {name: low + (high - low) * share for name, (low, high) in wanted.items()}


def in_words(plan: PlanView) -> str:
    """Calls, tokens and money, expected and at most."""
    money = "no money"
    if plan.costs != "nothing":
        known = plan.expected_usd is not None and plan.most_usd is not None
        money = (
            f"about {dollars(plan.expected_usd or 0.0)}, at most {dollars(plan.most_usd or 0.0)}"
            if known
            else "at a price that is not known"
        )
    return (
        f"about {plan.expected_calls:,} model calls and {plan.expected_tokens:,} tokens, {money}; never more than "
        f"{plan.most_calls:,} calls and {plan.most_tokens:,} tokens"
    )
