from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import gate as benchmark
from skillopt_sleep.domain.verdicts import GatePolicy


def test_the_benchmark_still_runs_and_finds_the_clear_cases_clear(capsys: pytest.CaptureFixture[str]) -> None:
    benchmark.main(["--trials", "20", "--families", "8"])
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
