"""The price is shown first, nobody pays without having said yes, and what would be sent can be read before."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep import app
from skillopt_sleep.domain.errors import InputError, NothingToDo, UsageError
from skillopt_sleep.domain.llm import Prompt
from skillopt_sleep.requests import RunRequest
from skillopt_sleep.views import PlanView
from tests.engine.desk import ADD_RISKS, Asleep, Desk, Puppet, Stage, follows_rules, proposes, rows


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def helpful() -> Puppet:
    return Puppet(follows_rules, proposes(ADD_RISKS))


def own_prices(desk: Desk, text: str) -> None:
    (desk.root / "state").mkdir(exist_ok=True)
    (desk.root / "state" / "prices.toml").write_text(text, encoding="utf-8")


def test_a_night_that_can_cost_money_does_not_begin_by_itself(desk: Desk) -> None:
    puppet = Stage.puppet = helpful()
    with pytest.raises(UsageError, match=r"can cost money.*--yes"):
        app.run(desk.request(desk.tasks(rows()), yes=False), desk.environment)
    assert puppet.prompts == []
    assert not list(desk.root.glob("state/projects/*/nights/*"))


def test_whoever_says_no_has_spent_nothing_and_whoever_says_yes_has_seen_the_price(desk: Desk) -> None:
    own_prices(desk, "[models]\npuppet = [2.0, 10.0]\n")
    puppet = Stage.puppet = helpful()
    seen: list[PlanView] = []

    def ask(view: PlanView) -> bool:
        seen.append(view)
        return len(seen) > 1

    request = desk.request(desk.tasks(rows()), yes=False)
    with pytest.raises(NothingToDo, match="nothing was spent"):
        app.run(request, desk.environment, confirm=ask)
    assert puppet.prompts == []
    view = app.run(request, desk.environment, confirm=ask)
    assert view.report.status == "finished"
    assert seen[0].costs == "known"
    assert seen[0].most_usd is not None
    assert seen[0].expected_usd is not None
    assert 0 < seen[0].expected_usd < seen[0].most_usd <= 5.0


def test_the_plan_prices_every_role_and_the_report_says_what_each_one_cost(desk: Desk) -> None:
    own_prices(desk, "[models]\npuppet = [2.0, 10.0]\n")
    tasks = desk.tasks(rows())
    plan = app.plan(desk.request(tasks), desk.environment)
    assert [(row.role, row.calls) for row in plan.roles] == [("target", 6 * 3 + 12 * 3 + 4 * 6), ("optimizer", 3)]
    report = desk.run(helpful(), tasks).report
    assert [row.role for row in report.spend] == ["target", "optimizer"]
    for row in report.spend:
        assert row.usd == pytest.approx((row.calls * 10 * 2 + row.calls * 10 * 10) / 1_000_000)


def test_a_second_plan_knows_how_long_replies_are(desk: Desk) -> None:
    tasks = desk.tasks(rows())
    before = app.plan(desk.request(tasks), desk.environment)
    desk.run(helpful(), tasks)
    after = app.plan(desk.request(tasks), desk.environment)
    assert before.roles[0].output_tokens == before.roles[0].calls * 400
    assert after.roles[0].output_tokens == after.roles[0].calls * 10


def test_a_cap_in_dollars_stops_a_night_before_it_is_passed(desk: Desk) -> None:
    own_prices(desk, "[models]\npuppet = [2.0, 1000.0]\n")
    puppet = Puppet(follows_rules, proposes(ADD_RISKS))
    report = desk.run(puppet, desk.tasks(rows()), max_usd=3.0).report
    assert report.status == "stopped"
    assert "cap of $3.00" in str(report.stopped)
    assert sum((row.usd or 0) + row.unsettled_usd for row in report.spend) <= 3.0


def test_an_unknown_price_is_said_and_never_guessed(desk: Desk) -> None:
    plan = app.plan(desk.request(desk.tasks(rows())), desk.environment)
    assert (plan.costs, plan.expected_usd, plan.most_usd) == ("unknown", None, None)
    assert any("No price is known for puppet" in warning for warning in plan.warnings)


def test_the_caps_of_the_day_count_earlier_nights(desk: Desk) -> None:
    first = desk.run(helpful(), desk.tasks(rows())).report
    cap = sum(row.calls for row in first.spend) + 5
    again = desk.tasks([{**row, "prompt": row["prompt"] + " Again."} for row in rows()])
    report = desk.run(helpful(), again, daily_calls=cap).report
    assert report.status == "stopped"
    assert f"{cap} calls a day" in str(report.stopped)
    assert sum(row.calls for row in report.spend) == 5


def test_a_night_that_takes_too_long_ends_with_what_it_has(desk: Desk) -> None:
    Stage.puppet = Asleep()
    report = app.run(desk.request(desk.tasks(rows()), max_minutes=0.002), desk.environment).report
    assert report.status == "stopped"
    assert "--max-minutes" in str(report.stopped)


def test_minutes_of_the_day_that_are_used_up_end_a_night_at_once(desk: Desk) -> None:
    desk.run(helpful(), desk.tasks(rows()))
    again = desk.tasks([{**row, "prompt": row["prompt"] + " Again."} for row in rows()])
    report = desk.run(helpful(), again, daily_minutes=0.00001).report
    assert report.status == "stopped"
    assert "minutes" in str(report.stopped)


def test_prices_that_cannot_be_read_stop_the_night_before_anything_is_spent(desk: Desk) -> None:
    own_prices(desk, "[models]\npuppet = [-1.0, 2.0]\n")
    puppet = Stage.puppet = helpful()
    with pytest.raises(InputError, match=r"prices\.toml, models\.puppet"):
        app.run(desk.request(desk.tasks(rows())), desk.environment)
    assert puppet.prompts == []


def test_the_prompts_that_are_shown_are_those_that_are_sent(desk: Desk) -> None:
    tasks = desk.tasks(rows())
    plan = app.plan(desk.request(tasks, show_prompts=True), desk.environment)
    known = {(prompt.system, prompt.text) for prompt in plan.prompts if prompt.known}
    puppet = helpful()
    desk.run(puppet, tasks)
    unchanged = [prompt for prompt in puppet.prompts if prompt.role == "target" and "Risks" not in prompt.system]
    assert {(prompt.system, prompt.messages[0].text) for prompt in unchanged} == known
    assert sum(prompt.times for prompt in plan.prompts if prompt.role == "target") == 6 * 4 + 12 * 6 + 4 * 6


def test_what_is_shown_of_a_dependent_prompt_is_the_template_that_is_sent(desk: Desk) -> None:
    tasks = desk.tasks(rows())
    plan = app.plan(desk.request(tasks, show_prompts=True), desk.environment)
    (shown,) = [prompt for prompt in plan.prompts if prompt.role == "optimizer"]
    puppet = helpful()
    desk.run(puppet, tasks)
    sent: Prompt = next(prompt for prompt in puppet.prompts if prompt.role == "optimizer")
    assert shown.system == sent.system
    head = shown.text.partition("[")[0]
    assert sent.messages[0].text.startswith(head[:200])
    assert "gate question" not in shown.text


def test_a_plan_without_a_model_still_counts(desk: Desk) -> None:
    request = RunRequest(tasks=desk.tasks(rows()), skills=("briefs",))
    plan = app.plan(request, desk.environment)
    assert (plan.models, plan.expected_calls > 0, plan.costs) == ({}, True, "unknown")
