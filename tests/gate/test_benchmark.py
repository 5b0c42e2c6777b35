from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import gate as benchmark
from skillopt_sleep.domain.verdicts import GatePolicy


def test_the_benchmark_still_runs_and_finds_the_clear_cases_clear(capsys: pytest.CaptureFixture[str]) -> None:
    benchmark.main(["--trials", "10", "--families", "8"])
    printed = capsys.readouterr().out
    assert "| 8 | 100%, 12.0 | 100%, 12.0 |" in printed
    assert all(f"### {name}" in printed for name in benchmark.TABLES)


def test_a_run_of_the_benchmark_can_be_repeated_exactly() -> None:
    policy = GatePolicy()
    cells = [benchmark.run_cell("same", 8, benchmark.shifted(0.5, 0.3), 5, policy) for _ in range(2)]
    assert cells[0] == cells[1]
    assert cells[0].trials == 5


def test_the_picture_is_an_svg_with_a_curve_for_each_number_of_families(tmp_path: Path) -> None:
    benchmark.main(["--trials", "5", "--families", "5,12", "--tables", "--picture", str(tmp_path / "oc.svg")])
    root = ElementTree.parse(tmp_path / "oc.svg").getroot()
    assert len(root.findall("{http://www.w3.org/2000/svg}polyline")) == 3


def cells(lines: Iterator[str], row: str) -> list[str]:
    (found,) = (line for line in lines if line.startswith(f"| {row} |"))
    return [cell.strip() for cell in found.strip("|").split("|")]


@pytest.mark.slow
@pytest.mark.parametrize("families", [8, 12])
def test_ten_idle_edits_on_the_same_tasks_hardly_ever_lead_to_an_adoption(families: int) -> None:
    trials = 200
    _, naive, _, _, new, cached, same = cells(benchmark.night_table([families], trials, GatePolicy()), str(families))
    assert float(naive) > 0.9
    for adopted in (new, cached, same):
        assert float(adopted) <= 0.05 + 2.5 * (0.05 * 0.95 / trials) ** 0.5


@pytest.mark.slow
def test_a_family_that_collapses_is_caught_mostly_and_a_good_edit_blocked_seldom() -> None:
    row = cells(benchmark.harm_table([12], 200, GatePolicy()), "12")
    caught, mistaken = (float(re.findall(r"([\d.]+)% \[", row[column])[0]) for column in (1, 4))
    assert caught > 75
    assert mistaken < 5
