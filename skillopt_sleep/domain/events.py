"""What happens during a night, as data. Surfaces turn events into progress; the journal keeps them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.llm import Role
from skillopt_sleep.domain.sessions import LineSkipReason, SkipReason
from skillopt_sleep.domain.trials import Arm
from skillopt_sleep.domain.verdicts import Decision

Phase = Literal["harvest", "mine", "replay", "reflect", "gate", "test", "stage"]


class PhaseStarted(Frozen):
    kind: Literal["phase_started"] = "phase_started"
    phase: Phase
    skill: str | None = None
    total: int | None = None
    """How many steps the phase has, where that is known beforehand."""


class PhaseFinished(Frozen):
    kind: Literal["phase_finished"] = "phase_finished"
    phase: Phase
    skill: str | None = None
    detail: str = ""
    """What came of it, in a few words ("12 sessions, 3 skipped")."""


class SessionFound(Frozen):
    kind: Literal["session_found"] = "session_found"
    source: str
    path: str
    kept: bool = False
    """The file is gone; the session comes from its digest."""
    soon_deleted: bool = False
    """The client deletes the file within days."""


class SessionSkipped(Frozen):
    kind: Literal["session_skipped"] = "session_skipped"
    source: str
    path: str
    reason: SkipReason


class LinesSkipped(Frozen):
    kind: Literal["lines_skipped"] = "lines_skipped"
    source: str
    path: str
    reason: LineSkipReason
    count: int


class NightBegan(Frozen):
    """The night has a folder, and whoever pays has agreed to it."""

    kind: Literal["night_began"] = "night_began"
    night: str
    """Its id: the name of its folder, and of its account of spending."""
    expected_calls: int
    most_calls: int


class TrialFinished(Frozen):
    kind: Literal["trial_finished"] = "trial_finished"
    skill: str
    task_id: str
    arm: Arm
    sample: int
    passed: bool | None
    """None: no score (a failed call or an abstaining judge)."""


class CallFinished(Frozen):
    """One model call ended, well or badly. Times are seconds on the monotonic clock of the process."""

    kind: Literal["call_finished"] = "call_finished"
    role: Role
    model: str
    started: float
    ended: float
    tokens: int
    outcome: Literal["ok", "cached", "failed"]
    error: str | None = None


class LookTaken(Frozen):
    """The gate looked at the evidence so far."""

    kind: Literal["look_taken"] = "look_taken"
    skill: str
    look: int
    pairs: int
    """Pairs gathered so far, those without two scores included."""
    planned: int
    """Pairs that the full budget holds."""
    settled: bool
    """Whether this look decided, so that the rest of the budget is saved."""


class VerdictReached(Frozen):
    kind: Literal["verdict_reached"] = "verdict_reached"
    skill: str
    decision: Decision
    explanation: str


class Warned(Frozen):
    """Something a person should know that stops nothing."""

    kind: Literal["warned"] = "warned"
    message: str


Event = Annotated[
    PhaseStarted
    | PhaseFinished
    | SessionFound
    | SessionSkipped
    | LinesSkipped
    | NightBegan
    | TrialFinished
    | CallFinished
    | LookTaken
    | VerdictReached
    | Warned,
    Field(discriminator="kind"),
]
