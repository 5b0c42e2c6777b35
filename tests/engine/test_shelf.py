from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillopt_sleep.domain.errors import ConflictError, InputError, UnknownName
from skillopt_sleep.shelf import Shelf, claude_root, whole_path
from skillopt_sleep.skilldoc import SkillDoc


def put(folder: Path, name: str) -> Path:
    file = folder / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"# {name}\n", encoding="utf-8")
    return file


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    return tmp_path / "claude"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "project"


def test_a_users_skill_goes_before_the_projects_of_the_same_name_as_it_does_for_the_agent(
    claude: Path, project: Path
) -> None:
    mine = put(claude / "skills", "commit")
    theirs = put(project / ".claude" / "skills", "commit")
    shelf = Shelf(claude, project)
    assert shelf.find("commit").path == mine
    (hidden,) = [skill for skill in shelf.skills() if skill.path == theirs]
    assert str(hidden.why_not_writable) == f"is never loaded, because {mine} has the same name and goes before it"


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_second_link_to_a_file_is_the_skill_under_its_first_name(claude: Path, project: Path) -> None:
    file = put(claude / "skills", "commit")
    (claude / "skills" / "save").symlink_to(file.parent, target_is_directory=True)
    shelf = Shelf(claude, project)
    assert shelf.find("save").name == "commit"
    assert [(skill.name, skill.why_not_writable) for skill in shelf.skills()] == [
        ("commit", None),
        ("save", f"is the same file as {file}"),
    ]


def test_a_file_with_several_hard_links_is_named_and_left_alone(claude: Path, project: Path) -> None:
    file = put(claude / "skills", "commit")
    (claude / "copy.md").hardlink_to(file)
    found = Shelf(claude, project).find("commit")
    assert "2 names of one file (hard links)" in str(found.why_not_writable)


def test_a_memory_file_that_does_not_exist_is_found_only_by_its_name(claude: Path, project: Path) -> None:
    shelf = Shelf(claude, project)
    assert shelf.skills() == ()
    assert shelf.project_memory() is None
    assert shelf.find("AGENTS.md").path == project / "AGENTS.md"
    with pytest.raises(UnknownName):
        shelf.find("README.md")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions bind no administrator")
def test_a_skill_in_a_closed_folder_is_found_and_cannot_be_read(claude: Path, project: Path) -> None:
    file = put(claude / "skills", "secret")
    file.parent.chmod(0)
    try:
        (found,) = Shelf(claude, project).skills()
        with pytest.raises(InputError, match="secret"):
            SkillDoc.read(found.path)
    finally:
        file.parent.chmod(0o700)


def test_a_folder_given_with_dots_is_made_plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert whole_path("sub/../claude") == tmp_path / "claude"


def test_a_plugins_skill_is_found_by_its_qualified_name_and_is_read_only(claude: Path, project: Path) -> None:
    put(claude / "plugins" / "cache" / "market" / "tools" / "1.0" / "skills", "lint")
    found = Shelf(claude, project).find("tools:lint")
    assert found.scope == "plugin"
    assert not found.writable


def test_an_unknown_skill_names_the_nearest_and_where_it_looked(claude: Path, project: Path) -> None:
    put(claude / "skills", "release-notes")
    with pytest.raises(UnknownName, match="Did you mean 'release-notes'") as caught:
        Shelf(claude, project).find("relase-notes")
    assert str(claude / "skills") in caught.value.hint


def test_missing_folders_are_an_empty_shelf(claude: Path, project: Path) -> None:
    assert Shelf(claude, project).skills() == ()


def test_a_name_in_another_case_is_found_when_it_is_the_only_one(claude: Path, project: Path) -> None:
    put(claude / "skills", "Commit")
    assert Shelf(claude, project).find("commit").name == "Commit"


def test_names_that_differ_only_by_case_are_refused_unless_named_exactly(claude: Path, project: Path) -> None:
    put(claude / "skills", "Commit")
    put(project / ".claude" / "skills", "COMMIT")
    shelf = Shelf(claude, project)
    with pytest.raises(ConflictError, match="only by case"):
        shelf.find("commit")
    assert shelf.find("COMMIT").scope == "project"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [({}, "/home/ann/.claude"), ({"CLAUDE_CONFIG_DIR": ""}, "/home/ann/.claude"), ({"CLAUDE_CONFIG_DIR": "/c"}, "/c")],
)
def test_the_root_is_the_configured_folder_or_the_one_in_the_home(environ: dict[str, str], expected: str) -> None:
    assert claude_root(environ, Path("/home/ann")) == Path(expected)
