"""What a night would cost, counted from its workload before any call is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from skillopt_sleep import prompts
from skillopt_sleep.agents.request import first_prompt
from skillopt_sleep.agents.tool_loop import MAX_ROUNDS
from skillopt_sleep.backend.metered import most_tokens
from skillopt_sleep.backend.retrying import RetryPolicy
from skillopt_sleep.consolidate.bench import SHOWN_FAILURES
from skillopt_sleep.domain.briefing import requirements_block, rules_block
from skillopt_sleep.domain.describe import describe
from skillopt_sleep.domain.errors import UsageError
from skillopt_sleep.domain.gate_tests import GateTest
from skillopt_sleep.domain.llm import Prompt, Role, Usage, estimate_tokens, prompt_tokens
from skillopt_sleep.domain.ports import Bounded, Model, Redactor
from skillopt_sleep.domain.reports import NightReport
from skillopt_sleep.domain.slices import Slice
from skillopt_sleep.domain.spending import FREE, Amount, Price
from skillopt_sleep.domain.tasks import Rubric, Task
from skillopt_sleep.domain.trials import Attempt
from skillopt_sleep.domain.verdicts import GatePolicy
from skillopt_sleep.gate import account
from skillopt_sleep.gate.regressions import most_fresh_pairs
from skillopt_sleep.judges.rubric import Grading, grading_prompt
from skillopt_sleep.mine.written import WrittenKinds
from skillopt_sleep.pricing import PriceList
from skillopt_sleep.reflect import MOST_EDIT_TOKENS, requirements_of
from skillopt_sleep.settings import Settings
from skillopt_sleep.views import Costs, PlannedPrompt, PlannedRole, PlannedSkill, PlanView
from skillopt_sleep.workload import SkillWork, Workload

USUAL_REPLY_TOKENS: Mapping[Role, int] = {"target": 400, "optimizer": 500, "judge": 120}
"""Length of a reply where neither an earlier night nor a session tells: a guess, and shown as "about"."""
_MOST_BYTES_A_TOKEN = 16
"""A token of a reply may be several letters to the grader, and each of them several bytes."""
ROUNDS = 2
"""Requests of an attempt that uses its tools once."""
REASKS = 2
"""Most calls that one set of edits may take: a malformed answer is asked for once more."""
BRIEFING_TOKENS = 900
"""About what the instructions and the requirements of an optimiser's briefing make together."""
MOST_BRIEFING_TOKENS = 14_000
"""More than instructions, requirements and failed attempts (clipped to 1,800 characters each) make together."""
CLIPPED_REPLY_TOKENS = 300
"""What is left of a long reply in a briefing."""
GATE_SHARE = ((40, 0.3), (20, 0.4), (12, 0.5), (8, 0.55), (5, 0.65))
"""(families from, share of its attempts that the gate takes on average before it stops): the mean over edits that do
nothing, help by 0.3 and help by 0.5, as docs/gate.md has them."""
DIFFERENT_SETS = 2 / 3
"""Share of the sets of edits that differ from those before, and so are tried on the training tasks."""


@dataclass(slots=True)
class _Load:
    """Calls of one role, expected and at most."""

    price: Price | None
    calls: float = 0
    input_tokens: float = 0
    output_tokens: float = 0
    usd: float = 0.0
    most_calls: int = 0
    most_tokens: int = 0
    most_usd: float = 0.0

    def expect(self, calls: float, given: int, written: int) -> None:
        """So many calls, each with so many tokens of input and of output."""
        self.calls += calls
        self.input_tokens += given * calls
        self.output_tokens += written * calls
        if self.price:
            self.usd += self.price.cost(Usage(input_tokens=given, output_tokens=written)) * calls

    def allow(self, calls: int, given: int, written: int) -> None:
        """At most so many calls, with at most so many tokens each."""
        self.most_calls += calls
        self.most_tokens += (given + written) * calls
        if self.price:
            self.most_usd += self.price.most(given, written) * calls


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a plan rests on besides the workload."""

    settings: Settings
    prices: PriceList
    models: Mapping[Role, Model] = field(default_factory=dict)
    """Empty while no model is chosen: counting needs none."""
    usual_reply: Mapping[tuple[Role, str], int] = field(default_factory=dict)
    """Tokens of a reply by role and model, as earlier nights saw them."""
    spent_today: Amount = field(default=Amount())
    gate_tests: Sequence[GateTest] = ()
    """The gate's tests so far: what they used up cannot be tested again, and the plan says so."""

    def reply(self, role: Role) -> int:
        """Expected tokens of a reply."""
        model = self.models.get(role)
        known = self.usual_reply.get((role, model.id)) if model else None
        return known or USUAL_REPLY_TOKENS[role]

    def price(self, role: Role) -> Price | None:
        model = self.models.get(role)
        return self.prices.of(model) if model else None

    def most(self, role: Role, prompt: Prompt, schema: type[BaseModel] | None = None) -> tuple[int, int]:
        """Most input and output tokens of one call."""
        model = self.models.get(role)
        return model.most_tokens(prompt, schema) if isinstance(model, Bounded) else most_tokens(prompt, schema)


def usual_replies(nights: Sequence[NightReport]) -> dict[tuple[Role, str], int]:
    """Mean tokens of a reply by role and model over earlier nights."""
    written: Counter[tuple[Role, str]] = Counter()
    answered: Counter[tuple[Role, str]] = Counter()
    for row in (row for night in nights for row in night.spend):
        written[row.role, row.model] += row.output_tokens
        answered[row.role, row.model] += row.calls - row.failed
    return {key: -(-written[key] // answered[key]) for key in written if written[key] and answered[key] > 0}


def plan_view(work: Workload, forecast: Forecast, *, project: str) -> PlanView:
    """The plan as shown to a person.

    Expected values assume that no tool is called twice, no answer is malformed, and the gate stops as early as it does
    on average.
    """
    settings = forecast.settings
    skills = tuple(_planned(item, settings, forecast.gate_tests) for item in work.skills)
    roles = _roles(work, forecast)
    costs = _costs(roles, forecast)
    attempts = RetryPolicy().attempts
    calls, tokens = sum(r.calls for r in roles), sum(r.input_tokens + r.output_tokens for r in roles)
    most_calls = min(sum(r.most_calls for r in roles) * attempts, settings.max_calls)
    most_tokens_ = min(sum(r.most_tokens for r in roles) * attempts, settings.max_tokens)
    usd = None if costs == "unknown" else sum(r.usd or 0.0 for r in roles)
    most_usd = None if costs == "unknown" else sum(r.most_usd or 0.0 for r in roles) * attempts
    if most_usd is not None and settings.max_usd is not None:
        most_usd = min(most_usd, settings.max_usd)
    simulated = any(model.id.startswith("sim:") for model in forecast.models.values())
    tasks = sum(len(item.tasks) for item in work.skills)
    if work.mining:  # what a model will find is not known yet: nothing but the caps bounds it
        most_calls, most_tokens_ = settings.max_calls, settings.max_tokens
        most_usd = settings.max_usd if most_usd is not None else None
    return PlanView(
        summary=(
            f"{_count(len(skills), 'skill')}, {_count(tasks, 'task')}: about {calls:,} model calls and {tokens:,} "
            f"tokens, {_money_in_words(costs, usd, most_usd)}; never more than {most_calls:,} calls."
            + (" The model is simulated." if simulated else "")
            + _mining_in_words(work)
        ),
        project=project,
        models={role: model.id for role, model in forecast.models.items()},
        harvest=work.harvest,
        mined=work.mined,
        skills=skills,
        left_out=work.left_out,
        roles=roles,
        expected_calls=calls,
        most_calls=most_calls,
        expected_tokens=tokens,
        most_tokens=most_tokens_,
        expected_usd=usd,
        most_usd=most_usd,
        costs=costs,
        prices_as_of=forecast.prices.as_of,
        caps=_caps(settings),
        spent_today=_today(forecast.spent_today),
        simulated=simulated,
        warnings=_warnings(calls, usd, forecast),
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


def _planned(item: SkillWork, settings: Settings, tests: Sequence[GateTest]) -> PlannedSkill:
    tasks = Counter[Slice](task.slice for task in item.tasks)
    families = item.families
    note = _why_no_verdict(item, settings.gate_policy(), tests)
    return PlannedSkill(
        skill=item.name,
        target=str(item.file.path),
        tasks=dict(tasks),
        families=families,
        expected_calls=_expected_calls(item, settings),
        most_calls=_most_calls(item, settings),
        reserved_calls=_beside(item, settings, MAX_ROUNDS),
        enough_for_a_verdict=not note,
        note=note,
    )


def _why_no_verdict(item: SkillWork, policy: GatePolicy, tests: Sequence[GateTest]) -> str:
    """Why the gate could accept nothing, whatever came of the night; empty where it could."""
    gate = {task.family: (task.id,) for task in item.tasks if task.slice == "gate"}
    if len(gate) < policy.min_families:
        return f"{len(gate)} gate families: too few to tell; the edits stay unverified"
    granted = account.grant(gate, tests, policy)
    if granted.level is not None:
        return ""
    if granted.number == 1:
        return f"no result of {len(gate)} gate families could reach alpha {policy.alpha:g}; the edits stay unverified"
    return f"{_count(granted.number - 1, 'earlier test')} used these gate tasks up; the edits stay unverified"


def times_asked(task: Task, settings: Settings) -> int:
    """How often a task is attempted in a night, over all documents that are tried."""
    if task.slice == "train":
        tries = settings.candidates if settings.candidates > 1 else 0
        return settings.train_samples * (1 + tries)
    measured = settings.gate == "on" if task.slice == "gate" else not settings.skip_test
    return settings.samples * 2 if measured else 0


def times_expected(item: SkillWork, task: Task, settings: Settings) -> float:
    """How often a task will probably be attempted: the gate stops when it knows enough, and sets of edits repeat."""
    asked = times_asked(task, settings)
    if task.slice == "train":
        return settings.train_samples + (asked - settings.train_samples) * DIFFERENT_SETS
    families = item.families.get("gate", 0)
    share = next((share for number, share in GATE_SHARE if families >= number), 1.0)
    return asked * share if task.slice == "gate" else float(asked)


def _expected_calls(item: SkillWork, settings: Settings) -> int:
    attempts = sum(times_expected(item, task, settings) * _calls_each(task, ROUNDS) for task in item.tasks)
    return round(attempts) + settings.candidates


def _most_calls(item: SkillWork, settings: Settings) -> int:
    attempts = sum(times_asked(task, settings) * _calls_each(task, MAX_ROUNDS) for task in item.tasks)
    return attempts + settings.candidates * REASKS + _beside(item, settings, MAX_ROUNDS)


def _calls_each(task: Task, rounds: int) -> int:
    """Model calls of one attempt, the grade included."""
    return (rounds if task.tools else 1) + isinstance(task.criterion, Rubric)


def _beside(item: SkillWork, settings: Settings, rounds: int) -> int:
    """Upper bound of the calls beside the gate's budget: fresh attempts at families that look worse, and at anchors.

    They are made only where the edit would otherwise be accepted.
    """
    if settings.gate == "off":
        return 0
    gate = [task for task in item.tasks if task.slice == "gate"]
    policy = settings.gate_policy()
    turns = max((rounds if task.tools else 1 for task in gate), default=1)
    widest = max(Counter(task.family for task in gate).values(), default=1)
    suspects = most_fresh_pairs(item.families.get("gate", 0), policy, tasks_each=widest) if gate else 0
    pinned = [task for task in item.tasks if task.anchor or {task.id, task.family} & {*settings.anchors}]
    anchors = sum(rounds if task.tools else 1 for task in pinned if task.slice != "gate") * policy.samples
    return 2 * (suspects * turns + anchors)


def _least_calls(item: SkillWork) -> int:
    train = sum(1 for task in item.tasks if task.slice == "train")
    gate = sum(1 for task in item.tasks if task.slice == "gate")
    return train + 1 + 2 * gate


def _roles(work: Workload, forecast: Forecast) -> tuple[PlannedRole, ...]:
    loads: dict[Role, _Load] = {role: _Load(forecast.price(role)) for role in ("target", "optimizer", "judge")}
    for prompt in work.mining:
        loads["optimizer"].expect(1, prompt_tokens(prompt), forecast.reply("optimizer"))
        loads["optimizer"].allow(1, *forecast.most("optimizer", prompt, WrittenKinds))
    for item in work.skills:
        for task in item.tasks:
            written = _add_attempts(loads["target"], item, task, forecast)
            _add_grades(loads["judge"], item, task, written, forecast)
        _add_fresh_pairs(loads["target"], item, forecast)
        _add_edits(loads["optimizer"], item, forecast)
    return tuple(_planned_role(role, load, forecast) for role, load in loads.items() if load.most_calls)


def _attempt_prompt(item: SkillWork, task: Task) -> Prompt:
    """What the target is asked first, under the document as it is."""
    text = item.doc.text
    return first_prompt(task, "", text, sample=0) if item.file.is_memory else first_prompt(task, text, "", sample=0)


def _add_attempts(load: _Load, item: SkillWork, task: Task, forecast: Forecast) -> int:
    """Add all attempts at one task; returns the most tokens that one of them can write."""
    prompt = _attempt_prompt(item, task)
    times, expected = times_asked(task, forecast.settings), times_expected(item, task, forecast.settings)
    rounds, most_rounds = (ROUNDS, MAX_ROUNDS) if task.tools else (1, 1)
    given, written = forecast.most("target", prompt)
    if task.tools:  # each round repeats what was said before it: replies, and what the tools found
        given += most_rounds * (written + sum(len(text.encode()) for t in task.tools for text in t.notes.values()))
    load.expect(expected * rounds, prompt_tokens(prompt), forecast.reply("target"))
    load.allow(times * most_rounds, given, written)
    return written


def _add_grades(load: _Load, item: SkillWork, task: Task, most_written: int, forecast: Forecast) -> None:
    """A rubric takes one grade for each attempt, and the grader reads the whole reply."""
    if not isinstance(task.criterion, Rubric):
        return
    prompt = grading_prompt(task, task.criterion, Attempt(task_id=task.id, text=""))
    expected = times_expected(item, task, forecast.settings)
    load.expect(expected, prompt_tokens(prompt) + forecast.reply("target"), forecast.reply("judge"))
    given, written = forecast.most("judge", prompt, Grading)
    load.allow(times_asked(task, forecast.settings), given + _MOST_BYTES_A_TOKEN * most_written, written)


def _add_fresh_pairs(load: _Load, item: SkillWork, forecast: Forecast) -> None:
    """What is made beside the gate's budget, where an edit would otherwise be accepted: reserved, not expected."""
    rounds = MAX_ROUNDS if any(task.tools for task in item.tasks) else 1
    sizes = [forecast.most("target", _attempt_prompt(item, task)) for task in item.tasks]
    given, written = max((size[0] for size in sizes), default=0), max((size[1] for size in sizes), default=0)
    load.allow(_beside(item, forecast.settings, rounds), given + (rounds - 1) * written, written)


def _add_edits(load: _Load, item: SkillWork, forecast: Forecast) -> None:
    train = [task for task in item.tasks if task.slice == "train"]
    shown = min(SHOWN_FAILURES, len(train))
    requests = sum(estimate_tokens(task.prompt) for task in train) // max(1, len(train))
    attempts = shown * (requests + min(CLIPPED_REPLY_TOKENS, forecast.reply("target")))
    sets = forecast.settings.candidates
    load.expect(sets, estimate_tokens(item.doc.text) + BRIEFING_TOKENS + attempts, forecast.reply("optimizer"))
    load.allow(sets * REASKS, len(item.doc.text.encode()) + MOST_BRIEFING_TOKENS, MOST_EDIT_TOKENS)


def _planned_role(role: Role, load: _Load, forecast: Forecast) -> PlannedRole:
    model = forecast.models.get(role)
    return PlannedRole(
        role=role,
        model=model.id if model else "",
        calls=round(load.calls),
        input_tokens=round(load.input_tokens),
        output_tokens=round(load.output_tokens),
        most_calls=load.most_calls,
        most_tokens=load.most_tokens,
        usd=load.usd if load.price else None,
        most_usd=load.most_usd if load.price else None,
    )


def _costs(roles: Sequence[PlannedRole], forecast: Forecast) -> Costs:
    """Without a model chosen, what a night would cost is not known."""
    prices = [forecast.price(row.role) for row in roles]
    if any(price is None for price in prices):
        return "unknown"
    return "known" if any(price != FREE for price in prices) else "nothing"


def _mining_in_words(work: Workload) -> str:
    if not work.mining:
        return ""
    tokens = sum(map(prompt_tokens, work.mining))
    return (
        f" First a model mines: {_count(len(work.mining), 'call')} with {tokens:,} tokens of conversations, included "
        "here; what it finds then adds tasks that nobody can count yet, within the caps."
    )


def _caps(settings: Settings) -> dict[str, float]:
    caps = {
        "calls": settings.max_calls,
        "tokens": settings.max_tokens,
        "usd": settings.max_usd,
        "minutes": settings.max_minutes,
    }
    return {unit: cap for unit, cap in caps.items() if cap is not None}


def _today(spent: Amount) -> dict[str, float]:
    return {"calls": spent.calls, "tokens": spent.tokens, "usd": spent.usd} if spent.calls else {}


def _money_in_words(costs: Costs, usd: float | None, most: float | None) -> str:
    if costs == "nothing":
        return "no money"
    if usd is None or most is None:
        return "at a price that is not known"
    return f"about {dollars(usd)}, at most {dollars(most)}"


def dollars(usd: float) -> str:
    """An amount for people; what is not nothing is never shown as nothing."""
    return f"${usd:,.2f}" if usd >= 0.01 or usd == 0 else "$0.01"


def _warnings(calls: int, usd: float | None, forecast: Forecast) -> tuple[str, ...]:
    settings = forecast.settings
    found = []
    if calls > settings.max_calls:
        found.append(
            f"About {calls} calls are needed, and the cap is {settings.max_calls}: the night will stop early. "
            "Raise --max-calls, or work on fewer skills (--skills)."
        )
    if usd is not None and settings.max_usd is not None and usd > settings.max_usd:
        found.append(
            f"About {dollars(usd)} are needed, and the cap is {dollars(settings.max_usd)}: the night will stop early. "
            "Raise --max-usd, choose a cheaper model, or work on fewer skills (--skills)."
        )
    unpriced = sorted({model.id for role, model in forecast.models.items() if forecast.price(role) is None})
    if unpriced:
        found.append(
            f"No price is known for {', '.join(unpriced)}: no cap on money can hold. Calls, tokens and minutes do. "
            "Name its price in prices.toml (see `skillopt-sleep config show`)."
        )
    return tuple(found)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


# --- what would be sent -----------------------------------------------------------------------------------------------


def planned_prompts(work: Workload, forecast: Forecast, redact: Redactor) -> tuple[PlannedPrompt, ...]:
    """What a night would send, secrets masked as they would be: in full where it is determined already, else as a
    template with what may fill it.
    """
    return tuple(
        prompt.model_copy(update={"system": redact(prompt.system)[0], "text": redact(prompt.text)[0]})
        for prompt in _prompts(work, forecast)
    )


def _prompts(work: Workload, forecast: Forecast) -> tuple[PlannedPrompt, ...]:
    mined = tuple(
        PlannedPrompt(
            role="optimizer",
            about=f"mining: batch {number} of {len(work.mining)}",
            known=True,
            system=prompt.system,
            text=prompt.messages[0].text,
        )
        for number, prompt in enumerate(work.mining, start=1)
    )
    return mined + tuple(
        prompt
        for item in work.skills
        for prompt in (*_attempts_shown(item, forecast), *_grades_shown(item, forecast), _edits_shown(item, forecast))
    )


def _attempts_shown(item: SkillWork, forecast: Forecast) -> Iterator[PlannedPrompt]:
    """Each attempt under the skill as it is, then each under the documents that are tried."""
    settings = forecast.settings
    tried = "[the document with the edits that are tried]"
    skill, memory = ("", tried) if item.file.is_memory else (tried, "")
    changed = prompts.render("target", skill=skill, memory=memory).text
    for known in (True, False):
        for task in item.tasks:
            as_it_is = settings.train_samples if task.slice == "train" else settings.samples
            times = times_asked(task, settings)
            prompt = _attempt_prompt(item, task)
            if times:
                yield PlannedPrompt(
                    role="target",
                    about=f"{item.name}: {task.slice} task {task.id}" + ("" if known else ", under a changed skill"),
                    known=known,
                    system=prompt.system if known else changed,
                    text=task.prompt,
                    times=as_it_is if known else times - as_it_is,
                )


def _grades_shown(item: SkillWork, forecast: Forecast) -> Iterator[PlannedPrompt]:
    """How the reply to each task with a rubric would be graded."""
    for task in item.tasks:
        times = times_asked(task, forecast.settings)
        if isinstance(task.criterion, Rubric) and times:
            prompt = grading_prompt(task, task.criterion, Attempt(task_id=task.id, text="[the reply to be graded]"))
            yield PlannedPrompt(
                role="judge",
                about=f"{item.name}: grading {task.slice} task {task.id}",
                known=False,
                system=prompt.system,
                text=prompt.messages[0].text,
                times=times,
            )


def _edits_shown(item: SkillWork, forecast: Forecast) -> PlannedPrompt:
    train = [task for task in item.tasks if task.slice == "train"]
    return PlannedPrompt(
        role="optimizer",
        about=f"{item.name}: proposing edits",
        known=False,
        system=prompts.render("reflect_system").text,
        text=prompts.render(
            "reflect_user",
            skill=item.doc.text,
            attempts=f"[replies to up to {SHOWN_FAILURES} of these training requests, clipped, that failed: "
            + "; ".join(task.id for task in train)
            + "]",
            rules=rules_block(item.doc.rules),
            turned_down="[rules of this skill that were turned down before]",
            requirements=requirements_block(requirements_of(train, (), describe)),
            edit_budget=forecast.settings.edit_budget,
            complaint="",
        ).text,
        times=forecast.settings.candidates,
    )
