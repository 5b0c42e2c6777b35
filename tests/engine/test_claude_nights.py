"""Whole nights through `claude`: the pretended client for its faults, the real one for the way there and back."""

from __future__ import annotations

import itertools
import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from skillopt_sleep import app
from skillopt_sleep.domain.errors import UsageError
from skillopt_sleep.experiments.demo import lay_out
from skillopt_sleep.requests import RunRequest, StatusRequest
from skillopt_sleep.views import RunView
from skillopt_sleep.wiring import Environment
from tests.backend.claude_client import Client
from tests.engine.desk import ADD_RISKS, Desk, rows
from tests.loopback.minds import simulated
from tests.loopback.server import Loopback
from tests.loopback.wire import Answer, Asked, Brain, Fault, Say

CLAUDE = os.environ.get("SKILLOPT_SLEEP_TEST_CLAUDE", "")
real_client = pytest.mark.skipif(not CLAUDE, reason="SKILLOPT_SLEEP_TEST_CLAUDE is not set")


def pretended_night(tmp_path: Path, client: Client, **more: str) -> RunView:
    desk = Desk(tmp_path)
    environ = {**desk.environment.environ, "PATH": f"{client.program.parent}:/usr/bin:/bin", **more}
    environment = replace(desk.environment, environ=environ)
    tasks = desk.tasks(rows(train=3, gate=3, test=0))
    request = RunRequest(
        target_model="claude:haiku", optimizer_model="template", tasks=tasks, skills=("briefs",), yes=True
    )
    return app.run(request, environment)


def test_a_login_text_with_status_0_stops_the_night_without_a_score_or_a_verdict(tmp_path: Path) -> None:
    view = pretended_night(tmp_path, Client(tmp_path / "client", "login_text"))
    assert view.report.status == "stopped"
    assert "Not logged in" in (view.report.stopped or "")
    (skill,) = view.report.skills
    assert (skill.verdict, skill.test, view.proposals) == (None, None, ())


def test_a_missing_program_ends_the_run_at_once_with_nothing_staged(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    request = RunRequest(
        target_model="claude:haiku", claude_path="/no/such/claude", tasks=desk.tasks(rows()), skills=("briefs",)
    )
    began = time.monotonic()
    with pytest.raises(UsageError, match="/no/such/claude"):
        app.run(request, desk.environment)
    assert time.monotonic() - began < 5
    status = app.status(StatusRequest(), desk.environment)
    assert (status.waiting, status.nights) == ((), ())


def test_a_client_that_fails_on_its_first_call_only_costs_no_observation(tmp_path: Path) -> None:
    view = pretended_night(tmp_path, Client(tmp_path / "client", "fails_once"))
    assert view.report.status == "finished"
    (spend,) = [row for row in view.report.spend if row.role == "target"]
    assert spend.failed == 1


def test_a_night_inside_another_session_works_and_starts_fewer_children_than_it_makes_calls(tmp_path: Path) -> None:
    client = Client(tmp_path / "client", "refuses_nested")
    view = pretended_night(tmp_path, client, CLAUDECODE="1", CLAUDE_CODE_ENTRYPOINT="cli")
    assert view.report.status == "finished"
    assert client.started < len(client.said)
    assert len(client.said) == sum(row.calls for row in view.report.spend if row.role == "target")


def demo_night(tmp_path: Path, brain: Brain) -> tuple[RunView, Loopback]:
    """The demo's release notes, with the real client between the engine and the simulated model."""
    places = lay_out(tmp_path / "demo")
    with Loopback(brain) as service:
        environ = {
            **places.environment.environ,
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "ANTHROPIC_BASE_URL": service.url,
            "ANTHROPIC_API_KEY": "sk-ant-test",
        }
        environment = Environment(environ=environ, cwd=places.environment.cwd, home=places.environment.home)
        request = RunRequest(
            target_model="claude:haiku",
            claude_path=CLAUDE,
            all_projects=True,
            since_days=3650,
            skills=("release-notes",),
            yes=True,
        )
        return app.run(request, environment), service


@pytest.mark.client
@real_client
def test_a_night_through_the_real_client_improves_a_skill(tmp_path: Path) -> None:
    view, service = demo_night(tmp_path, simulated("strong", seed=1))
    (skill,) = view.report.skills
    assert skill.verdict
    assert skill.verdict.decision == "accept"
    assert skill.test
    assert (skill.test.before or 0.0) < (skill.test.after or 0.0)
    assert {asked.model for asked in service.asked} == {"claude-haiku-5-5"}
    assert len(service.asked) == sum(row.calls for row in view.report.spend)
    assert all(row.usd is not None and row.usd > 0 for row in view.report.spend)
    assert not list(tmp_path.glob(".claude*"))


def obedient(asked: Asked) -> Answer:
    """Proposes one rule, and keeps to it wherever it stands in the skill."""
    if "JSON Schema" in asked.system:
        return Say(text=json.dumps(ADD_RISKS))
    return Say(text="## Risks\n\nMany." if "Risks" in asked.system else "A brief.")


def brief_night(tmp_path: Path, brain: Brain) -> tuple[RunView, Loopback]:
    desk = Desk(tmp_path)
    tasks = desk.tasks(rows())
    with Loopback(brain) as service:
        environ = {**desk.environment.environ, "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        environ |= {"ANTHROPIC_BASE_URL": service.url, "ANTHROPIC_API_KEY": "sk-ant-test"}
        request = RunRequest(target_model="claude:haiku", claude_path=CLAUDE, tasks=tasks, skills=("briefs",), yes=True)
        return app.run(request, replace(desk.environment, environ=environ)), service


@pytest.mark.client
@real_client
def test_a_storm_of_overload_costs_retries_and_falsifies_no_score(tmp_path: Path) -> None:
    count = itertools.count(1)

    def stormy(asked: Asked) -> Answer:
        return Fault("status", status=529, error="overloaded_error") if next(count) % 7 == 0 else obedient(asked)

    view, service = brief_night(tmp_path, stormy)
    (skill,) = view.report.skills
    assert skill.verdict
    assert skill.verdict.decision == "accept"
    assert skill.test
    assert (skill.test.before, skill.test.after, skill.test.missing_pairs) == (0.0, 1.0, 0)
    assert sum(row.failed for row in view.report.spend) == len(service.asked) // 7
    assert len(service.asked) == sum(row.calls for row in view.report.spend)


@pytest.mark.client
@real_client
def test_a_refused_key_stops_the_night_after_a_few_calls(tmp_path: Path) -> None:
    refused = Fault("status", status=401, error="authentication_error", message="invalid x-api-key")
    view, service = brief_night(tmp_path, lambda _: refused)
    assert view.report.status == "stopped"
    assert "Invalid API key" in (view.report.stopped or "")
    assert [skill.verdict for skill in view.report.skills] == [None]
    assert len(service.asked) <= 4  # one for each process
