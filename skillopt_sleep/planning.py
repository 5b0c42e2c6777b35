"""What a night would cost, counted from its workload before any call is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from skillopt_sleep.agents.tool_loop import MAX_ROUNDS
from skillopt_sleep.domain.errors import UsageError
from skillopt_sleep.domain.llm import Role, estimate_tokens
from skillopt_sleep.domain.slices import Slice
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.settings import Settings
from skillopt_sleep.views import PlannedSkill, PlanView
from skillopt_sleep.workload import SkillWork, Workload

REPLY_TOKENS = 600
"""Expected length of a reply; the upper bound uses the limit that is sent with each prompt."""
MOST_REPLY_TOKENS = 2048
REASKS = 2
"""Most calls that one set of edits may take: a malformed answer is asked for once more."""


PLANNED_ROLES: tuple[Role, ...] = ("target", "optimizer")


def plan_view(work: Workload, settings: Settings, *, project: str, models: Sequence[str]) -> PlanView:
    """The plan as shown to a person. Expected values assume no tool is called twice and no answer is malformed.

    `models` holds the ids of the target and the optimiser, or nothing while no model is chosen: counting needs none.
    """
    skills = tuple(_planned(item, settings) for item in work.skills)
    expected, most = sum(s.expected_calls for s in skills), sum(s.most_calls for s in skills)
    both = list(zip(work.skills, skills, strict=True))
    expected_tokens = sum(_tokens(item, REPLY_TOKENS, planned.expected_calls) for item, planned in both)
    most_tokens = sum(_tokens(item, MOST_REPLY_TOKENS, planned.most_calls) for item, planned in both)
    simulated = any(model.startswith("sim:") for model in models)
    tasks = sum(len(item.tasks) for item in work.skills)
    return PlanView(
        summary=(
            f"{_count(len(skills), 'skill')}, {_count(tasks, 'task')}: about {expected} model calls and "
            f"{expected_tokens:,} tokens, at most {min(most, settings.max_calls)} calls."
            + (" The model is simulated: no money is spent." if simulated else "")
        ),
        project=project,
        models=dict(zip(PLANNED_ROLES, models, strict=False)),
        harvest=work.harvest,
        mined=work.mined,
        skills=skills,
        left_out=work.left_out,
        expected_calls=expected,
        most_calls=min(most, settings.max_calls),
        expected_tokens=expected_tokens,
        most_tokens=min(most_tokens, settings.max_tokens),
        caps={"calls": settings.max_calls, "tokens": settings.max_tokens},
        simulated=simulated,
        warnings=_warnings(expected, settings),
    )


def require_room(work: Workload, max_calls: int) -> None:
    """Raise `UsageError` when the cap on calls does not even allow one skill's smallest comparison.

    The smallest comparison: every training task once, one set of edits, and the gate tasks once before and after.
    """
    least = min((_least_calls(item) for item in work.skills), default=0)
    if max_calls < least:
        raise UsageError(
            f"A cap of {max_calls} calls is too small: the smallest comparison of one skill takes {least}.",
            hint=f"Raise it with `--max-calls {least}` or more; `--dry-run` shows the whole plan.",
        )


def _planned(item: SkillWork, settings: Settings) -> PlannedSkill:
    tasks = Counter[Slice](task.slice for task in item.tasks)
    families = item.families
    enough = families.get("gate", 0) >= settings.gate_policy().min_families
    return PlannedSkill(
        skill=item.name,
        target=str(item.file.path),
        tasks=dict(tasks),
        families=families,
        expected_calls=_calls(item, settings, rounds=2, reasks=1),
        most_calls=_calls(item, settings, rounds=MAX_ROUNDS, reasks=REASKS),
        enough_for_a_verdict=enough,
        note="" if enough else f"{families.get('gate', 0)} gate families: too few to tell; the edits stay unverified",
    )


def _calls(item: SkillWork, settings: Settings, *, rounds: int, reasks: int) -> int:
    def attempts(tasks: Sequence[Task]) -> int:
        return sum(rounds if task.tools else 1 for task in tasks)

    train = [task for task in item.tasks if task.slice == "train"]
    measured = {"gate": settings.gate == "on", "test": not settings.skip_test, "train": False}
    held_out = [task for task in item.tasks if measured[task.slice]]
    tries = settings.candidates if settings.candidates > 1 else 0
    return (
        attempts(train) * settings.train_samples * (1 + tries)
        + settings.candidates * reasks
        + attempts(held_out) * settings.samples * 2
    )


def _least_calls(item: SkillWork) -> int:
    train = sum(1 for task in item.tasks if task.slice == "train")
    gate = sum(1 for task in item.tasks if task.slice == "gate")
    return train + 1 + 2 * gate


def _tokens(item: SkillWork, reply: int, calls: int) -> int:
    """Tokens of that many calls: the skill and a task go in, a reply comes out."""
    prompts = [estimate_tokens(task.prompt) for task in item.tasks]
    per_call = estimate_tokens(item.doc.text) + sum(prompts) // max(1, len(prompts)) + 60 + reply
    return per_call * calls


def _warnings(expected: int, settings: Settings) -> tuple[str, ...]:
    if expected <= settings.max_calls:
        return ()
    return (
        f"About {expected} calls are needed, and the cap is {settings.max_calls}: the night will stop early. "
        "Raise --max-calls, or work on fewer skills (--skills).",
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
