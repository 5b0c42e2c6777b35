from __future__ import annotations

from skillopt_sleep.domain.briefing import Requirement
from skillopt_sleep.domain.checks import Check, Contains, Regex
from skillopt_sleep.domain.llm import ToolCall
from skillopt_sleep.domain.slices import Slice
from skillopt_sleep.domain.tasks import Rubric, Rules, Task
from skillopt_sleep.domain.trials import Attempt, CheckResult, Mark, Score, Trial
from skillopt_sleep.reflect import failures_of, requirements_of

REFERENCE = Regex(arg=r"^REF-[0-9]{3}$")
TEA = Contains(arg="tea")


def describe(check: Check) -> Requirement:
    if isinstance(check, Regex):
        return Requirement(text="Give a reference number.", example="REF-123")
    return Requirement(text=f'Mention "{check.arg}".')


def task(number: int, *checks: Check, slice_: Slice = "train", family: str = "") -> Task:
    return Task(
        id=f"t{number}",
        prompt=f"Request {number}",
        criterion=Rules(checks=checks or (REFERENCE,)),
        group="g",
        family=family or f"f{number}",
        slice=slice_,
        origin="file",
    )


def trial(of: Task, *results: tuple[str, bool], reply: str = "A reply.", sample: int = 0) -> Trial:
    checks = tuple(CheckResult(requirement=text, passed=passed) for text, passed in results)
    passed = all(check.passed for check in checks)
    return Trial(
        task_id=of.id,
        family=of.family,
        sample=sample,
        arm="before",
        attempt=Attempt(task_id=of.id, text=reply, tool_calls=(ToolCall(id="1", name="lookup"),)),
        score=Score(judge="rules@1", mark=Mark(hard=float(passed), soft=float(passed)), checks=checks),
    )


def test_requirements_are_counted_over_training_trials_and_families() -> None:
    one, two, three = task(1, REFERENCE, TEA), task(2, REFERENCE), task(3, REFERENCE, family="f2")
    trials = [
        trial(one, ("Give a reference number.", False), ('Mention "tea".', True)),
        trial(one, ("Give a reference number.", True), ('Mention "tea".', True), sample=1),
        trial(two, ("Give a reference number.", False)),
    ]
    assert requirements_of([one, two, three], trials, describe) == (
        Requirement(text="Give a reference number.", example="REF-123", failed=2, seen=3, families=2),
        Requirement(text='Mention "tea".', failed=0, seen=2, families=1),
    )


def test_nothing_is_read_from_gate_and_test_tasks() -> None:
    held_out = [task(1, TEA, slice_="gate"), task(2, TEA, slice_="test")]
    trials = [trial(of, ('Mention "tea".', False)) for of in held_out]
    assert requirements_of(held_out, trials, describe) == ()
    assert failures_of(held_out, trials, 10) == ()


def test_a_failed_call_says_nothing_about_a_requirement() -> None:
    one = task(1)
    failed = Trial(task_id="t1", family="f1", sample=0, arm="before", error="model_unavailable: down")
    (requirement,) = requirements_of([one], [failed], describe)
    assert (requirement.failed, requirement.seen) == (0, 0)
    assert failures_of([one], [failed], 10) == ()


def test_the_rubric_of_a_training_task_is_a_requirement_and_the_graders_reason_goes_with_the_failure() -> None:
    one = task(1).model_copy(update={"criterion": Rubric(text="- Is polite.\n- Is short.", reference="Dear Ada")})
    failed = trial(one, ("Is polite.", False), ("Is short.", True))
    assert failed.score
    polite = failed.score.checks[0].model_copy(update={"reason": "It shouts."})
    failed = failed.model_copy(
        update={"score": failed.score.model_copy(update={"checks": (polite, *failed.score.checks[1:])})}
    )
    assert requirements_of([one], [failed], describe) == (
        Requirement(text="Is polite.", failed=1, seen=1, families=1),
        Requirement(text="Is short.", failed=0, seen=1, families=1),
    )
    (attempt,) = failures_of([one], [failed], 5)
    assert attempt.unmet == ("Is polite. (The grader: It shouts.)",)


def test_nothing_of_a_gate_rubric_and_no_reference_at_all_is_told() -> None:
    train = task(1).model_copy(update={"criterion": Rubric(text="Is polite.", reference="Dear Ada")})
    gate = task(2, slice_="gate").model_copy(update={"criterion": Rubric(text="Is secretly wanted.")})
    trials = [trial(train, ("Is polite.", False)), trial(gate, ("Is secretly wanted.", False))]
    told = f"{requirements_of([train, gate], trials, describe)} {failures_of([train, gate], trials, 5)}"
    assert "polite" in told
    assert "secretly" not in told
    assert "Dear Ada" not in told


def test_failures_show_one_of_each_family_before_a_second_of_any() -> None:
    one, two = task(1), task(2)
    trials = [
        *(trial(one, ("Give a reference number.", False), reply=f"one {n}", sample=n) for n in range(3)),
        trial(two, ("Give a reference number.", False), reply="two 0"),
        trial(two, ("Give a reference number.", True), reply="two 1", sample=1),
    ]
    found = failures_of([one, two], trials, 3)
    assert [attempt.reply for attempt in found] == ["one 0", "two 0", "one 1"]
    assert found[0].unmet == ("Give a reference number.",)
    assert (found[0].request, found[0].tools_called) == ("Request 1", ("lookup",))


def test_long_replies_show_their_head_and_tail() -> None:
    one = task(1)
    (attempt,) = failures_of([one], [trial(one, ("x", False), reply="HEAD" + "-" * 9000 + "TAIL")], 1)
    assert attempt.reply.startswith("HEAD")
    assert attempt.reply.endswith("TAIL")
    assert "7808 characters left out" in attempt.reply
    assert len(attempt.reply) < 1300


def test_no_pattern_of_a_judge_is_in_what_the_optimiser_is_told() -> None:
    one = task(1)
    trials = [trial(one, ("Give a reference number.", False))]
    told = f"{requirements_of([one], trials, describe)} {failures_of([one], trials, 5)}"
    assert "[0-9]" not in told
