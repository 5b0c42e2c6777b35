"""The use-cases, one function each: take a request, do the work, return a view.

Surfaces (the command line, tools) parse a request, call the use-case and render its view; there is no logic elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from skillopt_sleep import wiring
from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.errors import InputError, NothingToDo, SleepError, UnknownName, UsageError
from skillopt_sleep.requests import (
    AdoptRequest,
    DoctorRequest,
    HarvestRequest,
    ProposalRequest,
    RunRequest,
    SkillsRequest,
    StatusRequest,
    TransferRequest,
)
from skillopt_sleep.settings import (
    PROJECT_FILE,
    Resolved,
    Settings,
    resolve,
)
from skillopt_sleep.store import project_root
from skillopt_sleep.views import (
    ChangeView,
    ConfigView,
    DoctorView,
    HarvestView,
    NightLine,
    PlanView,
    ProposalLine,
    RunView,
    SettingLine,
    ShowView,
    SkillLine,
    SkillsView,
    StatusView,
    TaskLine,
    TransferPlanView,
    TransferRunView,
)
from skillopt_sleep.wiring import Environment, Places

if TYPE_CHECKING:
    from skillopt_sleep.domain.events import Event
    from skillopt_sleep.domain.health import Finding, Noise, State
    from skillopt_sleep.domain.llm import Role
    from skillopt_sleep.domain.ports import EventSink, Model
    from skillopt_sleep.domain.reports import NightReport, ProposalStatus, RoleSpend
    from skillopt_sleep.domain.tasks import Task
    from skillopt_sleep.mine.tasks_file import TasksFile
    from skillopt_sleep.planning import Forecast
    from skillopt_sleep.staging import Staged
    from skillopt_sleep.store import Found, NightJournal, ProjectFolder
    from skillopt_sleep.transfers import Prepared
    from skillopt_sleep.workload import Search, SkillWork, Workload


def _ignore(_: Event) -> None:
    """For callers that do not want to watch."""


# --- resolving --------------------------------------------------------------------------------------------------------


def settings_for(request: Frozen, environment: Environment) -> Resolved:
    """Settings with the flags of a request on top. Only options that were really given count as flags."""
    given = request.model_dump(include=request.model_fields_set & set(Settings.model_fields))
    home = wiring.state_home(environment)
    return resolve(
        user_file=home.config_path,
        project=project_root(environment.cwd),
        environ=environment.environ,
        flags=given,
    )


def _with_noise(resolved: Resolved, environment: Environment, where: Places) -> Resolved:
    """Where nobody said how many samples to take, as many as the target's measured noise calls for."""
    if resolved.origins["samples"] != "default" or resolved.settings.target_model is None:
        return resolved
    known = wiring.measured_noise(environment, where, resolved.settings)
    if known is None or known.suggested_samples is None:
        return resolved
    settings = resolved.settings.model_copy(update={"samples": known.suggested_samples})
    return Resolved(settings=settings, origins={**resolved.origins, "samples": "measured noise (doctor --noise)"})


def _places(request: Frozen, environment: Environment) -> Places:
    return wiring.places(environment, settings_for(request, environment).settings)


# --- use-cases --------------------------------------------------------------------------------------------------------


def plan(request: RunRequest, environment: Environment, events: EventSink = _ignore) -> PlanView:
    """What a night would do and what it could cost. Calls no model.

    Raises `NothingToDo` when there is nothing to work on, `UsageError` for an unusable setting or a cap under which not
    even one comparison fits.
    """
    from skillopt_sleep.planning import planned_prompts

    view, work, forecast = _planned(request, environment, events)
    if not request.show_prompts:
        return view
    return view.model_copy(update={"prompts": planned_prompts(work, forecast, wiring.redactor())})


def _planned(request: RunRequest, environment: Environment, events: EventSink) -> tuple[PlanView, Workload, Forecast]:
    from skillopt_sleep.planning import plan_view
    from skillopt_sleep.workload import gather, require_work

    resolved = settings_for(request, environment)
    where = wiring.places(environment, resolved.settings)
    resolved = _with_noise(resolved, environment, where)
    forecast = wiring.forecast(environment, where, resolved.settings)
    work = gather(_search(request, environment, where, resolved, events), events)
    require_work(work)
    return plan_view(work, forecast, project=str(where.project.root)), work, forecast


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan that can be kept and begun later, exactly as it is."""

    view: PlanView | TransferPlanView
    skills: dict[str, str]
    """The skills it is about, and the file of each."""
    found: Found | None
    """What there is to work on; None where a model is still to mine it."""
    files: dict[str, str | None]
    """SHA-256 of every file that the night would read as its input: skills, and a tasks file."""
    terms: str
    """See `terms`."""


def keepable_plan(request: RunRequest, environment: Environment, events: EventSink = _ignore) -> Planned:
    """What `plan` says, with all that is needed to begin exactly this night later. Raises what `plan` raises, and
    `UsageError` where no model is chosen: a night that nobody could begin is not offered.
    """
    from skillopt_sleep.planning import require_room
    from skillopt_sleep.store import Found

    resolved = settings_for(request, environment)
    wiring.require_model(environment, resolved.settings)
    view, work, forecast = _planned(request, environment, events)
    require_room(work, forecast.settings.max_calls)
    found = None if work.mining else Found(harvest=work.harvest, mined=work.mined, tasks=work.tasks)
    return _keepable(view, {item.name: item.file.path for item in work.skills}, found, request, environment)


def keepable_transfer_plan(request: TransferRequest, environment: Environment, events: EventSink = _ignore) -> Planned:
    """What `transfer_plan` says, with all that is needed to begin exactly this experiment later."""
    from skillopt_sleep.domain.reports import HarvestCounts, MineCounts
    from skillopt_sleep.store import Found

    ready = _prepared(request, environment, events)
    tasks = ready.item.tasks
    found = Found(harvest=HarvestCounts(), mined=MineCounts(tasks=len(tasks)), tasks=tasks)
    return _keepable(ready.view, {ready.item.name: ready.item.file.path}, found, request, environment)


def _keepable(
    view: PlanView | TransferPlanView,
    skills: Mapping[str, Path],
    found: Found | None,
    request: RunRequest | TransferRequest,
    environment: Environment,
) -> Planned:
    from skillopt_sleep.store import live_sha256

    files = [*skills.values(), *([Path(request.tasks)] if request.tasks else [])]
    return Planned(
        view=view,
        skills={name: str(file) for name, file in skills.items()},
        found=found,
        files={str(environment.cwd / file): live_sha256(environment.cwd / file) for file in files},
        terms=terms(request, environment),
    )


def terms(request: RunRequest | TransferRequest, environment: Environment) -> str:
    """Identifies what a price rests on besides the work: every setting in force, and all prices."""
    from skillopt_sleep.domain.base import sha256_hex

    resolved = settings_for(request, environment)
    known = wiring.prices(wiring.places(environment, resolved.settings))
    return sha256_hex(resolved.settings.model_dump_json() + "|".join(request.skills) + known.model_dump_json())


Confirm = Callable[["PlanView"], bool]
"""Shows a person what a night could cost, and asks. True: go on."""


def run(
    request: RunRequest,
    environment: Environment,
    events: EventSink = _ignore,
    *,
    confirm: Confirm | None = None,
    found: Found | None = None,
) -> RunView:
    """One night, from harvest to staged proposals.

    A night that could cost money begins only with `request.yes` or after `confirm` said yes to its plan. With `found`
    it works on what an earlier plan had found, and looks for nothing else. Raises what `plan` raises, before any call;
    `ConflictError` while another night of this project is running.
    """
    from dataclasses import replace

    import anyio

    from skillopt_sleep.domain.events import NightBegan, Warned
    from skillopt_sleep.mine.tasks_file import require_reviewed
    from skillopt_sleep.night import run_night
    from skillopt_sleep.planning import plan_view, require_room
    from skillopt_sleep.store import Relay
    from skillopt_sleep.workload import gather, mine_further, require_work

    resolved = settings_for(request, environment)
    where = wiring.places(environment, resolved.settings)
    wiring.models(environment, resolved.settings)  # a wrong name is found before anything is locked or read
    resolved = _with_noise(resolved, environment, where)
    with where.project.night_lock(environment.clock()):
        relay = Relay(events)
        asked = _fingerprint(request, resolved)
        killed = None if request.anew else where.project.killed_night(environment.clock(), asked)
        search = _search(request, environment, where, resolved, relay)
        before = killed.found_before() if killed else None
        if killed and before and (found is None or before.tasks == found.tasks):
            relay(Warned(message=f"Night {killed.id} was interrupted; it goes on. What it paid for is not paid again."))
            search = replace(search, found=before)
        else:
            killed = None
            search = replace(search, found=found)
        work = gather(search, relay)  # harvest, mine, split by family
        require_work(work)
        require_room(work, resolved.settings.max_calls)
        planned = plan_view(
            work, wiring.forecast(environment, where, resolved.settings), project=str(where.project.root)
        )
        if resolved.settings.review and planned.costs != "nothing":
            require_reviewed(_given_tasks(request, resolved))
        _agree(planned, request, confirm)
        journal = killed or where.project.new_night(environment.clock(), asked)
        relay(NightBegan(night=journal.id, expected_calls=planned.expected_calls, most_calls=planned.most_calls))

        async def story() -> NightReport:
            async with wiring.crew(environment, where, resolved.settings, relay, planned, journal.id) as crew:
                mining = partial(mine_further, search, work, crew.roles.optimizer, relay) if work.mining else None
                return await run_night(work, search.memory, crew, where.project, journal, mining=mining)

        report = anyio.run(story)
        path = _write_reports(report, where.project, journal)
    return RunView(
        summary=night_summary(report),
        report=report,
        report_path=str(path),
        proposals=tuple(result.proposal_id for result in report.skills if result.proposal_id),
    )


def _fingerprint(request: RunRequest, resolved: Resolved) -> str:
    """Identifies what a night is asked for: every setting in force, the skills, and the bytes of a tasks file."""
    from skillopt_sleep.domain.base import sha256_hex

    tasks = Path(request.tasks).read_bytes() if request.tasks and Path(request.tasks).is_file() else b""
    return sha256_hex(resolved.settings.model_dump_json() + "|".join(request.skills) + sha256_hex(tasks))


def _agree(planned: PlanView, request: RunRequest, confirm: Confirm | None) -> None:
    """Whoever pays has said yes, or nothing is spent."""
    if planned.costs == "nothing" or request.yes:
        return
    if confirm is None:
        raise UsageError(
            f"This night can cost money, and nobody has agreed to it: {planned.summary}",
            hint="Look at `--dry-run` first; then say --yes.",
        )
    if not confirm(planned):
        raise NothingToDo("Nothing was begun, and nothing was spent.")


def transfer_plan(request: TransferRequest, environment: Environment, events: EventSink = _ignore) -> TransferPlanView:
    """What a transfer experiment would do and what it could cost. Calls no model.

    Raises `UsageError` for too few sealed test tasks, a model that would grade itself, or caps that are too small.
    """
    return _prepared(request, environment, events).view


def transfer(
    request: TransferRequest,
    environment: Environment,
    events: EventSink = _ignore,
    *,
    confirm: Callable[[TransferPlanView], bool] | None = None,
    found: Found | None = None,
) -> TransferRunView:
    """Learn one skill on some models, and try every version on others.

    What could cost money begins only with `request.yes` or after `confirm` said yes to the plan. With `found` it works
    on the tasks that an earlier plan had found. Raises what
    `transfer_plan` raises, before any call. Asked again, it takes what it paid for from the reply cache.
    """
    from skillopt_sleep.transfers import perform

    return perform(_prepared(request, environment, events, found), request, events, confirm)


def _prepared(
    request: TransferRequest, environment: Environment, events: EventSink, found: Found | None = None
) -> Prepared:
    from dataclasses import replace

    from skillopt_sleep.transfers import prepare

    resolved = settings_for(request, environment)
    where = wiring.places(environment, resolved.settings)
    search = replace(_search(request, environment, where, resolved, events), found=found)
    return prepare(request, environment, resolved.settings, search, events)


def harvest_tasks(request: HarvestRequest, environment: Environment, events: EventSink = _ignore) -> HarvestView:
    """Read and mine past sessions; optionally write the tasks to a file. Calls no model."""
    from collections import Counter

    from skillopt_sleep.mine.tasks_file import dump_tasks
    from skillopt_sleep.store import write_atomic
    from skillopt_sleep.workload import gather

    resolved = settings_for(request, environment)
    where = wiring.places(environment, resolved.settings)
    work = gather(wiring.search(environment, where, resolved.settings, events), events)
    if request.output:
        file = Path(request.output)
        if file.exists():
            raise UsageError(f"{file} exists already.", hint="Choose another name; a reviewed file is not overwritten.")
        write_atomic(file, dump_tasks(work.tasks, reviewed=False).encode("utf-8"))
    counts = work.harvest
    return HarvestView(
        summary=(
            f"{counts.sessions} sessions from {counts.files} files in {where.claude / 'projects'}; "
            f"{work.mined.tasks} tasks with a way to judge them."
        ),
        project=str(where.project.root),
        harvest=counts,
        mined=work.mined,
        by_skill=dict(Counter(task.skill or "(no skill)" for task in work.tasks)),
        tasks_file=request.output,
        tasks=tuple(_task_line(task) for task in work.tasks) if request.texts else (),
    )


def _task_line(task: Task) -> TaskLine:
    return TaskLine(id=task.id, family=task.family, slice=task.slice, skill=task.skill, request=task.prompt)


def status(request: StatusRequest, environment: Environment) -> StatusView:
    """What waits for review and what the last nights did. Reads only; works without any model or SDK installed."""
    from skillopt_sleep.staging import count_unreadable, list_proposals

    where = _places(request, environment)
    nights, unreadable = where.project.nights(limit=request.limit)
    proposals = list_proposals(where.project)
    waiting = [_line(staged) for staged in proposals if staged.status == "staged"]
    holder = where.project.night_holder()
    running = f"A night is running ({holder}). " if holder else ""
    if waiting:
        summary = f"{len(waiting)} proposal{'s are' if len(waiting) != 1 else ' is'} waiting for review."
    else:
        summary = "Nothing is waiting for review. `skillopt-sleep run --dry-run` plans a night."
    return StatusView(
        summary=running + summary,
        home=str(where.state.path),
        project=str(where.project.root),
        running=holder,
        waiting=tuple(waiting),
        adopted=tuple(_line(staged) for staged in proposals if staged.status == "adopted"),
        nights=tuple(
            NightLine(
                id=report.id,
                status=report.status,
                finished_at=report.finished_at,
                skills=len(report.skills),
                proposals=sum(1 for result in report.skills if result.proposal_id),
                simulated=report.simulated,
            )
            for report in nights
        ),
        unreadable_nights=unreadable,
        unreadable_proposals=count_unreadable(where.project),
    )


def show(request: ProposalRequest, environment: Environment) -> ShowView:
    """One proposal with everything a person needs to decide."""
    _, staged = _find(request, environment)
    return ShowView(
        summary=f"{staged.proposal.skill}: {staged.proposal.verdict.explanation}",
        proposal=staged.proposal,
        status=staged.status,
        diff=staged.diff,
        folder=str(staged.folder),
    )


def adopt(request: AdoptRequest, environment: Environment) -> ChangeView:
    """Put a proposal into its live file: a compare-and-swap on the file's hash.

    Raises `ConflictError` when the live file is not what the proposal was made from, when the target lies outside the
    skills folders, or when the gate did not accept it and `unverified` was not said.
    """
    from skillopt_sleep import staging

    where, staged = _find(request, environment, prefer="staged")
    done = staging.adopt(
        where.project,
        staged,
        roots=wiring.allowed_roots(where),
        unverified=request.unverified,
        again=request.again,
        clock=environment.clock,
    )
    return ChangeView(
        summary=f"Adopted into {done.target}. `skillopt-sleep undo {staged.proposal.id}` takes it back.",
        proposal_id=staged.proposal.id,
        action="adopted",
        target=str(done.target),
        sha256=done.sha256,
    )


def undo(request: ProposalRequest, environment: Environment) -> ChangeView:
    """Take an adoption back, byte for byte, and remember that its rules were not wanted."""
    from skillopt_sleep import staging

    where, staged = _find(request, environment, prefer="adopted")
    done = staging.undo(
        where.project,
        staged,
        roots=wiring.allowed_roots(where),
        memory=where.state.memory(where.project.root),
        clock=environment.clock,
    )
    return ChangeView(
        summary=f"Undone: {done.target} is as it was before. Its rules will not be proposed again.",
        proposal_id=staged.proposal.id,
        action="undone",
        target=str(done.target),
        sha256=done.sha256,
        remembered=done.remembered,
    )


def dismiss(request: ProposalRequest, environment: Environment) -> ChangeView:
    """Turn a proposal down for good."""
    from skillopt_sleep import staging

    where, staged = _find(request, environment, prefer="staged")
    done = staging.dismiss(
        where.project, staged, memory=where.state.memory(where.project.root), clock=environment.clock
    )
    return ChangeView(
        summary="Dismissed. Its rules will not be proposed again.",
        proposal_id=staged.proposal.id,
        action="dismissed",
        target=staged.proposal.target,
        sha256=None,
        remembered=done.remembered,
    )


def list_skills(request: SkillsRequest, environment: Environment) -> SkillsView:
    """Skills and memory files that an agent can load here."""
    where = _places(request, environment)
    found = wiring.shelf(where).skills()
    return SkillsView(
        summary=f"{len(found)} skills, {sum(1 for skill in found if skill.writable)} of which may be changed.",
        skills=tuple(
            SkillLine(name=skill.name, scope=skill.scope, path=str(skill.path), writable=skill.writable)
            for skill in found
        ),
    )


def skill_text(name: str, environment: Environment) -> str:
    """The text of a skill or memory file, as it is now.

    Raises `UnknownName`, `ConflictError` for a link of a project that leads out of it, and `InputError` for no text.
    """
    where = _places(SkillsRequest(), environment)
    skill = wiring.shelf(where).find(name)
    file = skill.path if skill.scope == "plugin" else wiring.allowed_roots(where).check(skill.path)
    try:
        return file.read_bytes().decode("utf-8")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8.") from error


def night_report(night: str, environment: Environment) -> str:
    """The report of a night of this project, in Markdown. Raises `UnknownName`."""
    project = _places(StatusRequest(), environment).project
    known = {folder.name: folder for folder in project.night_folders()}
    if night not in known:
        raise UnknownName("night", night, known)
    try:
        return (known[night] / "report.md").read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(f"Night {night} has left no report.", hint="It was killed, or is still running.") from error


def agent_may_adopt(environment: Environment) -> bool:
    """Whether the user's own file allows agents to adopt and undo. No other layer can: an agent may write those."""
    resolved = settings_for(Frozen(), environment)
    return resolved.settings.allow_agent_adopt and resolved.origins["allow_agent_adopt"].startswith("user file")


def show_config(environment: Environment) -> ConfigView:
    """All settings in force, with where each value comes from."""
    resolved = settings_for(Frozen(), environment)
    return ConfigView(
        summary="Settings in force here. Later layers win: default, user file, project file, environment, flag.",
        user_file=str(wiring.state_home(environment).config_path),
        project_file=str(project_root(environment.cwd) / PROJECT_FILE),
        settings=tuple(
            SettingLine(name=name, value=value, origin=resolved.origins[name])
            for name, value in sorted(resolved.settings.model_dump(mode="json").items())
        ),
    )


Ask = Callable[[str], bool]
"""Asks a person a question with a yes or a no."""


def doctor(
    request: DoctorRequest, environment: Environment, events: EventSink = _ignore, *, ask: Ask | None = None
) -> DoctorView:
    """Is everything in place for a night? Looks at versions, state, transcripts, prices, and asks each model a word.

    What costs something is asked for first; where nobody can be asked and `yes` was not said, it is left out, and the
    view says so.
    """
    import anyio

    from skillopt_sleep import doctor as look
    from skillopt_sleep.domain.health import Finding
    from skillopt_sleep.harvest import harvest
    from skillopt_sleep.noise import measure_noise
    from skillopt_sleep.store import state_findings
    from skillopt_sleep.workload import counts_of

    resolved = settings_for(request, environment)
    where = wiring.places(environment, resolved.settings)
    findings = [*wiring.versions(environment, resolved.settings), *state_findings(where.state.path)]
    holder = where.project.night_holder()
    if holder:
        findings.append(Finding(about="night", state="warning", text=f"A night is running ({holder})."))
    search = _search(request, environment, where, resolved, events)
    found = harvest(search.sources, search.query, search.tally)
    findings += look.transcripts(counts_of(found), wiring.source_folders(environment, where, resolved.settings))
    try:
        models = wiring.models(environment, resolved.settings)
        findings += look.prices(models, wiring.prices(where))
    except SleepError as error:
        chosen = resolved.settings.target_model is not None
        state: State = "problem" if chosen else "warning"
        findings.append(Finding(about="models", state=state, text=error.message, what_to_do=error.hint))
        return _diagnosis(findings)
    item = _noisy_skill(request, search)
    if not _may_call(request, models, where, ask, item):
        text = "No model was called." if request.offline else "No model was called, because that costs something."
        findings.append(Finding(about="models", state="skipped", text=text, what_to_do="Say --yes to call them."))
        return _diagnosis(findings)

    async def examine() -> DoctorView:
        async with wiring.staff(environment, where, resolved.settings, events, None, "") as present:
            for role, model in present.models.items():
                if model.id != "template":
                    findings.append(await look.answers(role, model))
            if present.simulated:
                findings.append(Finding(about="canary rule", state="skipped", text="The target is simulated."))
            elif not any(finding.state == "problem" and finding.about == "target model" for finding in findings):
                findings.append(await look.canary(wiring.roles(present.models).agent))
            noise = None
            if item is not None:
                roles = wiring.roles(present.models, as_memory=item.file.is_memory)
                tasks = [task for task in item.tasks if task.slice != "test"]
                policy = resolved.settings.gate_policy()
                noise = await measure_noise(roles.agent, roles.judge, item.doc.text, tasks, policy)
                where.project.keep_noise(present.models["target"].id, noise)
                findings.append(Finding(about="noise", state="ok", text=f"{item.name}: {noise.summary}"))
            return _diagnosis(findings, spend=present.budget.spend(), noise=noise)

    return anyio.run(examine)


def _noisy_skill(request: DoctorRequest, search: Search) -> SkillWork | None:
    """The skill on whose tasks noise is measured: the one that was named, or the only one there is."""
    if not request.noise:
        return None
    from skillopt_sleep.workload import gather, require_work

    work = gather(search, _ignore)
    require_work(work)
    if len(work.skills) > 1:
        names = ", ".join(item.name for item in work.skills)
        raise UsageError("Noise is measured on one skill at a time.", hint=f"Name it with --skills: {names}.")
    return work.skills[0]


def _may_call(
    request: DoctorRequest, models: Mapping[Role, Model], where: Places, ask: Ask | None, noisy: SkillWork | None
) -> bool:
    from skillopt_sleep import doctor as look
    from skillopt_sleep.domain.spending import FREE

    if request.offline:
        return False
    known = wiring.prices(where)
    costly = sorted({model.id for model in models.values() if known.of(model) != FREE})
    if not costly or request.yes:
        return True
    calls = len(models) + look.CANARY_CALLS
    question = f"Make {calls} short calls to {', '.join(costly)}, for less than a cent"
    if noisy is not None:
        question += f", and about {4 * len(noisy.tasks)} attempts at the tasks of {noisy.name} within your caps"
    return ask is not None and ask(f"{question}?")


def _diagnosis(
    findings: Sequence[Finding], *, spend: tuple[RoleSpend, ...] = (), noise: Noise | None = None
) -> DoctorView:
    problems = sum(1 for finding in findings if finding.state == "problem")
    warnings = sum(1 for finding in findings if finding.state == "warning")
    if problems:
        summary = f"{problems} problem{'' if problems == 1 else 's'}, {warnings} to know about."
    else:
        summary = "Everything is in place." if not warnings else f"Nothing stands in the way; {warnings} to know about."
    return DoctorView(summary=summary, findings=tuple(findings), spend=spend, noise=noise)


# --- shared -----------------------------------------------------------------------------------------------------------


def night_summary(report: NightReport) -> str:
    """The night in a sentence or two."""
    from skillopt_sleep.report.words import summary

    text = f"The night ended early: {report.stopped} " if report.stopped else ""
    return text + summary(report) + (" All figures rest on a simulated model." if report.simulated else "")


def _write_reports(report: NightReport, project: ProjectFolder, journal: NightJournal) -> Path:
    from skillopt_sleep import report as rendering
    from skillopt_sleep.staging import list_proposals

    mine = [staged for staged in list_proposals(project) if staged.proposal.night_id == report.id]
    journal.write("report.md", rendering.markdown(report))
    return journal.write("report.html", rendering.html(report, [staged.proposal for staged in mine]))


def _search(
    request: RunRequest | DoctorRequest | TransferRequest,
    environment: Environment,
    where: Places,
    resolved: Resolved,
    events: EventSink,
) -> Search:
    file = _given_tasks(request, resolved)
    given = file.tasks if file else None
    return wiring.search(environment, where, resolved.settings, events, only=request.skills, given=given)


def _given_tasks(request: RunRequest | DoctorRequest | TransferRequest, resolved: Resolved) -> TasksFile | None:
    if request.tasks is None:
        return None
    from skillopt_sleep.mine.sources import load_tasks

    return load_tasks(Path(request.tasks), resolved.settings.split_policy())


def _find(
    request: ProposalRequest, environment: Environment, *, prefer: ProposalStatus | None = None
) -> tuple[Places, Staged]:
    from skillopt_sleep import staging

    where = _places(request, environment)
    return where, staging.find(where.project, request.proposal, prefer=prefer)


def _line(staged: Staged) -> ProposalLine:
    proposal = staged.proposal
    return ProposalLine(
        id=proposal.id,
        skill=proposal.skill,
        status=staged.status,
        decision=proposal.verdict.decision,
        target=proposal.target,
        created_at=proposal.created_at,
        explanation=proposal.verdict.explanation,
    )
