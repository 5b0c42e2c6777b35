"""Jobs from the terminal: what an agent has started, a person can see and stop."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillopt_sleep.cli import main
from tests.jobs.office import ASLEEP, Office

pytestmark = [pytest.mark.skipif(os.name == "nt", reason="detaches as POSIX does"), pytest.mark.slow]
Out = pytest.CaptureFixture[str]


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    office = Office(tmp_path)
    for name, value in office.environment.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(office.environment.cwd)
    yield office
    office.end_all()


def test_a_finished_job_is_listed_and_its_night_is_shown_as_run_shows_it(office: Office, capsys: Out) -> None:
    job = office.wait(office.start(), "finished")
    assert main(["jobs"]) == 0
    listed = capsys.readouterr().out
    assert job.id in listed
    assert "1 proposal is waiting for review." in listed
    assert main(["jobs", "result", job.id]) == 0
    assert "better: proposed for adoption" in capsys.readouterr().out
    assert main(["jobs", "result", job.id, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run"]["report"]["id"] == job.night


def test_a_running_job_can_be_seen_and_stopped(office: Office, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    office.model = ASLEEP
    monkeypatch.setenv("SKILLOPT_SLEEP_TARGET_MODEL", ASLEEP)
    job = office.start()
    office.wait_for_a_call(job)
    assert main(["jobs", "status", job.id]) == 0
    assert "Never passed:" in capsys.readouterr().out
    assert main(["jobs", "result", job.id]) == 4
    assert "is still at work" in capsys.readouterr().err
    assert main(["jobs", "cancel", job.id]) == 0
    assert "was cancelled" in capsys.readouterr().out


def test_a_job_that_does_not_exist_is_named_with_its_nearest(office: Office, capsys: Out) -> None:
    assert main(["jobs"]) == 0
    assert main(["jobs", "status", "job-1"]) == 2
    assert "There is no job in this project called 'job-1'." in capsys.readouterr().err
