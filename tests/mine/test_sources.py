"""Evals that others wrote for a skill, as tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillopt_sleep.domain.checks import Regex, ToolCalled
from skillopt_sleep.domain.errors import InputError, UnknownName
from skillopt_sleep.domain.slices import slice_of
from skillopt_sleep.domain.tasks import Rubric, Rules, Task
from skillopt_sleep.domain.trials import Attempt
from skillopt_sleep.judges.rules import holds
from skillopt_sleep.mine.sources import evals_beside, load_tasks
from tests.mine.builders import POLICY

PROMPT = "Write the release notes for the login form."


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """A skill with a folder for its evals."""
    folder = tmp_path / "notes"
    (folder / "evals").mkdir(parents=True)
    (folder / "SKILL.md").write_text("# Notes\n")
    return folder


def evals(skill: Path, *rows: Any, **top: Any) -> tuple[Task, ...]:
    (skill / "evals" / "evals.json").write_text(json.dumps({"skill_name": "other", "evals": list(rows), **top}))
    return evals_beside(skill / "SKILL.md", POLICY, skill="notes")


def case(skill: Path, name: str = "login", yaml: str = "", **files: str) -> tuple[Task, ...]:
    """Write one case and read the suite. Names of files have `_` for `/` and end in .md."""
    folder = skill / "evals" / name
    (folder / "graders").mkdir(parents=True)
    if yaml:
        (folder / "case.yaml").write_text(yaml)
    for file, text in files.items():
        (folder / f"{file.replace('_', '/', 1)}.md").write_text(text)
    return evals_beside(skill / "SKILL.md", POLICY, skill="notes")


def grader(skill: Path, text: str) -> Task:
    (task,) = case(skill, prompt=PROMPT, graders_one=text)
    return task


# --- evals.json -------------------------------------------------------------------------------------------------------


def test_assertions_become_a_rubric_and_the_expected_output_its_reference(skill: Path) -> None:
    row = {"id": 1, "prompt": PROMPT, "expected_output": "Notes.", "files": [], "assertions": ["Is short", "Is kind"]}
    (task,) = evals(skill, row)
    assert (task.id, task.prompt, task.skill, task.origin) == ("notes/eval-1", PROMPT, "notes", "evals")
    assert task.criterion == Rubric(text="- Is short\n- Is kind", reference="Notes.")
    assert task.slice == slice_of(task.family, POLICY)
    assert task.not_evaluable is None
    assert not task.model_authored


@pytest.mark.parametrize("field", ["assertions", "expectations"])
def test_statements_may_be_mappings_and_have_either_name(skill: Path, field: str) -> None:
    (task,) = evals(skill, {"id": "a", "prompt": PROMPT, field: [{"name": "n1", "text": "Is\n short"}]})
    assert task.criterion == Rubric(text="- Is short")
    assert task.criterion.criteria == ("Is short",)


def test_an_eval_with_an_expected_output_alone_shows_it_to_the_grader_alone(skill: Path) -> None:
    (task,) = evals(skill, {"id": 1, "prompt": PROMPT, "expected_output": "The launch is on Friday."})
    assert isinstance(task.criterion, Rubric)
    assert task.criterion.reference == "The launch is on Friday."
    assert "Friday" not in task.criterion.text


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"files": ["a.pdf"], "assertions": ["Is short"]}, "files"),
        ({}, "does not say what a good reply is"),
        ({"prompt": "Run the tests and fix the bug.", "assertions": ["Is short"]}, "runs nothing"),
    ],
)
def test_what_a_replay_cannot_judge_is_kept_and_says_why(skill: Path, row: dict[str, Any], why: str) -> None:
    (task,) = evals(skill, {"id": 1, "prompt": PROMPT, **row})
    assert why in (task.not_evaluable or "")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["x"], ["evals.json", "eval 1", "mapping"]),
        ([{"id": 7}], ["evals.json", "eval 7", "'prompt'"]),
        ([{"id": True, "prompt": "x"}], ["eval 1", "'id'"]),
        ([{"id": 1, "prompt": "x", "assertions": "y"}], ["eval 1", "'assertions' must be a list"]),
        ([{"id": 1, "prompt": "x", "assertions": [3]}], ["eval 1, assertions 1", "a number"]),
        ([{"id": 1, "prompt": "x"}, {"id": 1, "prompt": "y"}], ["eval 1", "taken"]),
        ([{"id": 1, "prompt": 3}], ["eval 1", "'prompt' must be text"]),
    ],
)
def test_a_fault_names_the_file_and_the_eval(skill: Path, rows: list[Any], words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        evals(skill, *rows)
    assert all(word in str(caught.value) for word in words), str(caught.value)


# --- suites -----------------------------------------------------------------------------------------------------------


def test_a_case_with_a_pattern_and_a_rubric_gives_two_tasks_of_one_family(skill: Path) -> None:
    by_rule, by_rubric = case(
        skill,
        yaml=f"execution: {{prompt: {PROMPT}, max_turns: 3}}\ngraders:\n- {{type: regex, pattern: 'Known issues'}}\n",
        graders_kind="---\ntype: llm\nweight: 2\n---\nIs kind to\nthe reader.\n",
    )
    assert by_rule.criterion == Rules(checks=(Regex(arg="Known issues"),))
    assert by_rubric.criterion == Rubric(text="- Is kind to the reader.")
    assert (by_rule.id, by_rubric.id) == ("notes/login", "notes/login-rubric")
    assert (by_rule.family, by_rule.slice) == (by_rubric.family, by_rubric.slice)
    assert by_rule.not_evaluable is by_rubric.not_evaluable is None


def test_a_prompt_may_stand_in_a_file_below_settings(skill: Path) -> None:
    (task,) = case(skill, prompt=f"---\nruns: 1\n---\n{PROMPT}\n", graders_a="---\ntype: regex\n---\nKnown issues\n")
    assert task.prompt == PROMPT
    assert task.criterion == Rules(checks=(Regex(arg="Known issues"),))


@pytest.mark.parametrize(
    ("settings", "held", "failed"),
    [
        ("pattern: Known", "Known issues", "known issues"),
        ("pattern: known\nflags: i", "KNOWN", "none"),
        ("pattern: '^b$'\nflags: m", "a\nb\nc", "abc"),
        ("pattern: TODO\nmatch: not_contains", "All\ndone", "a\nTODO"),
        ("pattern: todo|fixme\nmatch: not_contains\nflags: i", "done", "a FIXME"),
        ("pattern: a\ntarget: {source: last_message}", "a", "b"),
    ],
)
def test_patterns_on_the_reply_mean_what_they_mean_there(skill: Path, settings: str, held: str, failed: str) -> None:
    task = grader(skill, f"---\ntype: regex\n{settings}\n---\n")
    assert isinstance(task.criterion, Rules)
    (check,) = task.criterion.checks
    assert holds(check, Attempt(task_id="t", text=held))
    assert not holds(check, Attempt(task_id="t", text=failed))


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ("type: regex\npattern: x\ntarget: trace", "trace or at a file"),
        ("type: regex\npattern: x\ntarget: {source: file, path: a.txt}", "trace or at a file"),
        ("type: regex\npattern: x\nmatch: count", "counts"),
        ("type: regex\npattern: '(?<n>x)'", "dialect"),
        ("type: regex\npattern: x\nflags: y", "flags"),
        ("type: tool_order\nbefore: A\nafter: B", "order of tool calls"),
        ("type: file_exists\npath: a.txt", "file that the agent made"),
        ("type: baseline", "recorded run"),
        ("type: tool_used\ntool: Bash", "'Bash'"),
        ("type: llm\nfocus: trace\nrubric: x", "whole trace"),
    ],
)
def test_a_grader_that_looks_elsewhere_makes_the_case_not_evaluable_and_is_named(
    skill: Path, settings: str, why: str
) -> None:
    tasks = case(
        skill, prompt=PROMPT, graders_far=f"---\n{settings}\n---\n", graders_near="---\ntype: llm\n---\nIs kind."
    )
    assert tasks
    for task in tasks:
        assert why in (task.not_evaluable or "")
        assert "'far'" in (task.not_evaluable or "")


def test_a_declared_tool_can_be_looked_for_and_an_absent_one_is_never_called(skill: Path) -> None:
    (task,) = case(
        skill,
        yaml=(
            f"execution: {{prompt: {PROMPT}}}\ntools: [{{name: search, notes: {{a: b}}}}]\ngraders:\n"
            "- {type: tool_used, tool: search}\n- {type: tool_used, tool: Skill}\n"
            "- {type: tool_used, tool: Edit, min: 0, max: 0}\n"
        ),
    )
    assert task.criterion == Rules(checks=(ToolCalled(arg="search"),))
    assert [tool.name for tool in task.tools] == ["search"]
    assert task.not_evaluable is None


def test_graders_that_hold_in_every_replay_judge_nothing(skill: Path) -> None:
    assert "none of its graders" in (grader(skill, "---\ntype: tool_used\ntool: Skill\n---\n").not_evaluable or "")


def test_a_case_that_starts_from_files_is_not_evaluable(skill: Path) -> None:
    case(skill, prompt=PROMPT, graders_a="---\ntype: llm\n---\nIs kind.")
    (skill / "evals" / "login" / "scaffold.sh").write_text("touch a\n")
    (task,) = evals_beside(skill / "SKILL.md", POLICY, skill="notes")
    assert "starts from files" in (task.not_evaluable or "")


@pytest.mark.parametrize(
    ("yaml", "files", "words"),
    [
        ("execution: 3", {}, ["case.yaml", "'execution'"]),
        ("graders: [{type: llm, rubric: x}]", {}, ["case.yaml", "no prompt"]),
        ("execution: {prompt: x}", {}, ["case.yaml", "no grader"]),
        ("execution: {prompt: x}\ngraders: [3]", {}, ["case.yaml, grader 1", "mapping"]),
        ("execution: {prompt: x}\ngraders: [{type: llm}]", {}, ["case.yaml, grader 1", "grades by"]),
        ("execution: {prompt: x}\ngraders: [{type: tool_used, tool: A, min: x}]", {}, ["grader 1", "'min'"]),
        ("execution: {prompt: x}", {"graders_a": "---\ntype: regex\n---\n"}, ["a.md", "'pattern'"]),
        ("execution: {prompt: x}", {"graders_a": "---\n- 1\n---\n"}, ["a.md", "mapping"]),
        ("execution: {prompt: x", {}, ["case.yaml", "not valid YAML"]),
    ],
)
def test_a_fault_names_the_file_and_the_grader(skill: Path, yaml: str, files: dict[str, str], words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        case(skill, yaml=yaml, **files)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_an_unknown_type_names_the_nearest_one(skill: Path) -> None:
    with pytest.raises(UnknownName, match=r"one\.md") as caught:
        grader(skill, "---\ntype: regexp\n---\nx")
    assert caught.value.nearest == "regex"


# --- what a person points at ------------------------------------------------------------------------------------------


def test_a_person_may_point_at_the_file_the_folder_or_the_skill(skill: Path) -> None:
    evals(skill, {"id": 1, "prompt": PROMPT, "assertions": ["Is short"]})
    file = skill / "evals" / "evals.json"
    read = [load_tasks(path, POLICY).tasks for path in (file, file.parent, skill)]
    assert read[0] == read[1] == read[2]
    assert {task.skill for task in read[0]} == {"notes"}
    tasks = skill / "tasks.json"
    tasks.write_text('[{"id": "a", "prompt": "x", "answer": "y"}]')
    assert load_tasks(tasks, POLICY).tasks[0].id == "a"


def test_a_folder_without_any_evals_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds neither"):
        load_tasks(tmp_path, POLICY)


def test_a_skill_without_evals_has_none(tmp_path: Path) -> None:
    assert evals_beside(tmp_path / "SKILL.md", POLICY, skill="notes") == ()
