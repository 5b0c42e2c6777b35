"""Suites for `claude plugin eval`: one folder for each case, below `evals/`.

    evals/<case>/case.yaml     {execution: {prompt, ...}, graders: [...]}; or
    evals/<case>/prompt.md     the prompt, below settings that may stand between `---` lines, and
    evals/<case>/graders/*.md  {type, ...} between `---` lines, and below them a pattern or a rubric

A replay has a prompt and a reply and nothing else. A grader that looks at the reply becomes a check (`regex`) or a
criterion of a rubric (`llm`); `tool_used` becomes a check where the case declares the tool in the form of our tasks
files. A case with a grader that looks at anything else is kept and marked as not evaluable: judged by the remaining
graders it would be another case. Every fault is an `InputError` or `UnknownName` that names the file and the grader.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from skillopt_sleep.domain.checks import Check, ToolCalled, parse_check
from skillopt_sleep.domain.errors import InputError, UnknownName
from skillopt_sleep.domain.slices import SplitPolicy, slice_of
from skillopt_sleep.domain.tasks import Criterion, Rubric, Rules, Task, Tool
from skillopt_sleep.mine.evaluable import why_not_evaluable
from skillopt_sleep.mine.rows import kind, list_field, read_document, read_front_matter, text_field
from skillopt_sleep.mine.tasks_file import family_of, read_tool

_TYPES: Final = ("regex", "tool_used", "tool_order", "file_exists", "llm", "baseline")
_REPLY: Final = ("last_message", "reply", "final_message")
_ELSEWHERE: Final[Mapping[str, str]] = {
    "tool_order": "looks at the order of tool calls",
    "file_exists": "looks for a file that the agent made",
    "baseline": "compares with a recorded run",
}


@dataclass(frozen=True, slots=True)
class _Grader:
    """One grader, and where it stands."""

    values: Mapping[str, Any]
    body: str
    where: str

    @property
    def name(self) -> str:
        return str(self.values.get("name") or self.where.rpartition(" ")[2])

    def text(self, *fields: str) -> str:
        """The first of these fields that is given, else the text below the settings."""
        found = (text_field(self.values, field, self.where) for field in fields)
        return next((text for text in found if text), self.body).strip()


class _NotHere(Exception):
    """A grader that a replay cannot stand in for; the text is the reason."""


def find_cases(folder: Path) -> tuple[Path, ...]:
    """Folders of cases below a suite's folder, in order of their paths."""
    found = {path.parent for path in folder.rglob("case.yaml")}
    found |= {path.parent for path in folder.rglob("graders") if (path.parent / "prompt.md").is_file()}
    return tuple(sorted(found))


def load_eval_suite(folder: Path, policy: SplitPolicy, *, skill: str | None = None) -> tuple[Task, ...]:
    """The cases of a suite as tasks. A case with checks and a rubric gives two tasks of one family."""
    return tuple(task for case in find_cases(folder) for task in _tasks(case, folder, policy, skill))


def _tasks(case: Path, folder: Path, policy: SplitPolicy, skill: str | None) -> Iterator[Task]:
    where = str(case / "case.yaml") if (case / "case.yaml").is_file() else str(case / "prompt.md")
    values = _case_values(case)
    prompt = _prompt(case, values, where)
    tools = tuple(
        read_tool(tool, f"{where}, tool {number}")
        for number, tool in enumerate(list_field(values, "tools", where) or [], start=1)
    )
    criteria, reason = _criteria(list(_graders(case, values, where)), tools, where)
    name = case.relative_to(folder).as_posix() if case != folder else case.name
    family = family_of(prompt, name)
    for criterion in criteria:
        both = isinstance(criterion, Rubric) and len(criteria) > 1
        yield Task(
            id=f"{skill or folder.parent.name}/{name}" + ("-rubric" if both else ""),
            prompt=prompt,
            criterion=criterion,
            group=skill or folder.parent.name,
            family=family,
            slice=slice_of(family, policy),
            skill=skill,
            origin="evals",
            tools=tools,
            not_evaluable=_needs_files(case) or reason or why_not_evaluable(prompt),
        )


def _case_values(case: Path) -> Mapping[str, Any]:
    file = case / "case.yaml"
    if not file.is_file():
        return {}
    values = read_document(file)
    if not isinstance(values, Mapping):
        raise InputError(f"{file}: expected a mapping of fields, not {kind(values)}.")
    return values


def _prompt(case: Path, values: Mapping[str, Any], where: str) -> str:
    execution = values.get("execution") or {}
    if not isinstance(execution, Mapping):
        raise InputError(f"{where}: 'execution' must be a mapping, not {kind(execution)}.")
    prompt = text_field(execution, "prompt", where)
    if prompt is None and (case / "prompt.md").is_file():
        prompt = read_front_matter(case / "prompt.md")[1]
    if not prompt or not prompt.strip():
        raise InputError(f"{where}: the case has no prompt.", hint="It stands in execution.prompt or in prompt.md.")
    return prompt.strip()


def _graders(case: Path, values: Mapping[str, Any], where: str) -> Iterator[_Grader]:
    for number, row in enumerate(list_field(values, "graders", where) or [], start=1):
        if not isinstance(row, Mapping):
            raise InputError(f"{where}, grader {number}: expected a mapping of fields, not {kind(row)}.")
        yield _Grader(row, "", f"{where}, grader {number}")
    for file in sorted((case / "graders").glob("*.md")):
        settings, body = read_front_matter(file)
        yield _Grader({"name": file.stem, **settings}, body, str(file))


def _criteria(graders: list[_Grader], tools: tuple[Tool, ...], where: str) -> tuple[list[Criterion], str | None]:
    """What the graders ask for, and why a replay cannot judge all of it, if it cannot."""
    if not graders:
        raise InputError(f"{where}: the case has no grader.", hint="Put one below graders/, or into `graders:`.")
    checks: list[Check] = []
    lines: list[str] = []
    reason: str | None = None
    for grader in graders:
        try:
            wanted = _read(grader, tools)
        except _NotHere as why:
            reason = reason or f"its grader {grader.name!r} {why}"
            continue
        if isinstance(wanted, str):
            lines.append(wanted)
        elif wanted is not None:
            checks.append(wanted)
    found: list[Criterion] = [Rules(checks=tuple(checks))] if checks else []
    if lines:
        found.append(Rubric(text="\n".join(f"- {line}" for line in lines)))
    if not found:
        reason = reason or "none of its graders looks at the reply"
        found.append(Rubric(text="Nothing is stated about the reply."))
    return found, reason


def _read(grader: _Grader, tools: tuple[Tool, ...]) -> Check | str | None:
    """A grader as a check or as a criterion of a rubric; None where it holds in every replay."""
    name = text_field(grader.values, "type", grader.where)
    if name not in _TYPES:
        raise UnknownName(f"type of grader ({grader.where})", str(name), _TYPES)
    if str(grader.values.get("arm", "")).startswith("without"):
        return None  # it watches the arm without the plugin, which is no part of a replay
    if name == "regex":
        return _pattern(grader)
    if name == "llm":
        return _criterion(grader)
    if name == "tool_used":
        return _tool_used(grader, tools)
    raise _NotHere(_ELSEWHERE[name])


def _pattern(grader: _Grader) -> Check:
    target = grader.values.get("target", "last_message")
    source = target.get("source") if isinstance(target, Mapping) else target
    if source not in _REPLY:
        raise _NotHere("looks at the trace or at a file, not at the reply")
    pattern = grader.text("pattern")
    if not pattern:
        raise InputError(f"{grader.where}: the grader has no 'pattern'.")
    flags = "".join(flag for flag in str(grader.values.get("flags") or "") if flag not in "gu")
    if set(flags) - set("ims"):
        raise _NotHere("has a pattern with flags that mean nothing here")
    match = grader.values.get("match", "contains")
    if match not in ("contains", "not_contains"):
        raise _NotHere("counts how often its pattern is found")
    if match == "not_contains":
        pattern = rf"\A(?![\s\S]*(?:{pattern}))"
    prefix = f"(?{''.join(sorted(set(flags)))})" if flags else ""
    try:
        return parse_check({"op": "regex", "arg": prefix + pattern}, where=grader.where)
    except InputError:  # a pattern of JavaScript need not be one of ours, and is no fault of the file
        raise _NotHere("has a pattern in a dialect that cannot be run here") from None


def _criterion(grader: _Grader) -> str:
    if grader.values.get("focus", "last_message") not in _REPLY:
        raise _NotHere("judges the whole trace, not the reply")
    text = " ".join(grader.text("rubric", "criteria", "prompt").split())
    if not text:
        raise InputError(f"{grader.where}: the grader does not say what it grades by.")
    return text


def _tool_used(grader: _Grader, tools: tuple[Tool, ...]) -> Check | None:
    tool = text_field(grader.values, "tool", grader.where)
    if not tool:
        raise InputError(f"{grader.where}: the grader has no 'tool'.")
    least, most = _count(grader, "min"), _count(grader, "max")
    if tool == "Skill":
        return None  # says whether the skill was loaded; in a replay it always is
    declared = tool in (one.name for one in tools)
    if most == 0 and not declared:
        return None  # what is not there is not called
    if declared and most is None and least in (None, 1) and not grader.values.get("input_match"):
        return ToolCalled(arg=tool)
    raise _NotHere(f"looks at calls of the tool {tool!r} that a replay cannot show")


def _count(grader: _Grader, field: str) -> int | None:
    value = grader.values.get(field)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise InputError(f"{grader.where}: {field!r} must be a whole number, not {value!r}.")
    return value


def _needs_files(case: Path) -> str | None:
    return "it starts from files that a replay does not have" if (case / "scaffold.sh").is_file() else None
