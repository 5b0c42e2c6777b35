"""Tasks: what is replayed, and how a reply to it is judged."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.checks import Check
from skillopt_sleep.domain.slices import Slice


class Rules(Frozen):
    """Programmatic checks; the task passes when all of them do."""

    kind: Literal["rule"] = "rule"
    checks: Annotated[tuple[Check, ...], Field(min_length=1)]


class Exact(Frozen):
    """The reply, trimmed, equals `answer`, trimmed."""

    kind: Literal["exact"] = "exact"
    answer: str


class Rubric(Frozen):
    """A description of a good reply that a grader model scores in [0, 1]; `threshold` and above counts as passed."""

    kind: Literal["rubric"] = "rubric"
    text: Annotated[str, Field(min_length=1)]
    threshold: Annotated[float, Field(gt=0.0, le=1.0)] = 0.7


Criterion = Annotated[Rules | Exact | Rubric, Field(discriminator="kind")]

TaskOrigin = Literal["session", "file", "gbrain"]


class Tool(Frozen):
    """A tool a task may use, run for real in the replay. `search` looks through the notes of the task's data set."""

    name: str
    description: str
    parameter: str = "query"
    """The single string argument the tool takes."""
    notes: dict[str, str] = {}
    """What the tool looks through: title -> text."""


class Task(Frozen):
    """One concrete request with a way to judge a reply to it."""

    schema_version: Literal[1] = 1
    id: str
    prompt: str
    criterion: Criterion
    group: str
    """The recurring intent this belongs to ("write a commit message"); house rules and reports use groups."""
    family: str
    """The rewordings of one concrete request; splitting and statistics use families."""
    slice: Slice
    skill: str | None = None
    """Name of the skill that the source sessions used, where they used one."""
    origin: TaskOrigin
    anchor: bool = False
    """Whether a person pinned it: an edit under which it gets worse at all is not accepted."""
    tools: tuple[Tool, ...] = ()
    not_evaluable: str | None = None
    """Why an offline replay cannot judge this task (it needs a repository, a running service, ...); None if it can."""

    @property
    def split(self) -> Literal["train", "val", "test"]:
        """The slice under the name that the research code uses: the gate slice is its "val"."""
        return "val" if self.slice == "gate" else self.slice

    @property
    def shape_only(self) -> bool:
        """Whether every check constrains only the form of a reply."""
        return isinstance(self.criterion, Rules) and all(check.shape_only for check in self.criterion.checks)

    @property
    def model_authored(self) -> bool:
        """Whether no person stated any part of the criterion."""
        return isinstance(self.criterion, Rules) and all(c.author == "model" for c in self.criterion.checks)
