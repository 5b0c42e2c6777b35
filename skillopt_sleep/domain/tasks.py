"""Tasks: what is replayed, and how a reply to it is judged."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.checks import Author, Check
from skillopt_sleep.domain.slices import Slice

_BULLET = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s+")


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
    text: Annotated[str, Field(min_length=1, pattern=r"\S")]
    """One criterion, or a Markdown list with one criterion an item."""
    threshold: Annotated[float, Field(gt=0.0, le=1.0)] = 0.7
    reference: str | None = None
    """A good reply, or what it holds: for the grader alone. An optimiser would learn that one answer by heart."""
    author: Author = "person"

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria one by one: the items of the list that the text is, or the text itself."""
        lines = [line for line in self.text.splitlines() if line.strip()]
        items = [_BULLET.sub("", line, count=1).strip() for line in lines]
        if all(items) and all(map(_BULLET.match, lines)):
            return tuple(items)
        return (self.text.strip(),)


_REQUIREMENT_CHARS = 600
"""Longest criterion of a rubric that is shown as a requirement: it may become a rule, and rules are short."""


def as_requirement(criterion: str) -> str:
    """A criterion of a rubric as reports show it and as an optimiser may be told it."""
    text = " ".join(criterion.split())
    return text if len(text) <= _REQUIREMENT_CHARS else text[:_REQUIREMENT_CHARS].rsplit(" ", 1)[0] + " [...]"


Criterion = Annotated[Rules | Exact | Rubric, Field(discriminator="kind")]

TaskOrigin = Literal["session", "file", "gbrain", "evals"]
"""Mined from sessions, a person's own file, the gbrain layout, or the evals that lie beside a skill."""


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
    said: tuple[str, ...] = ()
    """Corrections that the person typed after such a request; kept for training tasks only. They are no material for
    an optimiser, but evidence of what the person allows: a rule may hold a command only if a person has typed it."""
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
        match self.criterion:
            case Rules(checks=checks):
                return all(check.author == "model" for check in checks)
            case Rubric(author=author):
                return author == "model"
        return False
