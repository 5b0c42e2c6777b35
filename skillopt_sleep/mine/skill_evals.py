"""A skill's own `evals/evals.json`, as the skill-creator plugin writes it.

    {"skill_name": "...",
     "evals": [{"id": 1, "prompt": "...", "expected_output": "...", "files": [], "assertions": ["..."]}]}

`assertions` (also called `expectations`) are statements about a good reply, and become a rubric; `expected_output`
describes one, and becomes the reference that only the grader sees. Fields beyond these belong to others and are let be.
Every fault is an `InputError` that names the file and the eval.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from skillopt_sleep.domain.errors import InputError
from skillopt_sleep.domain.slices import SplitPolicy, slice_of
from skillopt_sleep.domain.tasks import Rubric, Task
from skillopt_sleep.mine.evaluable import why_not_evaluable
from skillopt_sleep.mine.rows import kind, list_field, read_document, text_field
from skillopt_sleep.mine.tasks_file import family_of, require_unique_ids

_AS_GOOD: Final = "The reply is what the reference describes, or as good for the person who asked."
_WORDS: Final = ("text", "assertion", "expectation", "description", "name")
"""Where a statement stands that is written as a mapping; the first of these counts."""


def load_skill_evals(path: Path, policy: SplitPolicy, *, skill: str | None = None) -> tuple[Task, ...]:
    """The evals of a file as tasks, in its order. `skill` is the name that agents know the skill by, where known."""
    document = read_document(path)
    if not isinstance(document, Mapping):
        raise InputError(f"{path}: expected a mapping with 'evals', not {kind(document)}.")
    rows = list_field(document, "evals", str(path))
    if rows is None:
        raise InputError(f"{path}: there are no 'evals' in it.")
    name = skill or text_field(document, "skill_name", str(path))
    read = [_eval(row, number, path, policy, name) for number, row in enumerate(rows, start=1)]
    require_unique_ids(((task.id, where) for task, where in read), path)
    return tuple(task for task, _ in read)


def _eval(row: object, number: int, path: Path, policy: SplitPolicy, skill: str | None) -> tuple[Task, str]:
    where = f"{path}, eval {number}"
    if not isinstance(row, Mapping):
        raise InputError(f"{where}: expected a mapping of fields, not {kind(row)}.")
    given = row.get("id", number)
    if isinstance(given, bool) or not isinstance(given, int | str) or given == "":
        raise InputError(f"{where}: 'id' must be a number or text, not {kind(given)}.")
    where = f"{path}, eval {given!r}"
    prompt = text_field(row, "prompt", where)
    if not prompt or not prompt.strip():
        raise InputError(f"{where}: the eval has no 'prompt'.")
    rubric = _rubric(row, where)
    task_id = f"{skill or path.stem}/eval-{given}"
    family = family_of(prompt, task_id)
    task = Task(
        id=task_id,
        prompt=prompt,
        criterion=rubric or Rubric(text="Nothing is stated."),
        group=skill or path.stem,
        family=family,
        slice=slice_of(family, policy),
        skill=skill,
        origin="evals",
        not_evaluable=_why_not(row, prompt, rubric, where),
    )
    return task, where


def _rubric(row: Mapping[str, Any], where: str) -> Rubric | None:
    """What the eval says about a good reply; None where it says nothing yet."""
    field = "assertions" if row.get("assertions") else "expectations"
    lines = [_statement(one, f"{where}, {field} {n}") for n, one in enumerate(list_field(row, field, where) or [], 1)]
    expected = text_field(row, "expected_output", where)
    reference = expected if expected and expected.strip() else None
    if lines:
        return Rubric(text="\n".join(f"- {line}" for line in lines), reference=reference)
    return Rubric(text=_AS_GOOD, reference=reference) if reference else None


def _statement(raw: object, where: str) -> str:
    if isinstance(raw, Mapping):
        raw = next((raw[name] for name in _WORDS if raw.get(name)), None)
    if not isinstance(raw, str) or not raw.strip():
        raise InputError(f"{where}: expected a statement about a good reply, not {kind(raw)}.")
    return " ".join(raw.split())


def _why_not(row: Mapping[str, Any], prompt: str, rubric: Rubric | None, where: str) -> str | None:
    if list_field(row, "files", where):
        return "it comes with files that a replay does not have"
    if rubric is None:
        return "its eval does not say what a good reply is"
    return why_not_evaluable(prompt)
