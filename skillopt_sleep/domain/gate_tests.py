"""A test that the gate has begun: what has to be kept so that it can be continued, and never be repeated."""

from __future__ import annotations

from typing import Literal, Protocol

from skillopt_sleep.domain.base import Frozen, short_hash
from skillopt_sleep.domain.trials import Pair
from skillopt_sleep.domain.verdicts import GatePolicy, Verdict


class Question(Frozen):
    """What a test asks: is this document better than that one, for this agent, by this judge and this score?

    One question is tested once. Asking with another metric, or of another model, is another question.
    """

    skill: str
    before_sha256: str | None
    after_sha256: str
    agent: str
    judge: str
    metric: str

    @property
    def id(self) -> str:
        return short_hash(self.model_dump_json(), 16)


class GateTest(Frozen):
    """One question, tested on certain families.

    All that decides how the test goes on is fixed at its first look: the families and their tasks, the policy with its
    level and number of samples, the seed. The pairs are kept in the order in which they were looked at, so that a test
    which a night could not finish goes on exactly where it stopped, with what it has not spent.
    """

    schema_version: Literal[1] = 1
    question: Question
    families: dict[str, tuple[str, ...]]
    """Family -> ids of its tasks."""
    policy: GatePolicy
    """Its `alpha` is the level of this one test."""
    seed: int
    number: int
    """Which test on these families this is."""
    pairs: tuple[Pair, ...] = ()
    looks: int = 0
    verdict: Verdict | None = None
    """None while the test is unfinished."""

    @property
    def id(self) -> str:
        """The same question on other families is another test."""
        return short_hash(f"{self.question.id}/{sorted(self.families)}", 16)


class GateTests(Protocol):
    """Where tests are kept over nights."""

    def all(self) -> tuple[GateTest, ...]:
        """Every test so far, oldest first."""
        ...

    def save(self, test: GateTest) -> None:
        """Keep a test, in place of what was kept of it before. On the disk when it returns."""
        ...


class NoGateTests:
    """For callers that keep no account: every test is the first."""

    def all(self) -> tuple[GateTest, ...]:
        return ()

    def save(self, test: GateTest) -> None:
        """Forget it."""
