"""Tasks written by a person, or written out for one to review.

A file is YAML, JSON or JSON lines: a list of tasks, or a mapping with `tasks` (and `reviewed`, `schema_version`).

    tasks:
      - id: notes-1                      # required, unique; text
        prompt: Write the release notes for the login form.
        family: login-form               # default: the prompt's content words, so that rewordings share a slice
        group: write release notes       # default: the file's name
        slice: gate                      # train | gate | test ("val" and "holdout" mean gate); default: by family
        skill: release-notes
        anchor: true                     # pinned: no edit may make it worse at all; default: false
        checks:                          # one of: checks, rubric, answer, judge
          - {op: section_present, arg: Known issues}
        tools:
          - {name: search, description: Looks through the notes., notes: {title: text}}

`judge` holds one of {kind: rule, checks: [...]}, {kind: exact, answer: ...}, {kind: rubric, text: ..., threshold: 0.7}.
`reviewed: true` says that a person has read every task: what a model wrote in it then counts as that person's word.
The gbrain form {"task_id", "task", "judge"} is accepted too. Every fault is an `InputError` or `UnknownName` that
names the file, the task and the check.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import ValidationError

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.checks import Author, parse_check
from skillopt_sleep.domain.errors import InputError, UnknownName, UsageError
from skillopt_sleep.domain.slices import Slice, SplitPolicy, slice_of
from skillopt_sleep.domain.tasks import Criterion, Exact, Rubric, Rules, Task, TaskOrigin, Tool
from skillopt_sleep.mine.families import family_id
from skillopt_sleep.mine.rows import fields, kind, list_field, read_document, text_field
from skillopt_sleep.mine.wording import MAX_WORDS, read_wording

_TOP: Final = ("tasks", "reviewed", "schema_version")
_FIELDS: Final = (
    *("id", "task_id", "prompt", "task", "family", "group", "slice", "split", "skill"),
    *("checks", "rubric", "answer", "judge", "tools", "origin", "said", "not_evaluable", "anchor"),
)
_CRITERIA: Final = ("checks", "rubric", "answer", "judge")
_JUDGES: Final[dict[str, tuple[str, ...]]] = {
    "rule": ("kind", "checks"),
    "exact": ("kind", "answer"),
    "rubric": ("kind", "text", "threshold", "reference", "author"),
}
_SLICES: Final[dict[str, Slice]] = {
    "train": "train",
    "gate": "gate",
    "val": "gate",
    "holdout": "gate",
    "test": "test",
}
_ORIGINS: Final[dict[str, TaskOrigin]] = {"session": "session", "file": "file", "gbrain": "gbrain", "evals": "evals"}
_AUTHORS: Final[dict[str, Author]] = {"person": "person", "model": "model"}
_TO_DO: Final = """\
# Tasks that past sessions gave. Please read them before a night works with them:
#   - Is each one something that you ask for again and again? Delete what is not.
#   - Do the checks say what a good reply is? Correct, add, delete. What names a model as its author, a model wrote.
#   - Is there anything in it that should not be sent to a model? Delete it.
# Then write `reviewed: true` below and use the file with `skillopt-sleep run --tasks FILE`.
"""
_TOOL_TEXT: Final = "Looks through the notes of this data set."


class TasksFile(Frozen):
    """The tasks of a file, in its order."""

    path: Path
    tasks: tuple[Task, ...]
    reviewed: bool = False
    """Whether a person says in the file that they have read it."""


def load_tasks_file(path: Path, policy: SplitPolicy) -> tuple[Task, ...]:
    """The tasks of a file, in its order."""
    return read_tasks_file(path, policy).tasks


def read_tasks_file(path: Path, policy: SplitPolicy) -> TasksFile:
    """A tasks file. A family without a slice gets one from its id, under `policy`."""
    document = read_document(path)
    reviewed = False
    if isinstance(document, Mapping):
        top = fields(document, _TOP, str(path))
        rows, reviewed = list_field(top, "tasks", str(path)), _is_reviewed(top, path)
    else:
        rows = document if isinstance(document, list) else None
    if rows is None:
        raise InputError(f"{path}: expected a list of tasks, or 'tasks:' with one, not {kind(document)}.")
    if not rows:
        raise InputError(f"{path} holds no tasks.")
    parsed = [_read_row(row, number, path) for number, row in enumerate(rows, start=1)]
    require_unique_ids(((task.id, where) for task, _, where in parsed), path)
    stated = _slices_of_families(parsed)
    tasks = [
        task.model_copy(update={"slice": stated.get(task.family) or slice_of(task.family, policy)})
        for task, _, _ in parsed
    ]
    _require_one_slice_a_request(tasks, path)
    return TasksFile(path=path, tasks=tuple(map(_vouched_for, tasks) if reviewed else tasks), reviewed=reviewed)


def require_reviewed(given: TasksFile | None) -> None:
    """Raise `UsageError` for tasks that no person has vouched for; None stands for tasks straight from sessions."""
    if given is None:
        raise UsageError(
            "The setting `review` wants tasks that a person has read before a model is paid.",
            hint="`skillopt-sleep harvest --output tasks.yaml` writes them; read them, write `reviewed: true` at the "
            "top, and give the file with --tasks.",
        )
    if not given.reviewed:
        raise UsageError(
            f"{given.path} is not marked as reviewed, and the setting `review` wants that before a model is paid.",
            hint="Read it, correct it, and write `reviewed: true` at its top.",
        )


def dump_tasks(tasks: Iterable[Task], *, reviewed: bool | None = None) -> str:
    """Tasks as YAML that `load_tasks_file` reads back equal (also their slices, whatever the policy).

    With `reviewed`, the file says so at its top, and what a person should do about it.
    """
    top: dict[str, object] = {} if reviewed is None else {"reviewed": reviewed}
    text = yaml.dump(
        {**top, "tasks": [_row_of(task) for task in tasks]},
        Dumper=_Dumper,
        allow_unicode=True,
        sort_keys=False,
        width=110,
    )
    return text if reviewed is None else _TO_DO + text


def _is_reviewed(top: Mapping[str, Any], path: Path) -> bool:
    reviewed = top.get("reviewed", False)
    if not isinstance(reviewed, bool):
        raise InputError(f"{path}: 'reviewed' is true or false, not {kind(reviewed)} ({reviewed}).")
    return reviewed


def _vouched_for(task: Task) -> Task:
    """The task with everything that a model wrote in it taken over by the person who reviewed it."""
    match task.criterion:
        case Rules(checks=checks):
            own: Criterion = Rules(checks=tuple(check.model_copy(update={"author": "person"}) for check in checks))
        case Rubric():
            own = task.criterion.model_copy(update={"author": "person"})
        case Exact():
            own = task.criterion
    return task.model_copy(update={"criterion": own})


def _require_one_slice_a_request(tasks: Iterable[Task], path: Path) -> None:
    """Refuse the same request in two slices, under whatever families: the gate would see what was trained on."""
    seen: dict[str, Task] = {}
    for task in tasks:
        before = seen.setdefault(request_key(task.prompt), task)
        if before.slice != task.slice:
            raise InputError(
                f"{path}: the tasks {before.id!r} ({before.slice}) and {task.id!r} ({task.slice}) make the same "
                "request, in the same words but for their order and politeness.",
                hint="Put both into one slice, or into one family.",
            )


def request_key(prompt: str) -> str:
    """Equal for prompts of the same content words. A prompt without any, or with too many to tell, stands as it is."""
    words = read_wording(prompt).words
    return " ".join(sorted(words)) if 0 < len(words) < MAX_WORDS else " ".join(prompt.split())


def require_unique_ids(ids: Iterable[tuple[str, str]], path: Path) -> None:
    """Refuse an id that two tasks share. `ids` are (id, place) pairs."""
    seen: dict[str, str] = {}
    for task_id, where in ids:
        if task_id in seen:
            raise InputError(f"{where}: the id is taken by an earlier task of {path.name}.", hint="Give each its own.")
        seen[task_id] = where


def _read_row(row: object, number: int, path: Path) -> tuple[Task, Slice | None, str]:
    """A task, the slice it states, and its place in words. The task's own slice is filled in afterwards."""
    given = row.get("id", row.get("task_id")) if isinstance(row, Mapping) else None
    where = f"{path}, task {given!r}" if isinstance(given, str) else f"{path}, task {number}"
    values = fields(row, _FIELDS, where)
    task_id = _one_of_two(values, "id", "task_id", where)
    if not task_id:
        raise InputError(f"{where}: the task has no 'id'.")
    prompt = _one_of_two(values, "prompt", "task", where)
    if not prompt or not prompt.strip():
        raise InputError(f"{where}: the task has no 'prompt'.")
    stated = _stated_slice(values, where)
    group = text_field(values, "group", where) or path.stem
    origin = text_field(values, "origin", where) or "file"
    if origin not in _ORIGINS:
        raise UnknownName(f"origin ({where})", origin, _ORIGINS)
    task = Task(
        id=task_id,
        prompt=prompt,
        criterion=read_criterion(values, where),
        group=group,
        family=text_field(values, "family", where) or family_of(prompt, task_id),
        slice=stated or "train",
        skill=text_field(values, "skill", where),
        origin=_ORIGINS[origin],
        tools=tuple(
            read_tool(tool, f"{where}, tool {place}")
            for place, tool in enumerate(list_field(values, "tools", where) or [], start=1)
        ),
        said=_said(values, where),
        not_evaluable=text_field(values, "not_evaluable", where),
        anchor=_is_anchor(values, where),
    )
    return task, stated, where


def _said(values: Mapping[str, Any], where: str) -> tuple[str, ...]:
    texts = list_field(values, "said", where) or []
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"{where}: 'said' must be a list of texts, and holds {kind(text)}.")
    return tuple(texts)


def family_of(prompt: str, task_id: str) -> str:
    """The same family for the same content words, in whatever order and with whatever politeness."""
    words = sorted(read_wording(prompt).words)
    return family_id("", " ".join(words) or task_id)


def _is_anchor(values: Mapping[str, Any], where: str) -> bool:
    value = values.get("anchor", False)
    if not isinstance(value, bool):
        raise InputError(f"{where}: 'anchor' must be true or false, not {kind(value)}.")
    return value


def _one_of_two(values: Mapping[str, Any], name: str, alias: str, where: str) -> str | None:
    if name in values and alias in values:
        raise InputError(f"{where}: {name!r} and {alias!r} mean the same; give one of them.")
    return text_field(values, alias if alias in values else name, where)


def _stated_slice(values: Mapping[str, Any], where: str) -> Slice | None:
    name = _one_of_two(values, "slice", "split", where)
    if name is None:
        return None
    if name not in _SLICES:
        raise UnknownName(f"slice ({where})", name, _SLICES)
    return _SLICES[name]


def _slices_of_families(parsed: list[tuple[Task, Slice | None, str]]) -> dict[str, Slice]:
    """The slice each family states. Two slices for one family would let the gate see what was trained on."""
    stated: dict[str, tuple[Slice, str]] = {}
    for task, chosen, where in parsed:
        if chosen is None:
            continue
        before, first = stated.setdefault(task.family, (chosen, task.id))
        if before != chosen:
            raise InputError(
                f"{where}: family {task.family!r} is in slice {chosen!r}, but in {before!r} through task {first!r}.",
                hint="Rewordings of one request belong to one slice; give different requests different families.",
            )
    return {family: chosen for family, (chosen, _) in stated.items()}


def read_criterion(values: Mapping[str, Any], where: str) -> Criterion:
    """The criterion of a row from `checks`, `rubric`, `answer` or `judge`, of which exactly one stands there."""
    given = [name for name in _CRITERIA if values.get(name) is not None]
    if len(given) != 1:
        found = " and ".join(repr(name) for name in given) or "none"
        raise InputError(f"{where}: a task needs exactly one of {', '.join(_CRITERIA)}; found {found}.")
    if given == ["checks"]:
        return _rules(values, where)
    if given == ["answer"]:
        return Exact(answer=text_field(values, "answer", where) or "")
    if given == ["rubric"]:
        rubric = values["rubric"]
        return _rubric(rubric if isinstance(rubric, Mapping) else {"text": rubric}, f"{where}, rubric")
    return _judge(values["judge"], f"{where}, judge")


def _judge(raw: object, where: str) -> Criterion:
    if not isinstance(raw, Mapping):
        raise InputError(f"{where}: expected a mapping with 'kind', not {kind(raw)}.")
    name = text_field(raw, "kind", where)
    if name not in _JUDGES:
        raise UnknownName(f"kind of judge ({where})", str(name), _JUDGES)
    values = fields(raw, _JUDGES[name], where)
    if name == "rule":
        return _rules(values, where.removesuffix(", judge"))
    if name == "rubric":
        return _rubric(values, where)
    answer = text_field(values, "answer", where)
    if answer is None:
        raise InputError(f"{where}: an exact judge needs an 'answer'.")
    return Exact(answer=answer)


def _rules(values: Mapping[str, Any], where: str) -> Rules:
    rows = list_field(values, "checks", where)
    if not rows:
        raise InputError(f"{where}: 'checks' is empty, so that any reply would pass.")
    checks = []
    for number, row in enumerate(rows, start=1):
        place = f"{where}, check {number}"
        argument = row.get("arg") if isinstance(row, Mapping) else None
        if isinstance(argument, bool | date):
            raise InputError(f"{place}: 'arg' was read as {kind(argument)} ({argument}).", hint="Put it in quotes.")
        checks.append(parse_check(row, where=place))
    return Rules(checks=tuple(checks))


def _rubric(raw: Mapping[str, Any], where: str) -> Rubric:
    values = fields(raw, _JUDGES["rubric"], where)
    text = text_field(values, "text", where)
    if not text or not text.strip():
        raise InputError(f"{where}: a rubric needs a 'text'.")
    author = text_field(values, "author", where) or "person"
    if author not in _AUTHORS:
        raise UnknownName(f"author ({where})", author, _AUTHORS)
    rubric = Rubric(text=text, reference=text_field(values, "reference", where), author=_AUTHORS[author])
    threshold = values.get("threshold")
    if threshold is None:
        return rubric
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold <= 1:
        raise InputError(f"{where}: 'threshold' must be a number above 0 and at most 1, not {threshold!r}.")
    return rubric.model_copy(update={"threshold": float(threshold)})


def read_tool(raw: object, where: str) -> Tool:
    """A tool as a tasks file declares it: a name, or a mapping."""
    if isinstance(raw, str):
        raw = {"name": raw}
    values = fields(raw, ("name", "description", "parameter", "notes"), where)
    name = text_field(values, "name", where)
    if not name:
        raise InputError(f"{where}: a tool needs a 'name'.")
    try:
        return Tool.model_validate({"description": _TOOL_TEXT, **values})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{where}: {place}: {first['msg']}.") from error


class _Dumper(yaml.SafeDumper):
    """Text of several lines as a block that a person can read; line ends that YAML would fold are escaped."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    unusual = any(sign in text for sign in "\r\x85\u2028\u2029\ufeff")
    style = '"' if unusual else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def _row_of(task: Task) -> dict[str, object]:
    row: dict[str, object] = {"id": task.id, "prompt": task.prompt}
    row |= {"group": task.group, "family": task.family, "slice": task.slice}
    optional = {"skill": task.skill, "not_evaluable": task.not_evaluable}
    row |= {name: value for name, value in optional.items() if value is not None}
    if task.anchor:
        row["anchor"] = True
    if task.origin != "file":
        row["origin"] = task.origin
    if isinstance(task.criterion, Rules):
        row["checks"] = [_check_row(check.model_dump(mode="json")) for check in task.criterion.checks]
    else:
        row["judge"] = task.criterion.model_dump(mode="json", exclude_defaults=True) | {"kind": task.criterion.kind}
    if task.said:
        row["said"] = list(task.said)
    if task.tools:
        row["tools"] = [tool.model_dump(mode="json") for tool in task.tools]
    return row


def _check_row(check: dict[str, object]) -> dict[str, object]:
    """A check as a person would write it: the operator first, nothing that is the default."""
    row: dict[str, object] = {"op": check["op"]}
    if check.get("arg") is not None:
        row["arg"] = check["arg"]
    if check["author"] != "person":
        row["author"] = check["author"]
    return row
