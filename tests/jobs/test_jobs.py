from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from skillopt_sleep import jobs
from skillopt_sleep.domain.errors import ConflictError, UnknownName, UsageError
from skillopt_sleep.requests import JobRequest, RunRequest, StatusRequest
from tests.engine.desk import SKILL, rows
from tests.jobs.office import ASLEEP, Office

pytestmark = pytest.mark.skipif(os.name == "nt", reason="detaches as POSIX does")


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


@pytest.fixture
def sleepers(tmp_path: Path) -> Iterator[Office]:
    office = Office(tmp_path)
    office.model = ASLEEP
    yield office
    office.end_all()


def test_an_offer_names_price_and_receivers_and_calls_nobody(office: Office) -> None:
    offer = office.offer()
    assert offer.plan
    assert offer.plan.most_calls > offer.plan.expected_calls > 0
    assert offer.leaves == (
        "To mortal: the requests of the tasks and the text of the skill; secrets are masked.",
        "To mortal: the skill, failed training attempts; secrets are masked.",
    )
    assert offer.plan_id in offer.summary
    assert not (office.root / "calls.log").exists()
    assert not list(office.root.glob("state/projects/*/nights/*"))


def test_nothing_leaves_with_a_simulated_model(office: Office) -> None:
    assert office.offer(target_model="sim:mid").leaves == ("Nothing: no model beyond this process is called.",)


@pytest.mark.slow
def test_a_job_starts_at_once_and_leaves_its_result_in_files(office: Office) -> None:
    offer = office.offer()
    began = time.monotonic()
    job = jobs.start(offer.plan_id, office.environment, "optimize-skill")
    assert time.monotonic() - began < 2
    assert job.status in ("starting", "running")
    done = office.wait(job, "finished")
    assert done.calls == len((office.root / "calls.log").read_text(encoding="utf-8").splitlines())
    assert done.night
    assert done.tokens == 20 * done.calls
    found = jobs.result(JobRequest(job=job.id), office.environment)
    assert found.run
    assert found.run.report.id == done.night
    (proposal,) = found.run.proposals
    seen = jobs.overview(StatusRequest(), office.environment)
    assert [line.id for line in seen.jobs] == [job.id]
    assert seen.state
    assert [line.id for line in seen.state.waiting] == [proposal]
    assert office.skill.read_bytes() == SKILL
    with pytest.raises(ConflictError, match="was begun already, as job-"):
        jobs.start(offer.plan_id, office.environment, "optimize-skill")
    again = jobs.cancel(JobRequest(job=job.id), office.environment)
    assert again.status == "finished"
    assert again.summary.startswith("There was nothing to stop.")


@pytest.mark.slow
def test_what_stops_the_process_is_told_with_its_code(office: Office) -> None:
    (office.root / "state").mkdir()
    (office.root / "state" / "config.toml").write_text("review = true\n", encoding="utf-8")
    failed = office.wait(office.start(), "failed")
    assert failed.error
    assert failed.error.code == "usage"
    assert "reviewed" in failed.summary
    assert not (office.root / "calls.log").exists()


@pytest.mark.slow
def test_a_job_works_on_exactly_the_tasks_that_were_planned(office: Office) -> None:
    offer = office.offer()
    assert offer.plan
    (planned,) = offer.plan.skills
    office.wait(jobs.start(offer.plan_id, office.environment, "optimize-skill"), "finished")
    (tasks,) = office.root.glob("state/projects/*/nights/*/tasks.jsonl")
    assert len(tasks.read_text(encoding="utf-8").splitlines()) == sum(planned.tasks.values())


@pytest.mark.slow
def test_cancelling_aborts_the_calls_within_two_seconds_and_keeps_a_report(sleepers: Office) -> None:
    job = sleepers.start()
    sleepers.wait_for_a_call(job)
    began = time.monotonic()
    stopped = jobs.cancel(JobRequest(job=job.id), sleepers.environment)
    assert time.monotonic() - began < 2
    assert stopped.status == "cancelled"
    found = jobs.result(JobRequest(job=job.id), sleepers.environment)
    assert found.run
    assert found.run.report.status == "interrupted"


@pytest.mark.slow
def test_two_jobs_on_one_skill_are_refused_from_whichever_project(sleepers: Office) -> None:
    job = sleepers.start()
    second = sleepers.offer()
    with pytest.raises(ConflictError, match=f"{job.id} is at work on briefs already"):
        jobs.start(second.plan_id, sleepers.environment, "optimize-skill")
    elsewhere = replace(sleepers.environment, cwd=sleepers.root / "other")
    elsewhere.cwd.mkdir()
    request = RunRequest(tasks=sleepers.tasks(rows()), skills=("briefs",))
    third = jobs.offer(request, elsewhere, "optimize-skill")
    with pytest.raises(ConflictError, match=f"{job.id} is at work on briefs already"):
        jobs.start(third.plan_id, elsewhere, "optimize-skill")
    with pytest.raises(UsageError, match="a job of another project"):
        jobs.look(JobRequest(job=job.id), elsewhere)
    jobs.cancel(JobRequest(job=job.id), sleepers.environment)
    fourth = jobs.start(second.plan_id, sleepers.environment, "optimize-skill")
    jobs.cancel(JobRequest(job=fourth.id), sleepers.environment)


@pytest.mark.slow
def test_a_job_survives_the_process_that_started_it_and_its_whole_group(sleepers: Office) -> None:
    offer = sleepers.offer()
    code = (
        "import os, signal\n"
        "from skillopt_sleep import jobs\n"
        "from skillopt_sleep.wiring import Environment\n"
        f"print(jobs.start({offer.plan_id!r}, Environment.current(), 'optimize-skill').id, flush=True)\n"
        "os.killpg(0, signal.SIGKILL)\n"
    )
    environ = {**os.environ, **sleepers.environment.environ}
    ended = subprocess.run(
        (sys.executable, "-c", code),
        cwd=sleepers.environment.cwd,
        env=environ,
        capture_output=True,
        text=True,
        start_new_session=True,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL
    job = JobRequest(job=ended.stdout.strip())
    sleepers.wait_for_a_call(jobs.look(job, sleepers.environment))
    assert jobs.cancel(job, sleepers.environment).status == "cancelled"


@pytest.mark.slow
def test_a_job_whose_process_is_killed_is_seen_to_have_died(sleepers: Office) -> None:
    job = sleepers.start()
    sleepers.wait_for_a_call(job)
    (holder,) = sleepers.root.glob("state/projects/*/jobs/*/work.lock.holder")
    os.kill(int(holder.read_text(encoding="utf-8")), signal.SIGKILL)
    assert sleepers.wait(job, "died").summary.startswith(f"{job.id} ended without a word")


def test_a_damaged_plan_is_no_plan(office: Office) -> None:
    offer = office.offer()
    record = next(office.root.glob("state/projects/*/plans/*.json"))
    record.write_text(record.read_text(encoding="utf-8").replace('"most_calls":', '"most_calls":1,"x":', 1))
    with pytest.raises(UnknownName):
        jobs.start(offer.plan_id, office.environment, "optimize-skill")


def test_a_plan_is_stale_when_what_it_rests_on_has_changed(office: Office) -> None:
    def refused(because: str) -> None:
        with pytest.raises(ConflictError, match=because):
            jobs.start(offer.plan_id, office.environment, "optimize-skill")

    offer = office.offer()
    office.skill.write_bytes(SKILL + b"mine\n")
    refused("SKILL.md, which has changed")
    offer = office.offer()
    office.tasks(rows(train=7))
    refused("tasks.yaml, which has changed")
    offer = office.offer()
    prices = office.root / "state" / "prices.toml"
    prices.write_text('[models]\n"mortal" = [3.0, 15.0]\n', encoding="utf-8")
    refused("settings or prices that have changed")
    prices.unlink()
    offer = office.offer()
    later = replace(office.environment, clock=lambda: offer.expires_at + timedelta(seconds=1))
    with pytest.raises(ConflictError, match="has expired"):
        jobs.start(offer.plan_id, later, "optimize-skill")
    with pytest.raises(UsageError, match="is a plan of optimize-skill, and not of sleep-run"):
        jobs.start(offer.plan_id, office.environment, "sleep-run")
    for unknown in ("plan-none", "../../config", ""):
        with pytest.raises(UnknownName, match="There is no plan called"):
            jobs.start(unknown, office.environment, "optimize-skill")
    assert not list(office.root.glob("state/projects/*/jobs/*"))


def test_an_agent_may_not_load_code_or_raise_the_caps_of_its_person(office: Office) -> None:
    with pytest.raises(UsageError, match="names code to load"):
        jobs.may_ask(RunRequest(optimizer_model="os.path:join"), office.environment)
    with pytest.raises(UsageError, match="lies above the person's own cap of 5"):
        jobs.may_ask(RunRequest(max_usd=50.0), office.environment)
    with pytest.raises(UsageError, match="above the person's own cap of 480"):
        jobs.may_ask(RunRequest(max_minutes=None), office.environment)
    jobs.may_ask(RunRequest(max_usd=1.0, target_model="claude:haiku"), office.environment)


def test_a_job_nobody_knows_is_an_error_with_the_nearest_name(office: Office) -> None:
    with pytest.raises(UnknownName, match="There is no job in this project called 'job-1'"):
        jobs.look(JobRequest(job="job-1"), office.environment)
