"""The gate as whole nights use it: by looks, with an eye on harm, and with one alpha over nights on the same tasks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillopt_sleep import app
from skillopt_sleep.domain.errors import ModelMalformed
from skillopt_sleep.domain.events import LookTaken, Warned
from skillopt_sleep.domain.llm import Prompt
from skillopt_sleep.domain.verdicts import Verdict
from tests.engine.desk import ADD_RISKS, Desk, Puppet, Stage, follows_rules, proposes, rows

Answer = Callable[[Prompt], str]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def asked(prompt: Prompt) -> str:
    """The task a prompt is about: "gate question 3"."""
    found = re.search(r"(train|gate|test) question \d+", prompt.messages[0].text)
    return found.group() if found else ""


def gate_attempts(puppet: Puppet) -> Counter[str]:
    """How often each gate task was really attempted."""
    return Counter(name for prompt in puppet.prompts if (name := asked(prompt)).startswith("gate"))


def verdict_of(desk: Desk, answer: Answer = follows_rules, tasks: str | None = None, **more: Any) -> Verdict:
    (result,) = desk.run(Puppet(answer, proposes(ADD_RISKS)), tasks or desk.tasks(rows()), **more).report.skills
    assert result.verdict
    return result.verdict


def unless(*names: str, times: int = 1000) -> Answer:
    """A follower of rules that gets these tasks the wrong way round: right before the edit, and wrong under it."""
    left = Counter(dict.fromkeys(names, times))

    def answer(prompt: Prompt) -> str:
        name = asked(prompt)
        if name not in names:
            return follows_rules(prompt)
        if "Risks" not in prompt.system:
            return "## Risks"
        left[name] -= 1
        return "A brief." if left[name] >= 0 else "## Risks"

    return answer


def another_edit(text: str) -> dict[str, Any]:
    return {"edits": [{"kind": "add_rule", "text": text}]}


# --- looks ------------------------------------------------------------------------------------------------------------


def test_a_plain_improvement_is_settled_at_the_first_look_and_the_rest_of_the_budget_is_saved(desk: Desk) -> None:
    puppet = Puppet(follows_rules, proposes(ADD_RISKS))
    view = desk.run(puppet, desk.tasks(rows()))
    verdict = view.report.skills[0].verdict
    assert verdict
    assert (verdict.looks, verdict.pairs, verdict.pairs_planned, verdict.pairs_saved) == (1, 7, 36, 29)
    assert sum(gate_attempts(puppet).values()) == 2 * 12, "seven pairs to decide, and a sweep through the other five"
    (look,) = (event for event in desk.events if isinstance(event, LookTaken))
    assert (look.look, look.pairs, look.planned, look.settled) == (1, 7, 36, True)
    markdown = (Path(view.report_path).parent / "report.md").read_text(encoding="utf-8")
    assert "Decided after 1 look: 14 of 72 attempts, 58 saved, and 10 more to look for harm." in markdown


def test_an_edit_that_changes_nothing_is_given_up_long_before_the_budget_ends(desk: Desk) -> None:
    puppet = Puppet(lambda p: "## Risks" if "Risks" in p.system and "train" in asked(p) else "No.", proposes(ADD_RISKS))
    (result,) = desk.run(puppet, desk.tasks(rows())).report.skills
    assert result.verdict
    assert result.verdict.decision == "reject"
    assert sum(gate_attempts(puppet).values()) <= 36


def test_the_baseline_of_the_first_batch_alone_is_attempted_before_there_is_a_candidate(desk: Desk) -> None:
    puppet = Puppet(follows_rules, lambda _: "I would rather not.")
    desk.run(puppet, desk.tasks(rows()))
    assert sum(gate_attempts(puppet).values()) <= 7


def test_both_arms_have_equally_many_attempts_of_a_task_at_every_look_whatever_fails(desk: Desk) -> None:
    fails = iter(range(10**6))

    def flaky(prompt: Prompt) -> str:
        if asked(prompt).startswith("gate") and next(fails) % 17 == 3:
            raise ModelMalformed("half a reply")
        return follows_rules(prompt)

    view = desk.run(Puppet(flaky, proposes(ADD_RISKS)), desk.tasks(rows()))
    verdict = view.report.skills[0].verdict
    assert verdict
    assert verdict.decision == "accept"
    assert verdict.missing_pairs > 0
    assert (verdict.before, verdict.after) == (0.0, 1.0)


# --- harm -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 5, 11])
def test_a_family_that_collapses_blocks_acceptance_is_named_and_stands_in_the_headline(desk: Desk, number: int) -> None:
    tasks = desk.tasks(rows(gate=20))
    view = desk.run(Puppet(unless(f"gate question {number}"), proposes(ADD_RISKS)), tasks)
    (result,) = view.report.skills
    assert result.verdict
    assert (result.verdict.decision, result.verdict.reason) == ("reject", "regressed")
    assert result.verdict.regressed == (f"gate {number}",)
    assert result.verdict.fresh_pairs >= 6
    assert view.proposals == ()
    markdown = (Path(view.report_path).parent / "report.md").read_text(encoding="utf-8")
    assert markdown.index("Got worse under the proposed edits") < markdown.index("## Skills")


def test_a_family_that_was_only_unlucky_is_tried_again_and_does_not_block(desk: Desk) -> None:
    verdict = verdict_of(desk, unless("gate question 4", times=1), desk.tasks(rows(gate=20)))
    assert verdict.decision == "accept"
    assert verdict.suspects == ("gate 4",)
    assert "looked worse, and held: gate 4" in verdict.explanation


def test_fresh_attempts_are_no_evidence_of_improvement(desk: Desk) -> None:
    plain = verdict_of(desk, tasks=desk.tasks(rows(gate=20)))
    other = Desk(desk.root / "other")
    again = verdict_of(other, unless("gate question 4", times=1), other.tasks(rows(gate=20)))
    assert again.suspects == ("gate 4",)
    assert (again.pairs <= again.pairs_planned, plain.pairs <= plain.pairs_planned) == (True, True)
    assert again.fresh_pairs > plain.fresh_pairs


def test_what_is_pinned_must_not_fall_at_all_though_it_fell_by_chance_only(desk: Desk) -> None:
    slipped = unless("gate question 4", times=1)
    verdict = verdict_of(desk, slipped, desk.tasks(rows(gate=20)), anchors=("gate 4",))
    assert (verdict.decision, verdict.reason, verdict.regressed) == ("reject", "anchor_fell", ("gate 4",))


@pytest.mark.parametrize("pinned", ["train-2", "test-1"])
def test_a_task_can_be_pinned_in_the_file_whatever_its_slice(desk: Desk, pinned: str) -> None:
    marked = [{**row, "anchor": True} if row["id"] == pinned else row for row in rows()]
    slice_, _, number = pinned.partition("-")
    verdict = verdict_of(desk, unless(f"{slice_} question {number}"), desk.tasks(marked))
    assert (verdict.reason, verdict.regressed) == ("anchor_fell", (pinned,))


def test_a_pinned_name_that_nothing_has_is_a_warning(desk: Desk) -> None:
    verdict_of(desk, anchors=("gaet 4",))
    assert any("'gaet 4'" in event.message for event in desk.events if isinstance(event, Warned))


def test_a_plan_reserves_what_a_second_look_at_suspects_may_take(desk: Desk) -> None:
    tasks = desk.tasks(rows(gate=20))
    Stage.puppet = Puppet(follows_rules, proposes(ADD_RISKS))
    (planned,) = app.plan(desk.request(tasks), desk.environment).skills
    verdict = verdict_of(desk, unless("gate question 1", "gate question 2", "gate question 3"), tasks)
    assert 0 < 2 * verdict.fresh_pairs <= planned.reserved_calls
    assert planned.reserved_calls < planned.most_calls


# --- over nights ------------------------------------------------------------------------------------------------------


def test_the_same_change_is_never_tested_twice_on_the_same_tasks(desk: Desk) -> None:
    tasks = desk.tasks(rows())
    first = verdict_of(desk, tasks=tasks)
    again = Puppet(follows_rules, proposes(ADD_RISKS))
    (result,) = desk.run(again, tasks, seed=1).report.skills
    assert result.verdict
    assert (result.verdict.decision, result.verdict.p_value) == (first.decision, first.p_value)
    assert "Found in an earlier night" in result.verdict.explanation
    assert sum(gate_attempts(again).values()) < 12, "nothing but the baseline of the first batch"


def test_a_second_change_is_tested_at_a_lower_level_and_the_report_says_so(desk: Desk) -> None:
    tasks = desk.tasks(rows())
    first = verdict_of(desk, tasks=tasks)
    assert first.account
    assert (first.alpha, first.account.test) == (0.03125, 1)
    puppet = Puppet(follows_rules, proposes(another_edit('Close with a list of "Risks".')))
    view = desk.run(puppet, tasks, seed=1)
    second = view.report.skills[0].verdict
    assert second
    assert second.account
    assert (second.account.test, second.alpha) == (2, first.account.next_level)
    assert second.alpha == pytest.approx((0.05 - 0.03125) / 2)
    markdown = (Path(view.report_path).parent / "report.md").read_text(encoding="utf-8")
    assert "Test 2 on these tasks, at 0.94 %. The next one may use 0.47 %." in markdown


def test_six_families_give_one_test_at_full_strength_and_then_need_unused_ones(desk: Desk) -> None:
    six, twelve = rows(gate=6), rows(gate=12)
    first = verdict_of(desk, tasks=desk.tasks(six))
    assert (first.decision, first.alpha) == ("accept", 0.05)
    puppet = Puppet(follows_rules, proposes(another_edit('Close with a list of "Risks".')))
    view = desk.run(puppet, desk.tasks(six), seed=1)
    second = view.report.skills[0].verdict
    assert second
    assert (second.decision, second.reason, second.families_needed) == ("inconclusive", "used_up", 5)
    assert gate_attempts(puppet) == {}, "nothing could be accepted, so nothing is spent"
    assert "5 more tasks that no test has used" in (Path(view.report_path).parent / "report.md").read_text("utf-8")
    third = Puppet(follows_rules, proposes(another_edit('Think of a "Risks" section.')))
    (result,) = desk.run(third, desk.tasks(twelve), seed=2).report.skills
    assert result.verdict
    assert (result.verdict.decision, result.verdict.alpha) == ("accept", 0.05)
    assert min(int(name.rpartition(" ")[2]) for name in gate_attempts(third)) == 6, "the unused ones alone"


def test_a_change_that_could_not_be_settled_is_tested_again_once_there_are_enough_unused_tasks(desk: Desk) -> None:
    def half(prompt: Prompt) -> str:
        return "A brief." if asked(prompt) in {f"gate question {n}" for n in (0, 2, 4)} else follows_rules(prompt)

    first = verdict_of(desk, half, desk.tasks(rows(gate=6)))
    assert (first.decision, first.families) == ("inconclusive", 6)
    still = verdict_of(desk, half, desk.tasks(rows(gate=10)))
    assert "not tested twice" in still.explanation, "four unused families are too few"
    puppet = Puppet(half, proposes(ADD_RISKS))
    (result,) = desk.run(puppet, desk.tasks(rows(gate=12)), candidates=1).report.skills
    assert result.verdict
    assert (result.verdict.decision, result.verdict.alpha, result.verdict.families) == ("accept", 0.05, 6)


def test_a_plan_says_beforehand_where_no_result_could_be_accepted(desk: Desk) -> None:
    def note(tasks: str, **more: Any) -> str:
        Stage.puppet = Puppet(follows_rules, proposes(ADD_RISKS))
        (planned,) = app.plan(desk.request(tasks, **more), desk.environment).skills
        assert planned.enough_for_a_verdict == (not planned.note)
        return planned.note

    six = desk.tasks(rows(gate=6))
    assert note(six) == ""
    assert "no result of 6 gate families could reach alpha 0.001" in note(six, alpha=0.001)
    verdict_of(desk, tasks=six)
    assert "1 earlier test used these gate tasks up" in note(six)


def test_a_test_that_a_night_could_not_finish_goes_on_in_the_next_with_what_it_has_not_spent(desk: Desk) -> None:
    def mixed(prompt: Prompt) -> str:
        name = asked(prompt)
        odd = name.startswith("gate") and int(name.rpartition(" ")[2]) % 2
        return "A brief." if odd else follows_rules(prompt)

    tasks = desk.tasks(rows(test=0))
    whole = verdict_of(Desk(desk.root / "whole"), mixed, tasks, candidates=1)
    stopped = desk.run(Puppet(mixed, proposes(ADD_RISKS)), tasks, candidates=1, max_calls=34)
    assert stopped.report.status == "stopped"
    assert stopped.report.skills[0].verdict is None
    seen = [event for event in desk.events if isinstance(event, LookTaken)]
    assert seen
    desk.events.clear()
    resumed = verdict_of(desk, mixed, tasks, candidates=1, samples=5)
    assert resumed.account == whole.account
    assert (resumed.p_value, resumed.looks, resumed.pairs, resumed.pairs_planned) == (
        whole.p_value,
        whole.looks,
        whole.pairs,
        whole.pairs_planned,
    ), "the number of samples was declared at the first look"
    later = [event for event in desk.events if isinstance(event, LookTaken)]
    assert later[0].look == seen[-1].look + 1


def test_an_outage_closes_no_test_and_uses_nothing_up(desk: Desk) -> None:
    def down(prompt: Prompt) -> str:
        if asked(prompt).startswith("gate"):
            raise ModelMalformed("half a reply")
        return follows_rules(prompt)

    tasks = desk.tasks(rows())
    assert verdict_of(desk, down, tasks).reason == "too_many_missing"
    after = verdict_of(desk, tasks=tasks)
    assert after.account
    assert (after.decision, after.account.test, after.alpha) == ("accept", 1, 0.03125)
