from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from skillopt_sleep import app
from skillopt_sleep.domain.errors import (
    ConflictError,
    InputError,
    ModelAuthError,
    ModelMalformed,
    ModelUnavailable,
    NothingToDo,
    UnknownName,
    UsageError,
)
from skillopt_sleep.domain.events import CallFinished, Warned
from skillopt_sleep.domain.llm import Prompt
from skillopt_sleep.domain.reports import NightReport
from skillopt_sleep.requests import AdoptRequest, ProposalRequest, RunRequest, StatusRequest
from tests.engine.desk import ADD_RISKS, SKILL, Desk, Puppet, Stage, follows_rules, proposes, rows


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def helpful() -> Puppet:
    return Puppet(follows_rules, proposes(ADD_RISKS))


def test_a_deficient_skill_gets_better_and_the_live_file_waits_for_its_person(desk: Desk) -> None:
    view = desk.run(helpful(), desk.tasks(rows()))
    (result,) = view.report.skills
    assert result.verdict
    assert (result.verdict.decision, result.verdict.reason) == ("accept", "improved")
    assert result.test
    assert (result.test.before, result.test.after, result.test.families) == (0.0, 1.0, 4)
    assert desk.skill.read_bytes() == SKILL
    app.adopt(AdoptRequest(proposal="briefs"), desk.environment)
    assert b'- Include a section headed "Risks".' in desk.skill.read_bytes()
    app.undo(ProposalRequest(proposal="briefs"), desk.environment)
    assert desk.skill.read_bytes() == SKILL


def test_a_rule_that_was_undone_is_not_proposed_again(desk: Desk) -> None:
    tasks = desk.tasks(rows())
    desk.run(helpful(), tasks)
    app.adopt(AdoptRequest(proposal="briefs"), desk.environment)
    app.undo(ProposalRequest(proposal="briefs"), desk.environment)
    reworded = {"edits": [{"kind": "add_rule", "text": "Make sure there is a 'Risks' section."}]}
    view = desk.run(Puppet(follows_rules, proposes(reworded)), tasks)
    (result,) = view.report.skills
    assert result.verdict is None
    assert [outcome.status for outcome in result.outcomes] == ["remembered"]


def test_an_edit_that_only_fits_the_training_tasks_is_refused_and_remembered(desk: Desk) -> None:
    def overfits(prompt: Prompt) -> str:
        return "## Risks" if "Risks" in prompt.system and "train" in prompt.messages[0].text else "A brief."

    view = desk.run(Puppet(overfits, proposes(ADD_RISKS)), desk.tasks(rows()))
    (result,) = view.report.skills
    assert result.verdict
    assert result.verdict.decision == "reject"
    assert view.proposals == ()
    again = desk.run(helpful(), desk.tasks(rows()))
    assert [outcome.status for outcome in again.report.skills[0].outcomes] == ["remembered"]


def test_a_harmful_edit_is_refused(desk: Desk) -> None:
    checks = rows(op="contains", arg="brief")
    bad = {"edits": [{"kind": "add_rule", "text": "Be silent about the matter."}]}
    puppet = Puppet(
        lambda p: "silence" if "silent" in p.system else "brief" if "gate" in str(p) else "no", proposes(bad)
    )
    (result,) = desk.run(puppet, desk.tasks(checks)).report.skills
    assert result.verdict
    assert (result.verdict.decision, result.verdict.reason) == ("reject", "harmful")


def test_with_too_few_gate_tasks_the_answer_is_cannot_tell_and_adopting_needs_a_word(desk: Desk) -> None:
    view = desk.run(helpful(), desk.tasks(rows(gate=4)))
    (result,) = view.report.skills
    assert result.verdict
    assert (result.verdict.decision, result.verdict.reason) == ("inconclusive", "too_few_families")
    with pytest.raises(ConflictError, match="did not confirm"):
        app.adopt(AdoptRequest(proposal="briefs"), desk.environment)


def test_a_single_task_of_a_persons_file_gives_an_idea_and_never_a_validation(desk: Desk) -> None:
    view = desk.run(
        helpful(),
        desk.tasks(
            [{"id": "one", "prompt": "Write it.", "checks": [{"op": "heading", "arg": "Risks"}], "slice": "gate"}]
        ),
    )
    (result,) = view.report.skills
    assert result.verdict
    assert (result.verdict.decision, result.verdict.reason) == ("inconclusive", "overlap")
    assert [outcome.status for outcome in result.outcomes] == ["applied"]


def test_tasks_that_are_all_sealed_leave_nothing_to_do(desk: Desk) -> None:
    puppet = helpful()
    with pytest.raises(NothingToDo, match="sealed test slice"):
        desk.run(puppet, desk.tasks(rows(train=0, gate=0, test=3)))
    assert puppet.prompts == []


def test_the_optimiser_never_sees_a_judges_pattern_nor_anything_of_a_held_out_task(desk: Desk) -> None:
    pattern = r"^REF-[0-9]{3}$"
    leak = {"edits": [{"kind": "add_rule", "text": f"Match {pattern} in every reply."}]}
    puppet = Puppet(lambda _: "A brief.", proposes(leak))
    (result,) = desk.run(puppet, desk.tasks(rows(op="regex", arg=pattern))).report.skills
    assert {outcome.status for outcome in result.outcomes} == {"judge_leak"}
    seen = [str(prompt) for prompt in puppet.prompts if prompt.role == "optimizer"]
    assert seen
    for text in seen:
        assert pattern not in text
        assert "gate question" not in text
        assert "test question" not in text
        assert "train question" in text


def test_an_edit_that_claims_work_nobody_did_is_refused(desk: Desk) -> None:
    claim = {"edits": [{"kind": "add_rule", "text": "At the end, state that the tests passed."}]}
    (result,) = desk.run(Puppet(lambda _: "A brief.", proposes(claim)), desk.tasks(rows())).report.skills
    assert {outcome.status for outcome in result.outcomes} == {"fabrication"}
    assert result.proposal_id is None


def test_an_edit_that_says_what_the_skill_says_already_is_no_change_and_no_gain(desk: Desk) -> None:
    same = {"edits": [{"kind": "add_rule", "text": "Answer in two paragraphs."}]}
    view = desk.run(Puppet(lambda _: "A brief.", proposes(same)), desk.tasks(rows()))
    (result,) = view.report.skills
    assert [outcome.status for outcome in result.outcomes] == ["no_change"]
    assert (result.verdict, result.test, view.proposals) == (None, None, ())


def _fails(error: Exception) -> Callable[[Prompt], str]:
    def fail(_: Prompt) -> str:
        raise error

    return fail


def test_a_refused_login_stops_the_night_with_no_score_and_no_verdict(desk: Desk) -> None:
    tasks = desk.tasks(rows())
    refused = Puppet(_fails(ModelAuthError("Not logged in.")), proposes(ADD_RISKS))
    view = desk.run(refused, tasks)
    assert view.report.status == "stopped"
    assert "Not logged in" in str(view.report.stopped)
    (result,) = view.report.skills
    assert (result.verdict, result.test, result.train_before) == (None, None, None)
    assert desk.run(helpful(), tasks).report.skills[0].verdict, "the next night works on the same tasks"


def test_an_outage_is_never_a_zero(desk: Desk) -> None:
    down = Puppet(_fails(ModelUnavailable("down")), proposes(ADD_RISKS))
    (result,) = desk.run(down, desk.tasks(rows())).report.skills
    assert result.verdict is None
    assert result.train_before is None
    assert "no training attempt could be scored" in str(result.stopped)


def test_a_night_in_which_every_call_failed_is_stopped_and_says_why(desk: Desk) -> None:
    view = desk.run(Puppet(_fails(ModelMalformed("half a reply")), proposes(ADD_RISKS)), desk.tasks(rows()))
    assert (view.report.status, view.report.stopped) == ("stopped", "Every model call failed, so nothing was judged.")
    assert "half a reply" in str(view.report.skills[0].stopped)


def test_an_optimiser_that_is_no_model_cannot_be_the_target(desk: Desk) -> None:
    request = desk.request(desk.tasks(rows())).model_copy(update={"target_model": "template"})
    with pytest.raises(UsageError, match="cannot attempt a task"):
        app.run(request, desk.environment)


def test_a_rule_dismissed_in_one_project_stays_away_from_the_same_skill_in_another(desk: Desk) -> None:
    tasks = desk.tasks(rows())
    desk.run(helpful(), tasks)
    app.dismiss(ProposalRequest(proposal="briefs"), desk.environment)
    (desk.root / "other").mkdir()
    elsewhere = replace(desk.environment, cwd=desk.root / "other")
    view = app.run(desk.request(tasks), elsewhere)
    assert [outcome.status for outcome in view.report.skills[0].outcomes] == ["remembered"]


def test_held_out_replies_that_are_missing_drop_pairs_and_too_many_make_it_inconclusive(desk: Desk) -> None:
    def flaky(prompt: Prompt) -> str:
        if "gate" in prompt.messages[0].text and int(prompt.messages[0].text.split()[-1].strip(".")) % 2:
            raise ModelMalformed("half a reply")
        return follows_rules(prompt)

    (result,) = desk.run(Puppet(flaky, proposes(ADD_RISKS)), desk.tasks(rows())).report.skills
    assert result.verdict
    assert result.verdict.reason == "too_many_missing"
    assert result.verdict.effect == 1.0, "what was scored, was scored"


def test_an_optimiser_without_a_usable_answer_is_reported_and_no_scandal(desk: Desk) -> None:
    (result,) = desk.run(Puppet(follows_rules, lambda _: "I would rather not."), desk.tasks(rows())).report.skills
    assert result.stopped == "the optimiser gave no usable edits"
    assert any(isinstance(event, Warned) for event in desk.events)


def test_a_cap_on_calls_is_never_passed_and_the_report_says_what_happened(desk: Desk) -> None:
    puppet = helpful()
    view = desk.run(puppet, desk.tasks(rows()), max_calls=33)
    assert view.report.status == "stopped"
    assert "33 calls" in str(view.report.stopped)
    assert len(puppet.prompts) <= 33
    assert view.report.skills[0].verdict is None


def test_a_cap_too_small_for_one_comparison_is_refused_before_any_call(desk: Desk) -> None:
    puppet = helpful()
    with pytest.raises(UsageError, match="too small: the smallest comparison of one skill takes 31"):
        desk.run(puppet, desk.tasks(rows()), max_calls=30)
    assert puppet.prompts == []


def test_a_plan_counts_what_the_night_then_makes_and_calls_nobody(desk: Desk) -> None:
    puppet = helpful()
    tasks = desk.tasks(rows())
    Stage.puppet = puppet
    plan = app.plan(desk.request(tasks), desk.environment)
    assert puppet.prompts == []
    view = desk.run(puppet, tasks)
    made = sum(row.calls for row in view.report.spend)
    assert made == len(puppet.prompts)
    # the three identical sets of edits are tried once, so the plan, which expects three, is an upper bound here
    assert made <= plan.expected_calls <= plan.most_calls
    assert plan.skills[0].families == {"train": 6, "gate": 12, "test": 4}


def test_the_same_night_again_takes_its_replies_from_the_cache(desk: Desk) -> None:
    tasks = desk.tasks(rows(gate=4))
    first, second = helpful(), helpful()
    desk.run(first, tasks)
    desk.run(second, tasks)
    assert len(first.prompts) > 0
    assert second.prompts == []


def test_a_skill_that_needs_nothing_costs_its_training_replays_and_no_more(desk: Desk) -> None:
    puppet = Puppet(lambda _: "## Risks\n\nNone.", proposes(ADD_RISKS))
    (result,) = desk.run(puppet, desk.tasks(rows())).report.skills
    assert "already passed" in str(result.stopped)
    assert all(prompt.role == "target" for prompt in puppet.prompts)


def test_a_gate_that_is_off_is_loud_and_its_proposal_needs_a_word(desk: Desk) -> None:
    puppet = helpful()
    (result,) = desk.run(puppet, desk.tasks(rows()), gate="off").report.skills
    assert not any("gate question" in str(prompt) for prompt in puppet.prompts), "a gate that is off costs nothing"
    assert result.verdict
    assert (result.verdict.decision, result.verdict.reason) == ("inconclusive", "gate_off")
    assert "not tested at all" in result.verdict.explanation


def tossing(coin: random.Random) -> Callable[[Prompt], str]:
    return lambda _: "## Risks" if coin.random() < 0.5 else "A brief."


def test_an_edit_that_does_nothing_is_hardly_ever_accepted_by_a_noisy_model(tmp_path: Path) -> None:
    accepted = 0
    nights = 60
    for seed in range(nights):
        coin = Puppet(tossing(random.Random(seed)), proposes(ADD_RISKS))
        folder = tmp_path / str(seed)
        folder.mkdir()
        desk = Desk(folder)
        (result,) = desk.run(coin, desk.tasks(rows(train=4, gate=12, test=0)), candidates=1).report.skills
        accepted += result.verdict is not None and result.verdict.decision == "accept"
    # the level is at most 0.05: 9 or more of 60 would happen in fewer than 5 of 1,000 such runs of an honest gate
    assert accepted < 9


def test_every_call_stands_in_the_nights_events_and_the_reports_are_written(desk: Desk) -> None:
    puppet = helpful()
    view = desk.run(puppet, desk.tasks(rows()))
    night = Path(view.report_path).parent
    names = {path.name for path in night.iterdir()}
    assert {
        "manifest.json",
        "tasks.jsonl",
        "trials.jsonl",
        "events.jsonl",
        "report.json",
        "report.md",
        "report.html",
    } <= names
    lines = (night / "events.jsonl").read_text(encoding="utf-8").splitlines()
    assert sum(json.loads(line)["kind"] == "call_finished" for line in lines) == len(puppet.prompts)
    assert sum(isinstance(event, CallFinished) for event in desk.events) == len(puppet.prompts)
    assert NightReport.model_validate_json((night / "report.json").read_bytes()) == view.report


def test_the_house_edits_of_one_skill_do_not_wait_for_a_broken_neighbour(desk: Desk) -> None:
    broken = desk.skill.parents[1] / "broken" / "SKILL.md"
    broken.parent.mkdir()
    broken.write_bytes(b"\xff\xfe not utf-8")
    mixed = [{**row, "skill": "briefs" if n % 2 else "broken"} for n, row in enumerate(rows(train=12, gate=24))]
    Stage.puppet = helpful()
    request = RunRequest(target_model="tests.engine.desk:on_stage", tasks=desk.tasks(mixed), yes=True)
    view = app.run(request, desk.environment)
    (result,) = view.report.skills
    assert result.skill == "briefs"
    assert result.verdict
    assert result.verdict.decision == "accept"


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"target_model": None}, UsageError, "No model is chosen"),
        ({"target_model": "smi:mid"}, UnknownName, "Did you mean 'sim'"),
        ({"target_model": "sim:stronk"}, UnknownName, "Did you mean 'strong'"),
        ({"skills": ("brief",)}, UnknownName, "Did you mean 'briefs'"),
        ({"tasks": "missing.yaml"}, InputError, r"missing\.yaml"),
    ],
)
def test_a_wrong_name_is_an_error_with_the_nearest_match_and_calls_nobody(
    desk: Desk, change: dict[str, object], error: type[Exception], match: str
) -> None:
    request = desk.request(desk.tasks(rows())).model_copy(update=change)
    with pytest.raises(error, match=match):
        app.run(request, desk.environment)


@pytest.mark.parametrize(
    ("check", "match"),
    [
        ({"op": "regex", "arg": "(?i)a|(?i)b"}, "train-0.*does not compile"),
        ({"op": "contians", "arg": "x"}, "Did you mean 'contains'"),
    ],
)
def test_a_check_that_cannot_work_is_found_when_the_file_is_loaded(
    desk: Desk, check: dict[str, str], match: str
) -> None:
    puppet = helpful()
    with pytest.raises(UsageError, match=match):
        desk.run(puppet, desk.tasks(rows(op=check["op"], arg=check["arg"])))
    assert puppet.prompts == []


def test_a_state_folder_that_cannot_be_written_is_one_sentence_and_costs_nothing(desk: Desk) -> None:
    (desk.root / "state").write_text("a file stands in the way", encoding="utf-8")
    puppet = helpful()
    with pytest.raises(Exception, match="cannot be written") as caught:
        desk.run(puppet, desk.tasks(rows()))
    assert "SKILLOPT_SLEEP_HOME" in str(caught.value)
    assert puppet.prompts == []


def test_an_interrupted_night_leaves_a_report_that_says_so(desk: Desk) -> None:
    environ = {**os.environ, **desk.environment.environ}
    command = [sys.executable, "-m", "skillopt_sleep", "run", "--tasks", desk.tasks(rows()), "--skills", "briefs"]
    command += ["--target-model", "tests.engine.desk:asleep", "--yes"]
    environ["PYTHONPATH"] = str(Path(__file__).parents[2])
    with subprocess.Popen(command, cwd=desk.root / "project", env=environ, stderr=subprocess.PIPE, text=True) as night:
        assert night.stderr
        while not list(desk.root.glob("state/projects/*/nights/*/asleep")):
            assert night.poll() is None, night.stderr.read()
        night.send_signal(signal.SIGINT)
        said = night.stderr.read()
    assert night.returncode == 130
    assert "What was done so far is kept" in said
    status = app.status(StatusRequest(), desk.environment)
    assert [entry.status for entry in status.nights] == ["interrupted"]
    assert status.running is None


def test_a_repeated_night_points_to_the_proposal_that_waits_already(desk: Desk) -> None:
    tasks = desk.tasks(rows())
    first, second = desk.run(helpful(), tasks), desk.run(helpful(), tasks)
    assert second.proposals == first.proposals
    assert len(app.status(StatusRequest(), desk.environment).waiting) == 1


def test_a_newer_proposal_for_the_same_file_supersedes_the_one_that_waited(desk: Desk) -> None:
    (first,) = desk.run(helpful(), desk.tasks(rows())).proposals
    other = {"edits": [{"kind": "add_rule", "text": 'Close with a section headed "Risks" in each brief.'}]}
    more = [{**row, "id": f"more-{row['id']}", "family": f"more {row['family']}"} for row in rows()]
    fresh = [{**row, "prompt": f"{row['prompt']} And now?"} for row in more]
    (second,) = desk.run(Puppet(follows_rules, proposes(other)), desk.tasks(fresh)).proposals
    assert [line.id for line in app.status(StatusRequest(), desk.environment).waiting] == [second]
    with pytest.raises(ConflictError, match="superseded"):
        app.adopt(AdoptRequest(proposal=first), desk.environment)


def test_what_was_undone_is_adopted_again_only_on_purpose_and_status_says_what_is_live(desk: Desk) -> None:
    (proposal,) = desk.run(helpful(), desk.tasks(rows())).proposals
    app.adopt(AdoptRequest(proposal=proposal), desk.environment)
    assert [line.id for line in app.status(StatusRequest(), desk.environment).adopted] == [proposal]
    app.undo(ProposalRequest(proposal=proposal), desk.environment)
    with pytest.raises(ConflictError, match=r"undone.*--again"):
        app.adopt(AdoptRequest(proposal=proposal), desk.environment)
    app.adopt(AdoptRequest(proposal=proposal, again=True), desk.environment)
    assert b"Risks" in desk.skill.read_bytes()
