from __future__ import annotations

import pytest

from benchmarks import gate as benchmark
from skillopt_sleep.domain.verdicts import GatePolicy


def test_the_benchmark_still_runs_and_finds_the_clear_cases_clear(capsys: pytest.CaptureFixture[str]) -> None:
    benchmark.main(["--trials", "1", "--families", "8", "--tables", "clear", "levels"])
    printed = capsys.readouterr().out
    assert "| 8 | 100%, 12.0 | 100%, 12.0 |" in printed
    assert "### levels" in printed


def test_a_run_of_the_benchmark_can_be_repeated_exactly() -> None:
    policy = GatePolicy()
    cells = [benchmark.run_cell("same", 8, benchmark.shifted(0.5, 0.3), 5, policy) for _ in range(2)]
    assert cells[0] == cells[1]
    assert cells[0].trials == 5
