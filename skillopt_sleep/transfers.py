"""The use-case of a transfer experiment: what it would take, and the experiment itself; `app` offers both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skillopt_sleep import wiring
from skillopt_sleep.domain.base import sha256_hex
from skillopt_sleep.domain.errors import NothingToDo, UsageError
from skillopt_sleep.domain.events import NightBegan, Warned
from skillopt_sleep.domain.spending import Amount
from skillopt_sleep.domain.tasks import Rubric
from skillopt_sleep.domain.transfers import FEWEST_TEST_FAMILIES, TransferReport
from skillopt_sleep.requests import TransferRequest
from skillopt_sleep.settings import BudgetOptions, Settings
from skillopt_sleep.store import Found, NightJournal
from skillopt_sleep.transfer import Terms, run_transfer
from skillopt_sleep.transfer.planning import in_words, plan_model, total
from skillopt_sleep.views import PlanView, TransferPlanView, TransferRunView
from skillopt_sleep.wiring import Environment, Places
from skillopt_sleep.workload import SkillWork, Workload, gather

if TYPE_CHECKING:
    from skillopt_sleep.domain.ports import EventSink
    from skillopt_sleep.workload import Search

Confirm = Callable[[TransferPlanView], bool]


@dataclass(frozen=True, slots=True)
class Prepared:
    """An experiment that is planned: every name is known, every file was read, and nothing was called."""

    environment: Environment
    where: Places
    settings: Settings
    item: SkillWork
    terms: Terms
    whole: PlanView
    view: TransferPlanView
    asked: str
    found: Found
    """The tasks, frozen."""


def prepare(
    request: TransferRequest, environment: Environment, settings: Settings, search: Search, events: EventSink
) -> Prepared:
    """Plan it. Raises `UsageError`, `UnknownName` or `NothingToDo` for whatever would keep it from telling anything."""
    deploy_on = request.deploy_on
    if not deploy_on:
        raise UsageError(
            "No model is named to deploy the skill on.",
            hint="Say --deploy-on MODEL,MODEL, for example claude:haiku,claude:sonnet.",
        )
    learn_on = tuple(dict.fromkeys((*request.optimize_on, *(() if request.no_direct else deploy_on))))
    if not learn_on:
        raise UsageError("No model is named to optimise the skill on.", hint="Say --optimize-on MODEL.")
    where = wiring.places(environment, settings)
    models = tuple(dict.fromkeys((*learn_on, *deploy_on)))
    forecasts = {model: wiring.forecast(environment, where, _with_model(settings, model)) for model in models}
    ids = {model: forecast.models["target"].id for model, forecast in forecasts.items()}
    asked = _asked(request, settings)
    earlier = where.project.experiments.unfinished(environment.clock(), asked)
    if earlier and (before := earlier.found_before()):
        events(Warned(message=f"Experiment {earlier.id} is not complete; it goes on. What it paid for is kept."))
        search = replace(search, found=before)
    work = gather(search, events)
    item = _the_skill(request, work)
    grader, self_graded = _grader(request, item, forecasts[models[0]].models.get("judge"), ids)
    arms = 2 + len(learn_on) + request.control
    project = str(where.project.root)
    plans = [
        *(plan_model(item, work, forecasts[m], nights=1, arms=0, project=project) for m in learn_on),
        *(plan_model(item, work, forecasts[m], nights=0, arms=arms, project=project) for m in deploy_on),
    ]
    whole = total(plans, settings)
    prices = wiring.prices(where)
    terms = Terms(
        id="",  # until it begins
        learn_on=learn_on,
        deploy_on=deploy_on,
        options=wiring.epoch_options(settings),
        grader=grader,
        self_graded=self_graded,
        control=request.control,
        margin=request.margin,
        exploratory=item.families.get("test", 0) < FEWEST_TEST_FAMILIES,
        simulated=whole.simulated,
        prices={model: prices.of(forecasts[model].models["target"]) for model in deploy_on},
        minutes=settings.max_minutes,
        slots=settings.slots,
        clock=environment.clock,
    )
    found = Found(harvest=work.harvest, mined=work.mined, tasks=item.tasks)
    view = TransferPlanView(
        summary=(
            f"{item.name}: learned on {', '.join(ids[m] for m in learn_on)}, deployed on "
            f"{', '.join(ids[m] for m in deploy_on)}: {in_words(whole)}."
            + (" Models are simulated." if whole.simulated else "")
        ),
        skill=item.name,
        optimize_on=learn_on,
        deploy_on=deploy_on,
        grader=grader,
        families=item.families,
        samples=settings.samples,
        expected_calls=whole.expected_calls,
        most_calls=whole.most_calls,
        expected_tokens=whole.expected_tokens,
        most_tokens=whole.most_tokens,
        expected_usd=whole.expected_usd,
        most_usd=whole.most_usd,
        costs=whole.costs,
        prices_as_of=whole.prices_as_of,
        left_out=work.left_out,
        simulated=whole.simulated,
    )
    return Prepared(environment, where, settings, item, terms, whole, view, asked, found)


def perform(ready: Prepared, request: TransferRequest, events: EventSink, confirm: Confirm | None) -> TransferRunView:
    """Have the price agreed to, do it, and write its reports."""
    import anyio

    view = ready.view
    if view.costs != "nothing" and not request.yes:
        if confirm is None:
            raise UsageError(
                f"This experiment can cost money, and nobody has agreed to it: {view.summary}",
                hint="Look at `--dry-run` first; then say --yes.",
            )
        if not confirm(view):
            raise NothingToDo("Nothing was begun, and nothing was spent.")
    most = Amount(ready.whole.most_calls, ready.whole.most_tokens, ready.whole.most_usd or 0.0)
    specs = tuple(dict.fromkeys((*ready.terms.learn_on, *ready.terms.deploy_on)))
    experiments = ready.where.project.experiments
    with experiments.lock():
        now = ready.environment.clock()
        journal = experiments.unfinished(now, ready.asked) or experiments.begin(now, ready.asked)
        journal.found(ready.found)
        events(NightBegan(night=journal.id, expected_calls=view.expected_calls, most_calls=view.most_calls))

        async def story() -> TransferReport:
            async with wiring.company(
                ready.environment, ready.where, ready.settings, events, most, account_of(journal.id), specs
            ) as company:
                return await run_transfer(ready.item, replace(ready.terms, id=journal.id), company, events)

        report = anyio.run(story)
        path = _write(report, journal)
    return TransferRunView(summary=_summary(report), report=report, report_path=str(path))


def _summary(report: TransferReport) -> str:
    from skillopt_sleep.report.matrix import summary

    return summary(report)


def _write(report: TransferReport, journal: NightJournal) -> Path:
    from skillopt_sleep.report import matrix

    journal.write("report.json", report.model_dump_json(indent=2))
    journal.write("report.md", matrix.markdown(report))
    return journal.write("report.html", matrix.html(report))


def _asked(request: TransferRequest, settings: Settings) -> str:
    """Identifies what an experiment is asked for: all but how much it may take, and how its figures are put."""
    about = settings.model_dump_json(exclude={*BudgetOptions.model_fields, "slots", "call_seconds"})
    wanted = request.model_dump_json(include={"skills", "optimize_on", "deploy_on", "no_direct", "control"})
    tasks = Path(request.tasks) if request.tasks else None
    return sha256_hex(about + wanted + sha256_hex(tasks.read_bytes() if tasks and tasks.is_file() else b""))


def account_of(experiment: str) -> str:
    """The name under which the costly calls of an experiment are booked."""
    return f"transfer {experiment}"


def _with_model(settings: Settings, model: str) -> Settings:
    return settings.model_copy(update={"target_model": model, "optimizer_model": model})


def _the_skill(request: TransferRequest, work: Workload) -> SkillWork:
    """The one skill that the experiment is about, with enough sealed tasks to say something."""
    if len(request.skills) != 1:
        found = ", ".join(item.name for item in work.skills) or "none"
        raise UsageError(
            "A transfer experiment is about one skill.", hint=f"Say --skills NAME. Skills with tasks here: {found}."
        )
    item = next((item for item in work.skills if item.name == request.skills[0]), None)
    if item is None or not item.tasks:
        reasons = "; ".join(f"{count} x {reason}" for reason, count in sorted(work.left_out.items()))
        raise NothingToDo(f"There is no task for {request.skills[0]!r}{f' ({reasons})' if reasons else ''}.")
    sealed = item.families.get("test", 0)
    if sealed < FEWEST_TEST_FAMILIES and not request.exploratory:
        raise UsageError(
            f"{item.name} has {sealed} families of sealed test tasks, and {FEWEST_TEST_FAMILIES} are needed: "
            f"{FEWEST_TEST_FAMILIES - sealed} are missing.",
            hint="Add tasks with `slice: test` to a tasks file, or say --exploratory, which shows no p-values.",
        )
    if not sealed:
        raise NothingToDo(f"{item.name} has no sealed test tasks at all, so nothing could be compared.")
    if not any(task.slice == "train" for task in item.tasks):
        raise NothingToDo(f"{item.name} has no training tasks, so nothing could be learned.")
    return item


def _grader(
    request: TransferRequest, item: SkillWork, judge: object, ids: dict[str, str]
) -> tuple[str, tuple[str, ...]]:
    """Who grades, in words, and which models grade themselves. Raises `UsageError` where nobody asked for that."""
    if not any(isinstance(task.criterion, Rubric) for task in item.tasks):
        return "rules and exact answers, no model", ()
    name = str(getattr(judge, "id", "no model"))
    themselves = tuple(model for model, id_ in ids.items() if id_ == name)
    if themselves and not request.grade_own:
        raise UsageError(
            f"{name} would grade its own answers, and models favour their own.",
            hint="Choose another --judge-model, or say --grade-own; the report will say so.",
        )
    return name, themselves
