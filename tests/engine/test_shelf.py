from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep.domain.errors import ConflictError, UnknownName
from skillopt_sleep.shelf import Shelf, claude_root


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


def test_a_projects_skill_goes_before_the_users_of_the_same_name(claude: Path, project: Path) -> None:
    put(claude / "skills", "commit")
    mine = put(project / ".claude" / "skills", "commit")
    assert Shelf(claude, project).find("commit").path == mine


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
