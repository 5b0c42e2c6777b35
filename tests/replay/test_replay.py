from collections.abc import Callable

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from skillopt_sleep.domain.checks import Contains, ToolCalled
from skillopt_sleep.domain.errors import BudgetExhausted, ModelAuthError, ModelUnavailable, SleepError, UsageError
from skillopt_sleep.domain.llm import Prompt, Reply
from skillopt_sleep.domain.ports import Judge
from skillopt_sleep.domain.tasks import Criterion, Rubric, Rules, Task, Tool
from skillopt_sleep.domain.trials import Arm, Attempt, Mark, Score, Trial
from skillopt_sleep.judges import JudgeByCriterion
from skillopt_sleep.replay import aggregate_scores, pair_up, replay_batch, run_trials, summarise
from tests.agents.fakes import ListedModel, calls, says

pytestmark = pytest.mark.anyio

GOOD = Rules(checks=(Contains(arg="good"),))


def _task(name: str, family: str = "", criterion: Criterion = GOOD) -> Task:
    return Task(
        id=name, prompt=name, criterion=criterion, group="g", family=family or name, slice="gate", origin="file"
    )


class Scripted:
    """An agent that does what a function says, after as many turns of the event loop as another one says."""

    def __init__(
        self, act: Callable[[Task, int], str] = lambda *_: "good", turns: Callable[[Task, int], int] = lambda *_: 0
    ) -> None:
        self._act, self._turns = act, turns
        self.started: list[tuple[str, int]] = []
        self.open = self.most_open = 0

    @property
    def id(self) -> str:
        return "scripted"

    async def attempt(self, task: Task, skill: str, *, sample: int) -> Attempt:
        self.started.append((task.id, sample))
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            for _ in range(self._turns(task, sample)):
                await anyio.lowlevel.checkpoint()
            return Attempt(task_id=task.id, text=f"{skill} {self._act(task, sample)}")
        finally:
            self.open -= 1


async def _replay(
    agent: Scripted,
    tasks: list[Task],
    *,
    samples: int = 1,
    width: int = 64,
    on_trial: Callable[[Trial], None] = lambda _: None,
    judge: Judge | None = None,
) -> tuple[Trial, ...]:
    judge = judge or JudgeByCriterion()
    return await run_trials(agent, judge, "doc", tasks, arm="after", samples=samples, on_trial=on_trial, width=width)


@settings(max_examples=25, deadline=None)
@given(st.data(), st.integers(1, 5), st.integers(1, 3), st.integers(1, 8))
def test_results_come_by_task_and_sample_whoever_finishes_first(
    data: st.DataObject, tasks: int, samples: int, width: int
) -> None:
    turns = data.draw(st.lists(st.integers(0, 6), min_size=tasks * samples, max_size=tasks * samples))
    agent = Scripted(turns=lambda task, sample: turns[int(task.id) * samples + sample])
    reported: list[Trial] = []

    async def go() -> tuple[Trial, ...]:
        return await _replay(
            agent, [_task(str(n)) for n in range(tasks)], samples=samples, width=width, on_trial=reported.append
        )

    trials = anyio.run(go)
    assert [(trial.task_id, trial.sample) for trial in trials] == [
        (str(task), sample) for task in range(tasks) for sample in range(samples)
    ]
    assert sorted(reported, key=lambda trial: (int(trial.task_id), trial.sample)) == list(trials)
    assert agent.most_open <= width
    assert [sample for _, sample in agent.started] == sorted(sample for _, sample in agent.started)


async def test_attempts_overlap_up_to_the_width() -> None:
    agent = Scripted(turns=lambda *_: 5)
    await _replay(agent, [_task(str(n)) for n in range(10)], width=4)
    assert agent.most_open == 4


async def test_a_failed_call_is_a_trial_with_an_error_and_no_score() -> None:
    def act(task: Task, sample: int) -> str:
        if task.id == "b":
            raise ModelUnavailable("The service is down.", retry="transient")
        return "good"

    a, b, c = await _replay(Scripted(act), [_task("a"), _task("b"), _task("c")])
    assert (b.error, b.attempt, b.score, b.mark) == ("model_unavailable: The service is down.", None, None, None)
    assert [trial.mark for trial in (a, c)] == [Mark(hard=1, soft=1)] * 2
    assert (a.arm, a.family, a.attempt and a.attempt.text) == ("after", "a", "doc good")


class DownJudge:
    @property
    def version(self) -> str:
        return "down@1"

    async def score(self, task: Task, attempt: Attempt) -> Score:
        raise ModelUnavailable("The grader is down.")


async def test_a_failing_judge_keeps_the_attempt_and_scores_nothing() -> None:
    (trial,) = await _replay(Scripted(), [_task("a")], judge=DownJudge())
    assert trial.attempt is not None
    assert (trial.score, trial.error) == (None, "model_unavailable: The grader is down.")


async def test_an_abstention_is_no_error_and_no_score() -> None:
    (trial,) = await _replay(Scripted(), [_task("a", criterion=Rubric(text="Is kind."))])
    assert (trial.error, trial.mark, trial.score and trial.score.abstained) == (None, None, "needs a grader model")


async def test_a_task_that_cannot_be_judged_offline_costs_no_call() -> None:
    agent = Scripted()
    task = _task("a").model_copy(update={"not_evaluable": "needs a repository"})
    (trial,) = await _replay(agent, [task])
    assert (agent.started, trial.error) == ([], "not_evaluable: needs a repository")


@pytest.mark.parametrize("error", [ModelAuthError("Not logged in."), BudgetExhausted("Cap reached."), KeyError("bug")])
async def test_what_stops_everything_arrives_plain_and_after_the_finished_trials(error: Exception) -> None:
    def act(task: Task, sample: int) -> str:
        if task.id != "0":
            raise error
        return "good"

    agent = Scripted(act, turns=lambda task, _: 3 * int(task.id))
    reported: list[Trial] = []
    with pytest.raises(type(error)) as caught:
        await _replay(agent, [_task(str(n)) for n in range(5)], on_trial=reported.append, width=3)
    assert caught.value is error
    assert [trial.task_id for trial in reported] == ["0"]
    assert len(agent.started) < 5
    assert agent.open == 0


async def test_a_replay_can_be_cancelled_between_replies_that_need_no_waiting() -> None:
    agent, reported = Scripted(), list[Trial]()
    with anyio.CancelScope() as scope:

        def stop_after_three(trial: Trial) -> None:
            reported.append(trial)
            if len(reported) == 3:
                scope.cancel()

        await _replay(agent, [_task(str(n)) for n in range(100)], on_trial=stop_after_three, width=1)
    assert scope.cancelled_caught
    assert len(reported) == 3


async def test_nothing_to_replay_gives_nothing_and_no_samples_is_an_error() -> None:
    assert await _replay(Scripted(), []) == ()
    with pytest.raises(UsageError):
        await _replay(Scripted(), [_task("a")], samples=0)


def _trial(task: str, sample: int, hard: float | None, *, family: str = "", arm: Arm = "before") -> Trial:
    score = None if hard is None else Score(judge="j@1", mark=Mark(hard=hard, soft=(1 + hard) / 2))
    error = "model_unavailable: down" if hard is None else None
    return Trial(task_id=task, family=family or task, sample=sample, arm=arm, score=score, error=error)


def test_pairs_are_formed_by_task_and_sample_and_extra_samples_left_out() -> None:
    before = [_trial("a", 0, 0.0), _trial("a", 1, 1.0), _trial("b", 0, 0.0)]
    after = [_trial("b", 0, None, arm="after"), _trial("a", 0, 1.0, arm="after"), _trial("c", 0, 1.0, arm="after")]
    pairs = pair_up(before, after).pairs
    assert [(pair.task_id, pair.sample, pair.complete) for pair in pairs] == [("a", 0, True), ("b", 0, False)]
    assert pairs[0].before == Mark(hard=0, soft=0.5)
    assert pairs[0].after == Mark(hard=1, soft=1)
    assert pairs[1].after is None


def test_a_large_family_weighs_no_more_than_a_small_one_and_missing_is_not_zero() -> None:
    trials = [
        _trial("a", 0, 1.0, family="big"),
        _trial("a", 1, 1.0, family="big"),
        _trial("a", 2, 1.0, family="big"),
        _trial("b", 0, 0.0, family="big"),
        _trial("c", 0, 0.0, family="small"),
        _trial("c", 1, None, family="small"),
    ]
    assert summarise(trials) == (0.25, 0.625)
    assert summarise([_trial("c", 0, None)]) is None


class Backend:
    def __init__(self, model: ListedModel) -> None:
        self.model = model


def test_the_facade_replays_and_aggregates_with_real_tools() -> None:
    notes = {"Otters": "They hold hands."}
    tools = (Tool(name="search", description="Look.", notes=notes),)
    looked = _task("a", criterion=Rules(checks=(ToolCalled(arg="search"), Contains(arg="good"))))
    model = ListedModel([calls("search", query="otters"), says("good")])
    pairs = replay_batch(Backend(model), [looked.model_copy(update={"tools": tools})], "skill", "memory")
    assert [(task.id, trial.mark) for task, trial in pairs] == [("a", Mark(hard=1, soft=1))]
    assert "skill" in model.prompts[0].system
    assert "memory" in model.prompts[0].system
    assert aggregate_scores(pairs) == (1.0, 1.0)


class Flaky:
    """Answers "good" and "bad" by the prompt, and is down for one."""

    id = "flaky"

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        wanted = prompt.messages[0].text
        if wanted == "down":
            raise ModelUnavailable("The service is down.")
        return Reply(text=wanted, model="flaky")


class FlakyBackend:
    model = Flaky()


def test_a_failed_call_does_not_pull_the_aggregate_down() -> None:
    pairs = replay_batch(FlakyBackend(), [_task("good"), _task("down"), _task("bad")], "", "")
    assert aggregate_scores(pairs) == (0.5, 0.5)


def test_no_score_at_all_is_an_error_and_never_zero() -> None:
    pairs = replay_batch(FlakyBackend(), [_task("down")], "", "")
    with pytest.raises(SleepError, match=r"None of 1 trials has a score.*The service is down"):
        aggregate_scores(pairs)
    with pytest.raises(SleepError, match="nothing to replay"):
        aggregate_scores([])
