"""Whole epochs and whole nights against services over real sockets, with and without faults."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchmarks.outages import BACKENDS, KINDS, run
from skillopt_sleep.domain.reports import NightReport
from skillopt_sleep.domain.tasks import Rules, Task
from skillopt_sleep.experiments.demo import lay_out
from tests.loopback.minds import simulated
from tests.loopback.server import Loopback
from tests.loopback.wire import Fault

KEY = "sk-ant-end-to-end-0123456789"
QUICK = [kind for kind in KINDS if kind not in ("hang", "drip")]


@pytest.mark.parametrize("number", range(len(QUICK)))
def test_no_fault_falsifies_a_score(number: int) -> None:
    outcome = run(BACKENDS[number % 2], QUICK[number], share=0.25, tasks=16, seed=1)
    assert outcome.faults > 0
    assert outcome.falsified == 0
    assert outcome.ended


def test_a_service_that_only_fails_gives_no_score_at_all() -> None:
    outcome = run("anthropic", "cut off", share=1.0, tasks=8)
    assert (outcome.scored, outcome.falsified) == (0, 0)
    assert "no training attempt could be scored" in outcome.ended


def _night(folder: Path, url: str, *more: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    """The demo's sessions and skills, worked through by the installed command in a process of its own."""
    places = lay_out(folder)
    environ = {
        **places.environment.environ,
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
        "HOME": str(folder),
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": url,
    }
    command = [sys.executable, "-m", "skillopt_sleep", "run", "--yes", "--target-model", "anthropic:haiku"]
    command += ["--optimizer-model", "anthropic:sonnet", "--all-projects", "--since-days", "3650", "--json", *more]
    done = subprocess.run(
        command, env=environ, cwd=places.environment.cwd, capture_output=True, text=True, timeout=240, check=False
    )
    return done, folder / "state"


def _report(state: Path) -> NightReport:
    (file,) = state.glob("projects/*/nights/*/report.json")
    return NightReport.model_validate_json(file.read_bytes())


def _tasks(state: Path) -> list[Task]:
    (file,) = state.glob("projects/*/nights/*/tasks.jsonl")
    return [Task.model_validate_json(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _arguments(tasks: Iterable[Task]) -> set[str]:
    """What the checks of tasks look for, in the judge's own words."""
    found: set[str] = set()
    for task in tasks:
        if isinstance(task.criterion, Rules):
            found |= {str(check.model_dump().get("arg", "")) for check in task.criterion.checks}
    return {argument for argument in found if not argument.isdecimal() and argument}


def _as_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


@pytest.mark.slow
def test_a_night_through_the_messages_api_improves_a_skill_and_shows_nothing_that_it_must_not(tmp_path: Path) -> None:
    with Loopback(simulated("strong")) as service:
        done, state = _night(tmp_path / "demo", service.url)
    assert done.returncode == 0, done.stderr
    report = _report(state)
    assert (report.status, report.simulated) == ("finished", False)
    (notes,) = (result for result in report.skills if result.skill == "release-notes")
    assert notes.verdict
    assert notes.verdict.decision == "accept"
    assert notes.proposal_id
    assert {row.model for row in report.spend} == {"anthropic:claude-haiku-5-5", "anthropic:claude-sonnet-5-5"}
    assert sum(row.calls for row in report.spend) == len(service.asked)
    assert all(row.usd for row in report.spend)

    tasks = _tasks(state)
    held_out = [task for task in tasks if task.slice != "train"]
    hidden = _arguments(held_out) - _arguments(task for task in tasks if task.slice == "train")
    asked_for = " ".join(task.prompt for task in tasks)
    hidden = {argument for argument in hidden if argument not in asked_for}
    assert held_out
    assert hidden
    for asked in service.asked:
        wire = asked.raw.decode("utf-8")
        assert KEY not in wire
        assert not any(_as_json(argument) in wire for argument in hidden)
        if asked.model.startswith("claude-sonnet"):
            assert not any(_as_json(task.prompt) in wire for task in held_out)
    written = [file for file in state.rglob("*") if file.is_file()]
    assert not any(KEY.encode() in file.read_bytes() for file in written)
    assert KEY not in done.stdout + done.stderr


@pytest.mark.slow
def test_a_refused_key_ends_the_night_at_once_with_a_sentence_and_no_verdict(tmp_path: Path) -> None:
    refused = Fault("status", status=401, error="authentication_error", message="invalid x-api-key")
    with Loopback(lambda _: refused) as service:
        done, state = _night(tmp_path / "demo", service.url)
        # what was under way or waiting for a slot when the first refusal came, of a night of some 300 calls
        assert len(service.asked) <= 64
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    report = _report(state)
    assert report.status == "stopped"
    assert "refuses the login" in str(report.stopped)
    assert all(result.verdict is None for result in report.skills)
