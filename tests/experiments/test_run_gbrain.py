from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillopt_sleep.backend import get_backend
from skillopt_sleep.commandline import run
from skillopt_sleep.consolidate import consolidate, select_gate_score
from skillopt_sleep.experiments.gbrain_bench import available_seeds, find_data_root, load_seed
from skillopt_sleep.experiments.run_gbrain import GbrainRequest, build, run_gbrain
from skillopt_sleep.replay import aggregate_scores, replay_batch

CHECK = {"kind": "rule", "checks": [{"op": "section_present", "arg": "Open Points"}]}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A data set of our own in the published layout."""
    folder = tmp_path / "data" / "seed-missing-structure"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("# Memo writer\n\nWrite a short memo.\n", encoding="utf-8")
    for name, prefix, count in (("benchmark.jsonl", "bm", 15), ("held-out.jsonl", "hd", 6)):
        lines = [
            json.dumps(
                {"task_id": f"{prefix}-{n:03}", "task": f"Write a memo about matter {prefix} {n}.", "judge": CHECK}
            )
            for n in range(count)
        ]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "data"


def test_a_deficient_skill_gets_better_on_tasks_it_never_saw(root: Path) -> None:
    view = run_gbrain(GbrainRequest(model="strong", data_root=str(root)))
    (result,) = view.results
    assert (result.seed, result.held_out_before) == ("brief-writer", 0.0)
    assert result.held_out_after > 0.5
    assert view.simulated
    assert result.shape_only
    accepted = [night for night in result.trace if night.accepted]
    assert accepted[0].product_verdict in ("accept", "inconclusive"), (
        "the product's gate speaks beside the experiment's rule"
    )
    assert "Open Points" in " ".join(accepted[0].edits)


def test_the_same_seed_gives_the_same_figures_and_another_seed_may_not(root: Path) -> None:
    first, again = (run_gbrain(GbrainRequest(model="mid", data_root=str(root))) for _ in range(2))
    assert first == again
    others = [run_gbrain(GbrainRequest(model="mid", data_root=str(root), seed=n)).results for n in range(1, 6)]
    assert any(other != first.results for other in others)


def test_the_command_prints_a_line_a_seed_and_says_simulated(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--backend", "sim", "--model", "strong", "--data-root", str(root), "--seeds", "brief-writer"]
    assert run(build, [*arguments, "--nights", "1"]) == 0
    out = capsys.readouterr().out
    assert "SIMULATED" in out
    assert "brief-writer: held out 0.00 -> " in out
    assert "shape only: certifies nothing" in out
    assert run(build, [*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["experiment"] == "skillopt-sleep/gbrain"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--data-root", "/nowhere/at/all"], "--data-root"),
        (["--backend", "sym"], "Did you mean 'sim'"),
        (["--seeds", "brief-writter"], "Did you mean 'brief-writer'"),
    ],
)
def test_wrong_names_and_missing_data_are_usage_errors(
    root: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert run(build, ["--data-root", str(root), *arguments]) == 2
    assert says in capsys.readouterr().err


def test_the_facades_of_the_research_code_work_together(root: Path) -> None:
    backend = get_backend("sim", model="strong")
    seed = available_seeds(find_data_root(root))[0]
    skill, tasks = load_seed(root, seed)
    assert {task.split for task in tasks} == {"train", "val", "test"}
    before = aggregate_scores(replay_batch(backend, tasks, skill, ""))
    result = consolidate(
        backend, tasks, skill, "", edit_budget=4, gate_metric="mixed", evolve_skill=True, evolve_memory=False, night=0
    )
    after = aggregate_scores(replay_batch(backend, tasks, result.new_skill, ""))
    assert before == (0.0, 0.0)
    assert result.accepted
    assert result.holdout_candidate
    assert result.holdout_candidate > 0
    assert after[0] > 0.5
    assert backend.tokens_used() > 0
    assert select_gate_score(1.0, 0.0, "mixed") == 0.5


def test_the_memory_can_be_what_evolves(root: Path) -> None:
    backend = get_backend("sim", model="strong")
    skill, tasks = load_seed(root, "brief-writer")
    result = consolidate(
        backend, tasks, skill, "Be kind.\n", evolve_skill=False, evolve_memory=True, gate_metric="hard"
    )
    assert result.new_skill == skill
    assert result.new_memory.startswith("Be kind.\n")
    assert "Open Points" in result.new_memory


@pytest.mark.data
def test_the_published_seeds_get_better_with_a_strong_model(test_data: Path) -> None:
    view = run_gbrain(GbrainRequest(model="strong", data_root=str(test_data)))
    assert len(view.results) == 4
    assert sum(result.held_out_after > result.held_out_before for result in view.results) >= 3
