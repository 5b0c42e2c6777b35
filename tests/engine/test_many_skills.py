"""Many skills and memory files in one night: each with its own tasks and verdict, and none holds up another."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from skillopt_sleep import app
from skillopt_sleep.domain.errors import ConflictError, ModelUnavailable
from skillopt_sleep.domain.llm import Prompt
from skillopt_sleep.requests import AdoptRequest, ProposalRequest, RunRequest
from skillopt_sleep.shelf import Shelf
from skillopt_sleep.staging import AllowedRoots
from skillopt_sleep.views import RunView
from tests.engine.desk import ADD_RISKS, SKILL, Desk, Puppet, Stage, follows_rules, proposes, rows

CHOSEN = "tests.engine.desk:on_stage"


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
    request = RunRequest(target_model=CHOSEN, tasks=tasks, yes=True)
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
        RunRequest(target_model=CHOSEN, tasks=tasks, yes=True),
        desk.environment,
        desk.events.append,
    )
    assert decisions(view) == {"briefs": "accept", "commits": "none"}


def test_of_five_skills_a_broken_one_and_one_whose_model_fails_hold_up_none_of_the_others(desk: Desk) -> None:
    put(desk, "broken", b"\xff\xfe\x00 not text")
    for name in ("commits", "failing", "notes"):
        put(desk, name)

    def fails_for_one(prompt: Prompt) -> str:
        if "(failing)" in prompt.messages[0].text:
            raise ModelUnavailable("The service is away.")
        return follows_rules(prompt)

    Stage.puppet = Puppet(fails_for_one, proposes(ADD_RISKS))
    tasks = desk.tasks([row for name in ("briefs", "broken", "commits", "failing", "notes") for row in named(name)])
    view = app.run(RunRequest(target_model=CHOSEN, tasks=tasks, yes=True), desk.environment, desk.events.append)
    assert view.report.status == "finished"
    assert decisions(view) == {"briefs": "accept", "commits": "accept", "failing": "none", "notes": "accept"}
    (failing,) = [one for one in view.report.skills if one.skill == "failing"]
    assert "The service is away" in str(failing.stopped)
    assert failing.train_before is None, "a failed call is no score"


BROKEN_FRONT_MATTER = b"---\nname: [briefs\ndescription: : :\n---\n# Briefs\n\nAnswer in two paragraphs.\n"


def test_front_matter_that_is_no_yaml_is_kept_byte_for_byte(desk: Desk) -> None:
    put(desk, "odd", BROKEN_FRONT_MATTER)
    assert decisions(night(desk, "odd")) == {"odd": "accept"}
    app.adopt(AdoptRequest(proposal="odd"), desk.environment)
    assert (desk.root / "claude" / "skills" / "odd" / "SKILL.md").read_bytes().startswith(BROKEN_FRONT_MATTER)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_the_tasks_of_two_names_of_one_file_are_tried_on_it_together(desk: Desk) -> None:
    (desk.root / "claude" / "skills" / "same").symlink_to(desk.skill.parent, target_is_directory=True)
    view = night(desk, "briefs", "same")
    assert decisions(view) == {"briefs": "accept"}
    assert view.report.skills[0].families == {"train": 12, "gate": 24}


def test_a_file_with_several_hard_links_is_left_alone_by_name(desk: Desk) -> None:
    put(desk, "commits")
    (desk.root / "copy.md").hardlink_to(desk.skill)
    assert decisions(night(desk, "briefs", "commits")) == {"commits": "accept"}
    plan = app.plan(RunRequest(tasks=desk.tasks([*named("briefs"), *named("commits")])), desk.environment)
    assert any("'briefs' is one of 2 names of one file (hard links)" in reason for reason in plan.left_out)


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


def test_a_memory_file_that_was_named_is_begun_and_goes_away_again(desk: Desk) -> None:
    memory = desk.root / "project" / ".claude" / "CLAUDE.md"
    view = night(desk, ".claude/CLAUDE.md")
    assert decisions(view) == {".claude/CLAUDE.md": "accept"}
    assert not memory.exists()
    app.adopt(AdoptRequest(proposal=".claude/CLAUDE.md"), desk.environment)
    assert b'- Include a section headed "Risks".' in memory.read_bytes()
    app.undo(ProposalRequest(proposal=".claude/CLAUDE.md"), desk.environment)
    assert not memory.parent.exists()


def test_what_was_turned_down_for_one_projects_memory_file_says_nothing_of_anothers(desk: Desk) -> None:
    other = desk.root / "other"
    for project in (desk.root / "project", other):
        project.mkdir(exist_ok=True)
        (project / "CLAUDE.md").write_bytes(b"# Rules of this house\n")
    night(desk, "CLAUDE.md")
    app.dismiss(ProposalRequest(proposal="CLAUDE.md"), desk.environment)
    request = RunRequest(target_model=CHOSEN, tasks=desk.tasks(named("CLAUDE.md")), yes=True)
    (elsewhere,) = app.run(request, replace(desk.environment, cwd=other)).report.skills
    assert [outcome.status for outcome in elsewhere.outcomes] == ["applied"]
    (here,) = app.run(request, desk.environment).report.skills
    assert [outcome.status for outcome in here.outcomes] == ["remembered"]


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
    "place",
    [
        "project/docs/CLAUDE.md",
        "project/.claude/AGENTS.md",
        "claude/AGENTS.md",
        "elsewhere/CLAUDE.md",
        "project/README.md",
    ],
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
