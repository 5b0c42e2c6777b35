"""The story of one night.

    harvest past sessions -> mine recurring tasks -> replay them offline -> reflect on failures
      -> bounded edits -> held-out gate -> stage for review

Nothing live changes here: a night ends with proposals that wait for a person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import anyio

from skillopt_sleep.consolidate import Epoch, EpochOptions, optimise
from skillopt_sleep.consolidate.evidence import families_by_slice, proposal_of, skill_result
from skillopt_sleep.domain.aio import one_error
from skillopt_sleep.domain.errors import ConflictError, InputError, NothingToDo, SleepError, UnknownName
from skillopt_sleep.domain.events import PhaseFinished, PhaseStarted, Warned
from skillopt_sleep.domain.llm import Role
from skillopt_sleep.domain.ports import EventSink, Roles, TranscriptSource
from skillopt_sleep.domain.reports import HarvestCounts, MineCounts, NightReport, NightStatus, RoleSpend, SkillResult
from skillopt_sleep.domain.sessions import Query
from skillopt_sleep.domain.tasks import SplitPolicy, Task
from skillopt_sleep.harvest import Tally, harvest
from skillopt_sleep.mine.heuristic import mine_sessions
from skillopt_sleep.shelf import Shelf, SkillFile
from skillopt_sleep.skilldoc import SkillDoc
from skillopt_sleep.staging import stage
from skillopt_sleep.store import Memory, NightJournal, ProjectFolder


@dataclass(frozen=True, slots=True)
class Search:
    """Where a night looks for work."""

    sources: Sequence[TranscriptSource]
    query: Query
    tally: Tally
    shelf: Shelf
    memory: Memory
    policy: SplitPolicy
    only: tuple[str, ...] = ()
    """Names of skills; empty for every skill that the sessions used."""
    given: tuple[Task, ...] | None = None
    """Tasks from a person's own file; they replace what sessions would give."""


@dataclass(frozen=True, slots=True)
class SkillWork:
    """One skill with the tasks that it will be tried on."""

    file: SkillFile
    doc: SkillDoc
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class Workload:
    """What was found to work on, and what was left out and why."""

    harvest: HarvestCounts
    mined: MineCounts
    skills: tuple[SkillWork, ...]
    left_out: dict[str, int]
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class Crew:
    """Who works through a night, and under which rules."""

    roles: Roles
    models: dict[Role, str]
    simulated: bool
    options: EpochOptions
    spend: Callable[[], tuple[RoleSpend, ...]]
    events: EventSink
    clock: Callable[[], datetime]


async def run_night(
    work: Workload, memory: Memory, crew: Crew, project: ProjectFolder, journal: NightJournal
) -> NightReport:
    """Everything of a night that calls models, from a gathered workload to staged proposals.

    Returns the report, which is also written into the night's folder, whatever happened on the way: a refused key, an
    exhausted cap or an interruption ends the night early, what was judged until then is kept, and the report says why
    it is not more.
    """
    started = crew.clock()
    journal.tasks(work.tasks)
    results: dict[str, SkillResult] = {}
    status: NightStatus = "interrupted"  # until the contrary is known: whatever strikes now, the report says so
    stopped: str | None = "The night was interrupted."
    try:
        await _improve_all(work, memory, crew, project, journal, results)
        status, stopped = "finished", None
    except SleepError as error:
        status, stopped = "stopped", str(error)
    finally:
        report = NightReport(
            id=journal.id,
            project=str(project.root),
            status=status,
            started_at=started,
            finished_at=crew.clock(),
            harvest=work.harvest,
            mined=work.mined,
            skills=tuple(
                results.get(item.file.name) or _untouched(item, stopped or "it stopped before its turn")
                for item in work.skills
            ),
            spend=crew.spend(),
            simulated=crew.simulated,
            stopped=stopped,
        )
        journal.finish(report)
    return report


def gather(search: Search, events: EventSink) -> Workload:
    """Harvest and mine: everything that can be known without calling a model."""
    known = search.memory.known_families()  # a memory that cannot be read is found before anything is spent
    if search.given is not None:
        return _assign(search, HarvestCounts(), MineCounts(tasks=len(search.given)), search.given)
    events(PhaseStarted(phase="harvest"))
    found = harvest(search.sources, search.query, search.tally)
    counts = HarvestCounts(
        sessions=len(found.sessions),
        files=found.files,
        skipped=found.skipped,
        skipped_lines=found.skipped_lines,
        masked=found.masked,
    )
    events(PhaseFinished(phase="harvest", detail=f"{counts.sessions} sessions from {counts.files} files"))
    events(PhaseStarted(phase="mine"))
    mined = mine_sessions(found.sessions, known, search.policy)
    search.memory.remember_families(mined.families)
    events(PhaseFinished(phase="mine", detail=f"{mined.counts.tasks} tasks in {mined.counts.groups} groups"))
    return _assign(search, counts, mined.counts, mined.tasks)


def _assign(search: Search, harvested: HarvestCounts, mined: MineCounts, tasks: Sequence[Task]) -> Workload:
    """Give every task to its skill. A skill that is gone or read-only leaves its tasks out, with the reason."""
    left_out: Counter[str] = Counter()
    by_skill: dict[str, list[Task]] = {}
    sole = search.only[0] if len(search.only) == 1 else None
    for task in tasks:
        name = task.skill or (sole if search.given is not None else None)
        if task.not_evaluable is not None:
            left_out[f"cannot be judged offline: {task.not_evaluable}"] += 1
        elif name is None:
            given = "the file names no skill for them; say which with --skills"
            left_out[given if search.given is not None else "no skill was used in these sessions"] += 1
        elif search.only and name not in search.only:
            left_out["belongs to a skill that was not asked for"] += 1
        else:
            by_skill.setdefault(name, []).append(task)
    for name in search.only:
        search.shelf.find(name)  # an unknown name is an error even where no task mentions it
    skills: list[SkillWork] = []
    for name in sorted(by_skill):
        try:
            file = search.shelf.find(name)
        except UnknownName:
            left_out[f"the skill {name!r} is not installed any more"] += len(by_skill[name])
            continue
        if not file.writable:
            left_out[f"the skill {name!r} belongs to a plugin and is read-only"] += len(by_skill[name])
            continue
        try:
            doc = SkillDoc.read(file.path)
        except InputError as error:
            if name in search.only:
                raise
            left_out[error.message] += len(by_skill[name])
            continue
        skills.append(SkillWork(file, doc, tuple(by_skill[name])))
    return Workload(harvested, mined, tuple(skills), dict(left_out), tuple(tasks))


def require_work(work: Workload) -> None:
    """Raise `NothingToDo` with the most useful reason when no skill can be worked on."""
    if any(task.slice != "test" for item in work.skills for task in item.tasks):
        return
    if work.skills:
        raise NothingToDo(
            "All tasks lie in the sealed test slice, so there is nothing to train on and nothing to gate with.",
            hint="Mark some tasks as train and some as gate, or leave the slice out so that it is chosen by family.",
        )
    if work.left_out:
        reasons = "; ".join(f"{count} x {reason}" for reason, count in sorted(work.left_out.items()))
        raise NothingToDo(f"No task belongs to a skill that can be improved ({reasons}).")
    if work.harvest.sessions:
        raise NothingToDo(
            f"{work.harvest.sessions} sessions were read, and no request in them recurs with a way to judge it yet.",
            hint="Corrections you type ('always end with ...') become criteria; `skillopt-sleep harvest` counts them.",
        )
    raise NothingToDo(
        "No past sessions were found.",
        hint="`skillopt-sleep harvest` shows where it looked and what was skipped.",
    )


async def _improve_all(
    work: Workload,
    memory: Memory,
    crew: Crew,
    project: ProjectFolder,
    journal: NightJournal,
    results: dict[str, SkillResult],
) -> None:
    """All skills side by side; a skill that cannot be worked on does not hold up the others."""

    async def improve(item: SkillWork) -> None:
        name = item.file.name
        try:
            epoch = await optimise(
                name,
                item.doc,
                item.tasks,
                crew.roles,
                crew.options,
                turned_down=memory.turned_down(name),
                events=crew.events,
                on_trial=journal.trial,
            )
            results[name] = _stage(item, epoch, memory, crew, project, journal)
        except (InputError, ConflictError) as error:
            crew.events(Warned(message=f"{name}: {error.message}"))
            results[name] = _untouched(item, error.message)

    async with one_error(anyio.create_task_group()) as group:
        for item in work.skills:
            group.start_soon(improve, item)


def _stage(
    item: SkillWork, epoch: Epoch, memory: Memory, crew: Crew, project: ProjectFolder, journal: NightJournal
) -> SkillResult:
    """Lay what a person should look at beside the night; remember what the gate turned down."""
    result = skill_result(epoch, item.tasks, target=item.file.path)
    if epoch.verdict is None or epoch.candidate is None:
        return result
    if epoch.verdict.decision == "reject":
        rules = [o.edit.text for o in epoch.candidate.outcomes if o.status == "applied" and o.edit.kind != "drop_rule"]
        memory.turn_down(item.file.name, rules, reason="rejected", at=crew.clock())
        return result
    proposal = proposal_of(
        epoch,
        item.tasks,
        target=item.file.path,
        night_id=journal.id,
        project=project.root,
        created_at=crew.clock(),
        models=crew.models,
        simulated=crew.simulated,
    )
    staged = stage(project, proposal, item.doc.data if item.doc.exists else None, epoch.candidate.doc.data)
    return result.model_copy(update={"proposal_id": staged.id})


def _untouched(item: SkillWork, why: str) -> SkillResult:
    return SkillResult(
        skill=item.file.name,
        target=str(item.file.path),
        families=families_by_slice(item.tasks),
        tasks=len(item.tasks),
        verdict=None,
        stopped=why,
    )
