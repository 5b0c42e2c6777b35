from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillopt_sleep.cli import main
from skillopt_sleep.domain.errors import InputError
from skillopt_sleep.domain.events import Event
from skillopt_sleep.experiments import personas
from skillopt_sleep.experiments.demo import demo

DATA = Path(personas.__file__).parent / "demo_data"


def ignore(_: Event) -> None:
    """Only the result is of interest."""


def test_the_shipped_files_are_what_the_generator_writes() -> None:
    shipped = {path.relative_to(DATA).as_posix(): path.read_bytes() for path in DATA.rglob("*") if path.is_file()}
    assert shipped == personas.bundle()


def test_a_newcomer_meets_each_of_the_three_verdicts_and_an_exact_undo(tmp_path: Path) -> None:
    view = demo(seed=0, folder=tmp_path / "demo", events=ignore)
    verdicts = {result.skill: result.verdict.decision for result in view.night.report.skills if result.verdict}
    assert verdicts == {"release-notes": "accept", "ledger-lookup": "reject", "standup-note": "inconclusive"}
    assert view.restored is True
    assert "Known issues" in view.diff
    hopeless = next(result for result in view.night.report.skills if result.skill == "ledger-lookup")
    assert hopeless.test
    assert (hopeless.test.before, hopeless.test.after) == (0.0, 0.0)


def test_the_demo_counts_what_it_left_out_and_masks_what_was_pasted(tmp_path: Path) -> None:
    report = demo(seed=0, folder=tmp_path / "demo", events=ignore).night.report
    assert report.harvest.skipped == {"subagent": 1, "headless": 1}
    assert report.harvest.skipped_lines == {"truncated": 1}
    assert sum(report.harvest.masked.values()) == 1
    for file in (tmp_path / "demo" / "state").rglob("*"):
        if file.is_file():
            assert b"scones-at-dawn" not in file.read_bytes(), file


def test_every_rendering_says_that_the_figures_are_simulated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--keep", str(tmp_path / "demo")]) == 0
    out = capsys.readouterr().out
    assert "The model is SIMULATED" in out
    assert "the figures here rest on a simulated model" in out
    assert "no money spent" in out
    (night,) = (tmp_path / "demo" / "state").glob("projects/*/nights/*")
    for name in ("report.md", "report.html"):
        assert "rest on a simulated model" in (night / name).read_text(encoding="utf-8")
    assert json.loads((night / "report.json").read_text(encoding="utf-8"))["simulated"] is True


def test_a_folder_with_something_in_it_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="not an empty folder"):
        demo(seed=0, folder=tmp_path, events=ignore)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
