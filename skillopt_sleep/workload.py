"""What a night has to work on: harvest and mine, then give every task to its skill.

A plan and a night begin with the same `gather`, which calls no model. Where a model is to mine, the workload then holds
the prompts for it, and a night goes on with `mine_further`, the only step here that calls one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from skillopt_sleep.domain.errors import ConflictError, InputError, NothingToDo, UnknownName, UsageError
from skillopt_sleep.domain.events import PhaseFinished, PhaseStarted
from skillopt_sleep.domain.llm import Prompt
from skillopt_sleep.domain.ports import EventSink, Model, Redactor, TranscriptSource
from skillopt_sleep.domain.reports import HarvestCounts, MineCounts
from skillopt_sleep.domain.sessions import Harvest, Query, Session
from skillopt_sleep.domain.slices import Slice, SplitPolicy
from skillopt_sleep.domain.tasks import Rubric, Task
from skillopt_sleep.harvest import Tally, harvest
from skillopt_sleep.mine.heuristic import mine_sessions
from skillopt_sleep.mine.masking import masked_tasks
from skillopt_sleep.mine.model import mine_with_model, mining_prompts
from skillopt_sleep.mine.sources import evals_beside
from skillopt_sleep.mine.tasks_file import request_key
from skillopt_sleep.shelf import PROJECT_MEMORY, USER_MEMORY, Shelf, SkillFile
from skillopt_sleep.skilldoc import SkillDoc
from skillopt_sleep.store import Found, Memory


@dataclass(frozen=True, slots=True)
class Search:
    """Where a night looks for work."""

    sources: Sequence[TranscriptSource]
    query: Query
    tally: Tally
    shelf: Shelf
    memory: Memory
    policy: SplitPolicy
    redact: Redactor
    mining: Literal["rules", "model"] = "rules"
    graded: bool = True
    """Whether there is a judge for rubrics. Without one, tasks with a rubric would cost attempts and tell nothing."""
    only: tuple[str, ...] = ()
    """Names of skills; empty for every skill that the sessions used."""
    given: tuple[Task, ...] | None = None
    """Tasks from a person's own file; they replace what sessions would give."""
    found: Found | None = None
    """What a night that was killed had found: it goes on with the same tasks."""


@dataclass(frozen=True, slots=True)
class SkillWork:
    """One skill with the tasks that it will be tried on."""

    file: SkillFile
    doc: SkillDoc
    tasks: tuple[Task, ...]

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def families(self) -> dict[Slice, int]:
        """How many families lie in each slice."""
        return dict(Counter(slice_ for slice_, _ in {(task.slice, task.family) for task in self.tasks}))


@dataclass(frozen=True, slots=True)
class Workload:
    """What was found to work on, and what was left out and why."""

    harvest: HarvestCounts
    mined: MineCounts
    skills: tuple[SkillWork, ...]
    left_out: dict[str, int]
    tasks: tuple[Task, ...]
    sessions: tuple[Session, ...] = ()
    """What a model is still to mine; empty where it has done so, or where rules alone mine."""
    mining: tuple[Prompt, ...] = ()
    """What it would be asked, exactly."""


def gather(search: Search, events: EventSink) -> Workload:
    """Harvest and mine: everything that can be known without calling a model."""
    known = search.memory.known_families()  # a memory that cannot be read is found before anything is spent
    if search.found is not None:
        return _assign(search, search.found.harvest, search.found.mined, search.found.tasks)
    if search.given is not None:
        given, masked = masked_tasks(search.given, search.redact)
        return _assign(search, HarvestCounts(masked=masked), MineCounts(tasks=len(given)), given)
    events(PhaseStarted(phase="harvest"))
    found = harvest(search.sources, search.query, search.tally)
    counts = counts_of(found)
    events(PhaseFinished(phase="harvest", detail=f"{counts.sessions} sessions from {counts.files} files"))
    events(PhaseStarted(phase="mine"))
    mined = mine_sessions(found.sessions, known, search.policy)
    search.memory.remember_families(mined.families)
    events(PhaseFinished(phase="mine", detail=f"{mined.counts.tasks} tasks in {mined.counts.groups} groups"))
    work = _assign(search, counts, mined.counts, mined.tasks)
    if search.mining == "rules":
        return work
    asked = mining_prompts(found.sessions, mined.families, search.policy)
    return replace(work, sessions=found.sessions if asked else (), mining=asked)


async def mine_further(search: Search, work: Workload, model: Model, events: EventSink) -> Workload:
    """The workload with what a model reads in the sessions; the same where none is to mine.

    A batch that fails is counted and loses nothing of the others. Raises `ModelAuthError` and `BudgetExhausted`.
    """
    if not work.mining:
        return work
    events(PhaseStarted(phase="mine", total=len(work.mining)))
    known = search.memory.known_families()
    mined = await mine_with_model(work.sessions, known, search.policy, model, events=events)
    events(PhaseFinished(phase="mine", detail=f"{mined.counts.tasks} tasks in {mined.counts.groups} groups"))
    return _assign(search, work.harvest, mined.counts, mined.tasks)


def counts_of(found: Harvest) -> HarvestCounts:
    """What a report says of a harvest: everything but the sessions themselves."""
    return HarvestCounts(
        sessions=len(found.sessions),
        files=found.files,
        kept=found.kept,
        soon_deleted=found.soon_deleted,
        skipped=found.skipped,
        skipped_lines=found.skipped_lines,
        masked=found.masked,
    )


def _assign(search: Search, harvested: HarvestCounts, mined: MineCounts, tasks: Sequence[Task]) -> Workload:
    """Give every task to its skill. A skill that is gone or read-only leaves its tasks out, with the reason."""
    left_out: Counter[str] = Counter()
    by_skill: dict[str, list[Task]] = {name: [] for name in search.only}
    sole = search.only[0] if len(search.only) == 1 else None
    memory = _memory_for(search)
    for task in tasks:
        name = task.skill or (sole if search.given is not None else memory)
        why = _why_left_out(search, task, name)
        if why is None and name is not None:
            by_skill.setdefault(name, []).append(task)
        elif why is not None:
            left_out[why] += 1
    for name in search.only:
        search.shelf.find(name)  # an unknown name is an error even where no task mentions it
    skills: list[SkillWork] = []
    evals: list[Task] = []
    masked = Counter(harvested.masked)
    for file, own_tasks in _by_file(search, by_skill, left_out):
        if why := file.why_not_writable:
            left_out[f"{file.name!r} {why}"] += len(own_tasks)
            continue
        try:
            doc = SkillDoc.read(file.path)
        except InputError as error:
            if file.name in search.only:
                raise
            left_out[error.message] += len(own_tasks)
            continue
        own = _own_evals(search, file, own_tasks, left_out, masked)
        if own_tasks or own:
            skills.append(SkillWork(file, doc, (*own_tasks, *own)))
            evals += own
    harvested = harvested.model_copy(update={"masked": dict(masked)})
    return Workload(harvested, mined, tuple(skills), dict(+left_out), (*tasks, *evals))


def _by_file(
    search: Search, by_skill: Mapping[str, Sequence[Task]], left_out: Counter[str]
) -> list[tuple[SkillFile, tuple[Task, ...]]]:
    """Each skill file with all its tasks, by name: two names of one file share one text."""
    files: dict[Path, SkillFile] = {}
    tasks: dict[Path, tuple[Task, ...]] = {}
    for name, found in sorted(by_skill.items()):
        try:
            file = search.shelf.find(name)
        except UnknownName:
            left_out[f"the skill {name!r} is not installed any more"] += len(found)
        except ConflictError as error:  # names that differ only by case: whose sessions these were is not known
            left_out[error.message] += len(found)
        else:
            files.setdefault(file.path, file)
            tasks[file.path] = (*tasks.get(file.path, ()), *found)
    return [(file, tasks[path]) for path, file in files.items()]


def _memory_for(search: Search) -> str | None:
    """The memory file that tasks of sessions without a skill are given to: the one that was named, or the project's.

    What other projects were about is no business of a project's memory file.
    """
    only_here = search.query.project is not None
    named = [name for name in search.only if name == USER_MEMORY or (name in PROJECT_MEMORY and only_here)]
    return named[0] if named else search.shelf.project_memory() if only_here else None


def _why_left_out(search: Search, task: Task, skill: str | None) -> str | None:
    """Why a task is of no use to this night; None if it is."""
    if task.not_evaluable is not None:
        return f"cannot be judged offline: {task.not_evaluable}"
    if skill is None and search.given is not None:
        return "the file names no skill for them; say which with --skills"
    if skill is None:
        return "no skill was used in these sessions"
    if search.only and skill not in search.only:
        return "belongs to a skill that was not asked for"
    if isinstance(task.criterion, Rubric) and not search.graded:
        return "has a rubric, and no model is chosen to grade by it (--judge-model)"
    return None


def _own_evals(
    search: Search, file: SkillFile, tasks: Sequence[Task], left_out: Counter[str], masked: Counter[str]
) -> tuple[Task, ...]:
    """The evals that lie beside a skill, their secrets masked, unless a person's own file replaces them.

    An eval that makes the same request as a task from the sessions joins its family: in another slice, it would show
    the gate what was trained on. Evals that cannot be read leave themselves out, not the skill.
    """
    if search.given is not None or search.found is not None or file.is_memory:  # found tasks hold them already
        return ()
    try:
        found, counts = masked_tasks(evals_beside(file.path, search.policy, skill=file.name), search.redact)
    except UsageError as error:
        left_out[error.message] += 1
        return ()
    masked.update(counts)
    known = {request_key(task.prompt): task for task in tasks}
    kept = []
    for task in found:
        twin = known.get(request_key(task.prompt))
        why = _why_left_out(search, task, file.name)
        if why is not None:
            left_out[why] += 1
        else:
            kept.append(task.model_copy(update={"family": twin.family, "slice": twin.slice}) if twin else task)
    return tuple(kept)


def require_work(work: Workload) -> None:
    """Raise `NothingToDo` with the most useful reason when no skill can be worked on, and no model may find more."""
    if work.mining or any(task.slice != "test" for item in work.skills for task in item.tasks):
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
    elsewhere, older = work.harvest.skipped.get("other_project", 0), work.harvest.skipped.get("outside_window", 0)
    if elsewhere:
        raise NothingToDo(
            f"No past session belongs to this project; {elsewhere} belong to others.",
            hint="Change into a project's folder, or say --all-projects.",
        )
    if older:
        raise NothingToDo(
            f"No past session of this project is recent enough; {older} are older.", hint="Say --since-days N."
        )
    raise NothingToDo(
        "No past sessions were found.",
        hint="`skillopt-sleep harvest` shows where it looked and what was skipped.",
    )
