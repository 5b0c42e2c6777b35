"""Where tasks come from besides sessions: a tasks file, a skill's `evals.json`, a folder with a suite of evals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skillopt_sleep.domain.errors import InputError
from skillopt_sleep.domain.slices import SplitPolicy
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.mine.eval_suite import find_cases, load_eval_suite
from skillopt_sleep.mine.rows import read_document
from skillopt_sleep.mine.skill_evals import load_skill_evals
from skillopt_sleep.mine.tasks_file import TasksFile, read_tasks_file

EVALS = "evals"
_FILE = "evals.json"


def load_tasks(path: Path, policy: SplitPolicy) -> TasksFile:
    """The tasks that a person pointed at: a tasks file, an `evals.json`, or a folder with evals in it.

    A folder is that of a skill or of a plugin, or its `evals`. Raises `InputError` that names file and item.
    """
    if path.is_dir():
        inner = path / EVALS
        folder = inner if inner.is_dir() else path
        tasks = evals_in(folder, policy, skill=_skill_of(folder))
        if not tasks:
            raise InputError(f"{path} holds neither an {_FILE} nor a case with graders.")
        return TasksFile(path=path, tasks=tasks)
    if path.suffix.casefold() == ".json":
        document = read_document(path)
        if isinstance(document, Mapping) and "evals" in document:
            skill = _skill_of(path.parent)
            tasks = load_skill_evals(path, policy, skill=skill)
            return TasksFile(path=path, tasks=tasks, reviewed=document.get("reviewed") is True)
    return read_tasks_file(path, policy)


def evals_beside(skill_file: Path, policy: SplitPolicy, *, skill: str) -> tuple[Task, ...]:
    """The evals that lie beside a skill; none where there is no such folder."""
    return evals_in(skill_file.parent / EVALS, policy, skill=skill)


def evals_in(folder: Path, policy: SplitPolicy, *, skill: str | None) -> tuple[Task, ...]:
    """All evals of a folder, of either kind."""
    file = folder / _FILE
    own = load_skill_evals(file, policy, skill=skill) if file.is_file() else ()
    return (*own, *(load_eval_suite(folder, policy, skill=skill) if find_cases(folder) else ()))


def _skill_of(folder: Path) -> str | None:
    """The skill that an `evals` folder lies in, by the name of its folder."""
    beside = folder.resolve().parent
    return beside.name if (beside / "SKILL.md").is_file() else None
