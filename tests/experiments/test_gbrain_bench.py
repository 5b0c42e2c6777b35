from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from skillopt_sleep.domain.checks import ToolCalled
from skillopt_sleep.domain.errors import InputError, UnknownName
from skillopt_sleep.domain.tasks import Rules
from skillopt_sleep.experiments.gbrain_bench import SEED_FOLDERS, available_seeds, find_data_root, load_seed

SKILL = b"\xef\xbb\xbf---\r\nname: brief\r\n---\r\n\r\n# Brief\r\n"


def rows(prefix: str, count: int, op: str = "section_present", arg: str = "Key Risks") -> str:
    made = [
        {
            "task_id": f"{prefix}-{n:03}",
            "task": f"Write brief {n}.",
            "judge": {"kind": "rule", "checks": [{"op": op, "arg": arg}]},
        }
        for n in range(count)
    ]
    return "\n".join(json.dumps(row) for row in made) + "\n\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    base = tmp_path / "gbrain-evals" / "skillopt-v1"
    for folder in ("seed-missing-structure", "seed-no-brain-first"):
        (base / folder).mkdir(parents=True)
        (base / folder / "SKILL.md").write_bytes(SKILL)
        op, arg = ("tool_called", "search") if "brain" in folder else ("section_present", "Key Risks")
        (base / folder / "benchmark.jsonl").write_text(rows("bm", 15, op, arg), encoding="utf-8")
        (base / folder / "held-out.jsonl").write_text(rows("hd", 6, op, arg), encoding="utf-8")
    topics = base / "seed-no-brain-first" / "brain" / "topics"
    topics.mkdir(parents=True)
    (topics / "pricing.md").write_text("# Pricing\nSeats.", encoding="utf-8")
    return base


def test_a_seed_is_split_into_ten_five_and_six_and_the_skill_is_kept_byte_for_byte(root: Path) -> None:
    skill, tasks = load_seed(root, "brief-writer")
    assert skill.encode() == SKILL
    assert Counter(task.split for task in tasks) == {"train": 10, "val": 5, "test": 6}
    assert all((task.split == "test") == task.id.startswith("hd-") for task in tasks)
    assert len({task.family for task in tasks}) == 21
    assert load_seed(root, "seed-missing-structure") == (skill, tasks)


def test_the_split_does_not_depend_on_the_order_of_the_file(root: Path) -> None:
    before = {task.id: task.split for task in load_seed(root, "brief-writer")[1]}
    path = root / "seed-missing-structure" / "benchmark.jsonl"
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line]
    path.write_text("\n".join(reversed(lines)), encoding="utf-8")
    assert {task.id: task.split for task in load_seed(root, "brief-writer")[1]} == before


def test_tasks_that_must_call_a_tool_have_it_with_the_notes_of_the_seed(root: Path) -> None:
    _, tasks = load_seed(root, "quick-answerer")
    assert all([tool.name for tool in task.tools] == ["search"] for task in tasks)
    assert tasks[0].tools[0].notes == {"pricing": "# Pricing\nSeats."}
    assert all(task.tools == () for task in load_seed(root, "brief-writer")[1])


def test_a_seed_without_notes_has_a_tool_that_finds_nothing(root: Path) -> None:
    (root / "seed-no-brain-first" / "brain" / "topics" / "pricing.md").unlink()
    (root / "seed-no-brain-first" / "brain" / "topics").rmdir()
    assert load_seed(root, "quick-answerer")[1][0].tools[0].notes == {}


def test_seeds_are_listed_by_their_published_names(root: Path) -> None:
    (root / "seed-of-ours").mkdir()
    assert available_seeds(root) == ["brief-writer", "quick-answerer", "seed-of-ours"]
    assert available_seeds(root / "nowhere") == []


def test_an_unknown_seed_names_the_nearest(root: Path) -> None:
    with pytest.raises(UnknownName) as caught:
        load_seed(root, "brief-witer")
    assert caught.value.nearest == "brief-writer"
    with pytest.raises(UnknownName):
        load_seed(root, "advisor")  # known, but not in this folder


@pytest.mark.parametrize("name", ["SKILL.md", "benchmark.jsonl", "held-out.jsonl"])
def test_a_missing_file_is_named(root: Path, name: str) -> None:
    (root / "seed-missing-structure" / name).unlink()
    with pytest.raises(InputError, match=name):
        load_seed(root, "brief-writer")


def test_a_wrong_operator_names_file_task_and_check(root: Path) -> None:
    path = root / "seed-missing-structure" / "held-out.jsonl"
    path.write_text(rows("hd", 2, op="section_presnt"), encoding="utf-8")
    with pytest.raises(UnknownName, match=r"held-out\.jsonl, task 'hd-000', check 1"):
        load_seed(root, "brief-writer")


def test_a_task_in_both_files_is_refused(root: Path) -> None:
    (root / "seed-missing-structure" / "held-out.jsonl").write_text(rows("bm", 2), encoding="utf-8")
    with pytest.raises(InputError, match="bm-000"):
        load_seed(root, "brief-writer")


def test_the_data_root_is_the_explicit_one_then_the_variable_then_the_default(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GBRAIN_DATA", raising=False)
    assert find_data_root(root) == find_data_root(str(root.parent)) == find_data_root(tmp_path) == root
    with pytest.raises(InputError, match="--data-root") as caught:
        find_data_root(None)
    assert caught.value.exit_code == 2
    monkeypatch.setenv("GBRAIN_DATA", str(root.parent))
    assert find_data_root(None) == root
    with pytest.raises(InputError, match="elsewhere"):  # what a person gives is not silently replaced
        find_data_root(tmp_path / "elsewhere")
    monkeypatch.delenv("GBRAIN_DATA")
    (tmp_path / "data").symlink_to(tmp_path / "gbrain-evals", target_is_directory=True)
    assert find_data_root(None) == Path("data") / "skillopt-v1"


@pytest.mark.data
def test_the_published_seeds_load() -> None:
    data = os.environ.get("SKILLOPT_SLEEP_TEST_DATA")
    if not data:
        pytest.skip("SKILLOPT_SLEEP_TEST_DATA is not set")
    root = find_data_root(data)
    assert available_seeds(root) == list(SEED_FOLDERS)
    for seed in SEED_FOLDERS:
        skill, tasks = load_seed(root, seed)
        assert skill.startswith("---\n")
        assert Counter(task.split for task in tasks) == {"train": 10, "val": 5, "test": 6}
        for task in tasks:
            assert isinstance(task.criterion, Rules)
            assert bool(task.tools) == any(isinstance(check, ToolCalled) for check in task.criterion.checks)
