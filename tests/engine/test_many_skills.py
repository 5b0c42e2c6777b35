"""Many skills and memory files in one night: each with its own tasks and verdict, and none holds up another."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillopt_sleep import app
from skillopt_sleep.domain.errors import ConflictError
from skillopt_sleep.domain.llm import Prompt
from skillopt_sleep.requests import AdoptRequest, ProposalRequest, RunRequest
from skillopt_sleep.shelf import Shelf
from skillopt_sleep.staging import AllowedRoots
from skillopt_sleep.views import RunView
from tests.engine.desk import ADD_RISKS, SKILL, Desk, Puppet, Stage, follows_rules, proposes, rows


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def named(name: str) -> list[dict[str, object]]:
    """A set of tasks for one skill."""
    return [
        {**row, "id": f"{name}-{row['id']}", "skill": name, "family": f"{name} {row['family']}"}
        | {"prompt": f"{row['prompt']} ({name})"}
        for row in rows(test=0)
    ]


def put(desk: Desk, name: str, data: bytes = SKILL) -> Path:
    file = desk.root / "claude" / "skills" / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_bytes(data)
    return file


def night(desk: Desk, *names: str) -> RunView:
    Stage.puppet = Puppet(follows_rules, proposes(ADD_RISKS))
    tasks = desk.tasks([row for name in names for row in named(name)])
    request = RunRequest(target_model="tests.engine.desk:on_stage", tasks=tasks, yes=True)
    return app.run(request, desk.environment, desk.events.append)


def decisions(view: RunView) -> dict[str, str]:
    return {one.skill: one.verdict.decision if one.verdict else "none" for one in view.report.skills}


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"\xff\xfe\x00 not text", "UTF-8"), (b"x" * 1_000_001, "larger than 1,000 KB")],
)
def test_a_skill_that_cannot_be_worked_on_is_named_and_holds_up_no_other(desk: Desk, data: bytes, said: str) -> None:
    put(desk, "broken", data)
    put(desk, "commits")
    view = night(desk, "briefs", "broken", "commits")
    assert decisions(view) == {"briefs": "accept", "commits": "accept"}
    plan = app.plan(RunRequest(tasks=desk.tasks([*named("briefs"), *named("broken")])), desk.environment)
    assert any(said in reason and "broken" in reason for reason in plan.left_out)


def test_a_skill_whose_optimiser_never_answers_well_holds_up_no_other(desk: Desk) -> None:
    put(desk, "commits")

    def only_for_briefs(prompt: Prompt) -> str:
        return "no json" if "(commits)" in prompt.messages[0].text else proposes(ADD_RISKS)(prompt)

    Stage.puppet = Puppet(follows_rules, only_for_briefs)
    tasks = desk.tasks([*named("briefs"), *named("commits")])
    view = app.run(
        RunRequest(target_model="tests.engine.desk:on_stage", tasks=tasks, yes=True),
        desk.environment,
        desk.events.append,
    )
    assert decisions(view) == {"briefs": "accept", "commits": "none"}


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_two_names_of_one_file_are_worked_on_once(desk: Desk) -> None:
    (desk.root / "claude" / "skills" / "same").symlink_to(desk.skill.parent, target_is_directory=True)
    view = night(desk, "briefs", "same")
    assert decisions(view) == {"briefs": "accept"}


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_a_write_protected_skill_is_left_alone_by_name(desk: Desk) -> None:
    file = put(desk, "frozen")
    file.chmod(0o444)
    view = night(desk, "briefs", "frozen")
    assert decisions(view) == {"briefs": "accept"}
    plan = app.plan(RunRequest(tasks=desk.tasks([*named("briefs"), *named("frozen")])), desk.environment)
    assert plan.left_out == {"'frozen' is write-protected": 18}


def test_names_that_differ_only_by_case_cost_no_other_skill_its_night(desk: Desk) -> None:
    put(desk, "Commits")
    other = desk.root / "project" / ".claude" / "skills" / "COMMITS" / "SKILL.md"
    other.parent.mkdir(parents=True)
    other.write_bytes(SKILL)
    view = night(desk, "briefs", "commits")
    assert decisions(view) == {"briefs": "accept"}


def test_a_projects_memory_file_is_improved_in_its_own_region_and_comes_back_byte_for_byte(desk: Desk) -> None:
    memory = desk.root / "project" / "CLAUDE.md"
    memory.write_bytes(b"# Our shop\n\nWe say order, never purchase.\n")
    view = night(desk, "CLAUDE.md")
    assert decisions(view) == {"CLAUDE.md": "accept"}
    assert isinstance(Stage.puppet, Puppet)
    targets = [prompt.system for prompt in Stage.puppet.prompts if prompt.role == "target"]
    assert all("<memory>\n# Our shop" in system and "<skill>" not in system for system in targets)
    app.adopt(AdoptRequest(proposal="CLAUDE.md"), desk.environment)
    assert b'- Include a section headed "Risks".' in memory.read_bytes()
    assert memory.read_bytes().startswith(b"# Our shop\n\nWe say order, never purchase.\n")
    app.undo(ProposalRequest(proposal="CLAUDE.md"), desk.environment)
    assert memory.read_bytes() == b"# Our shop\n\nWe say order, never purchase.\n"


def test_memory_files_are_listed_only_where_they_exist(desk: Desk) -> None:
    shelf = Shelf(desk.root / "claude", desk.root / "project")
    assert [skill.name for skill in shelf.skills()] == ["briefs"]
    (desk.root / "project" / "AGENTS.md").write_text("# Agents\n", encoding="utf-8")
    (desk.root / "claude" / "CLAUDE.md").write_text("# Me\n", encoding="utf-8")
    assert [(skill.name, skill.scope) for skill in shelf.skills()] == [
        ("briefs", "user"),
        ("AGENTS.md", "memory"),
        ("user:CLAUDE.md", "memory"),
    ]


@pytest.mark.parametrize(
    "place", ["project/docs/CLAUDE.md", "claude/AGENTS.md", "elsewhere/CLAUDE.md", "project/README.md"]
)
def test_a_memory_file_in_any_other_place_is_never_changed(desk: Desk, place: str) -> None:
    file = desk.root / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("# Not ours\n", encoding="utf-8")
    roots = AllowedRoots(claude_root=desk.root / "claude", project_root=desk.root / "project")
    with pytest.raises(ConflictError, match="is not changed"):
        roots.check(file)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_projects_memory_file_that_leads_out_of_it_is_never_changed(desk: Desk) -> None:
    (desk.root / "mine.md").write_text("# Mine\n", encoding="utf-8")
    (desk.root / "project" / "CLAUDE.md").symlink_to(desk.root / "mine.md")
    roots = AllowedRoots(claude_root=desk.root / "claude", project_root=desk.root / "project")
    with pytest.raises(ConflictError, match="out of the project"):
        roots.check(desk.root / "project" / "CLAUDE.md")
