from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
import pytest

from skillopt_sleep.domain.checks import Contains
from skillopt_sleep.domain.errors import ModelAuthError, ModelUnavailable, NothingToDo, SleepError
from skillopt_sleep.domain.health import Noise
from skillopt_sleep.domain.tasks import Rules, Task
from skillopt_sleep.domain.trials import Attempt, Mark, Score
from skillopt_sleep.domain.verdicts import GatePolicy
from skillopt_sleep.noise import measure_noise, samples_for


@dataclass
class Coin:
    """An agent that passes with a given probability, or fails to answer."""

    passes: float
    fails: SleepError | None = None
    rng: random.Random = field(default_factory=lambda: random.Random(3))
    id: str = "coin"

    async def attempt(self, task: Task, skill: str, *, sample: int) -> Attempt:
        if self.fails and sample == 0:
            raise self.fails
        return Attempt(task_id=task.id, text="yes" if self.rng.random() < self.passes else "no")


@dataclass
class Moody:
    """A judge that says how a reply looks to it at the moment."""

    mood: Callable[[str], float]
    version: str = "moody@1"

    async def score(self, task: Task, attempt: Attempt) -> Score:
        value = self.mood(attempt.text)
        return Score(judge=self.version, mark=Mark(hard=value, soft=value))


def tasks(count: int) -> list[Task]:
    return [
        Task(
            id=f"t{n}",
            prompt="Say yes.",
            criterion=Rules(checks=(Contains(arg="yes"),)),
            group="g",
            family=f"f{n}",
            slice="gate",
            origin="file",
        )
        for n in range(count)
    ]


def strict(text: str) -> float:
    return float(text == "yes")


def noise(agent: Coin, judge: Moody | None = None, count: int = 12) -> Noise:
    async def run() -> Noise:
        return await measure_noise(agent, judge or Moody(strict), "a skill", tasks(count), GatePolicy())

    return anyio.run(run)


def test_a_model_that_always_does_the_same_has_no_noise_and_needs_one_sample() -> None:
    found = noise(Coin(1.0))
    assert (found.flip_rate, found.judge_flips, found.suggested_samples) == (0.0, 0, 1)
    assert found.flip_interval[0] == 0.0
    assert found.flip_interval[1] < 0.15
    assert "0% of 24 pairs" in found.summary


def test_a_coin_flips_half_of_the_time_and_calls_for_many_samples() -> None:
    found = noise(Coin(0.5), count=60)
    assert found.flip_rate == pytest.approx(0.5, abs=0.12)
    assert found.suggested_samples == 5
    assert found.verdict.decision != "accept"


def test_a_judge_that_changes_its_mind_is_told_from_a_model_that_does() -> None:
    moods = iter(n % 2 for n in range(1000))
    found = noise(Coin(1.0), Moody(lambda _: float(next(moods))))
    assert found.judged_twice == 48
    assert found.judge_flips > 12
    assert noise(Coin(0.5)).judge_flips == 0


def test_an_outage_is_a_missing_pair_and_no_difference() -> None:
    found = noise(Coin(1.0, ModelUnavailable("down")))
    assert (found.flip_rate, found.pairs, found.missing_pairs) == (0.0, 12, 12)


def test_nothing_scored_says_so_and_suggests_nothing() -> None:
    @dataclass
    class Down(Coin):
        async def attempt(self, task: Task, skill: str, *, sample: int) -> Attempt:
            raise ModelUnavailable("down")

    found = noise(Down(1.0))
    assert (found.flip_rate, found.suggested_samples, found.flip_interval) == (None, None, (0.0, 1.0))
    assert "nothing is known" in found.summary


def test_a_refused_login_stops_it_and_no_tasks_are_nothing_to_do() -> None:
    with pytest.raises(ModelAuthError):
        noise(Coin(1.0, ModelAuthError("Not logged in.")))
    with pytest.raises(NothingToDo):
        noise(Coin(1.0), count=0)


@pytest.mark.parametrize(("rate", "effect", "samples"), [(0.0, 0.3, 1), (0.18, 0.3, 2), (0.27, 0.3, 3), (0.5, 0.1, 5)])
def test_samples_grow_with_the_noise_and_with_how_small_a_gain_is_wanted(
    rate: float, effect: float, samples: int
) -> None:
    assert samples_for(rate, effect) == samples
