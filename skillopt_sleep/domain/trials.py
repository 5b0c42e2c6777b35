"""Attempts at tasks, their scores, and the paired evidence that a gate looks at."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from skillopt_sleep.domain.base import Frozen, UnitInterval
from skillopt_sleep.domain.llm import ToolCall, Usage

Arm = Literal["before", "after"]


class Attempt(Frozen):
    """What an agent made of a task."""

    task_id: str
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    """Tools that were really run, in order."""
    usage: Usage = Usage()
    calls: int = 1
    """Model calls the attempt took."""


class CheckResult(Frozen):
    """One check of a criterion: what was asked, in words, and whether it held."""

    requirement: str
    passed: bool
    reason: str = ""
    """Why, in a grader's words; a rule needs none."""


class Mark(Frozen):
    """A score: `hard` is 1 when everything held and 0 otherwise; `soft` is the share that held."""

    hard: UnitInterval
    soft: UnitInterval


class Score(Frozen):
    """A judge's answer: a mark, or an abstention with its reason. A judge that fails has not scored a 0."""

    judge: str
    """Name and version of the judge ("rules@1")."""
    mark: Mark | None
    abstained: str | None = None
    checks: tuple[CheckResult, ...] = ()

    @model_validator(mode="after")
    def _mark_or_reason(self) -> Score:
        if (self.mark is None) == (self.abstained is None):
            raise ValueError("a score is either a mark or an abstention with a reason")
        return self


class Trial(Frozen):
    """One attempt at one task under one document, or the error that took its place."""

    task_id: str
    family: str
    sample: int
    arm: Arm
    attempt: Attempt | None = None
    score: Score | None = None
    error: str | None = None
    """Why there is no attempt or no score: "code: message"."""

    @property
    def mark(self) -> Mark | None:
        """The mark, or None where the call failed or the judge abstained."""
        return self.score.mark if self.score else None


class Pair(Frozen):
    """Before and after of the same sample of the same task. None marks a missing observation, never a zero."""

    family: str
    task_id: str
    sample: int
    before: Mark | None
    after: Mark | None

    @property
    def complete(self) -> bool:
        return self.before is not None and self.after is not None


class PairedEvidence(Frozen):
    """Everything a gate may look at. Order does not matter; a (task, sample) stands in it once, in one family."""

    pairs: tuple[Pair, ...] = ()

    @model_validator(mode="after")
    def _each_pair_once(self) -> PairedEvidence:
        seen: set[tuple[str, int]] = set()
        for pair in self.pairs:
            key = (pair.task_id, pair.sample)
            if key in seen:
                raise ValueError(f"sample {pair.sample} of task {pair.task_id!r} stands in the evidence twice")
            seen.add(key)
        return self

    @model_validator(mode="after")
    def _one_family_a_task(self) -> PairedEvidence:
        families: dict[str, str] = {}
        for pair in self.pairs:
            if families.setdefault(pair.task_id, pair.family) != pair.family:
                raise ValueError(f"task {pair.task_id!r} stands in two families, and families must be independent")
        return self


Weight = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
