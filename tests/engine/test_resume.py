"""A night that is killed goes on where it was, without paying twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from skillopt_sleep.domain.reports import NightReport
from tests.engine.desk import Desk, rows

pytestmark = pytest.mark.skipif(os.name == "nt", reason="kills a process as POSIX does")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def run(desk: Desk, *more: str, dies_at: int = 0) -> int:
    environ = {**os.environ, **desk.environment.environ, "DIES_AT": str(dies_at)}
    environ["PYTHONPATH"] = str(Path(__file__).parents[2])
    command = [sys.executable, "-m", "skillopt_sleep", "run", "--tasks", desk.tasks(rows()), "--skills", "briefs"]
    command += ["--target-model", "tests.engine.desk:mortal", "--yes", "--json", "--slots", "4", *more]
    ended = subprocess.run(
        command, cwd=desk.root / "project", env=environ, capture_output=True, timeout=60, check=False
    )
    return ended.returncode


def calls(desk: Desk) -> int:
    return len((desk.root / "calls.log").read_text(encoding="utf-8").splitlines())


def nights(desk: Desk) -> list[Path]:
    return sorted(desk.root.glob("state/projects/*/nights/*"))


def report(desk: Desk) -> NightReport:
    return NightReport.model_validate_json((nights(desk)[-1] / "report.json").read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("dies_at", [3, 30, 55])
def test_a_killed_night_goes_on_in_its_folder_and_pays_only_for_what_was_under_way(desk: Desk, dies_at: int) -> None:
    assert run(desk, dies_at=dies_at) == -signal.SIGKILL
    assert run(desk) == 0
    (folder,) = nights(desk)
    whole = len(set((folder / "trials.jsonl").read_text(encoding="utf-8").splitlines())) + 3
    under_way = 4
    assert whole <= calls(desk) <= whole + under_way
    found = report(desk)
    assert found.status == "finished"
    assert found.skills[0].verdict
    assert found.skills[0].verdict.decision == "accept"
    assert sum(row.calls for row in found.spend) == calls(desk)


@pytest.mark.slow
def test_a_killed_night_is_left_alone_where_something_else_is_asked_for(desk: Desk) -> None:
    assert run(desk, dies_at=30) == -signal.SIGKILL
    assert run(desk, "--candidates", "2") == 0
    assert len(nights(desk)) == 2


@pytest.mark.slow
def test_a_killed_night_is_left_alone_where_a_new_one_is_asked_for(desk: Desk) -> None:
    assert run(desk, dies_at=30) == -signal.SIGKILL
    assert run(desk, "--anew") == 0
    assert len(nights(desk)) == 2


@pytest.mark.slow
def test_what_a_killed_night_spent_counts_against_the_cap_of_the_night_that_goes_on(desk: Desk) -> None:
    assert run(desk, "--max-calls", "40", dies_at=30) == -signal.SIGKILL
    assert run(desk, "--max-calls", "40") == 1
    assert calls(desk) <= 40
    assert report(desk).status == "stopped"
