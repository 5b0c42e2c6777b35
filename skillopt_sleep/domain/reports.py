"""What a night leaves behind: proposals and the night's report. These are also what `--json` and MCP return."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.llm import Role
from skillopt_sleep.domain.sessions import LineSkipReason, SkipReason
from skillopt_sleep.domain.skills import EditOutcome
from skillopt_sleep.domain.slices import Slice
from skillopt_sleep.domain.verdicts import Decision, Verdict

ProposalStatus = Literal["staged", "adopted", "undone", "dismissed", "superseded"]
"""`superseded`: a later night proposed something else for the same file."""


class TaskEvidence(Frozen):
    """One task before and after, for a person to look at. Counts are over samples that have a score."""

    task_id: str
    family: str
    prompt: str
    passed_before: int
    passed_after: int
    samples: int
    missing: int = 0
    example_before: str = ""
    """A reply, clipped, that shows the difference."""
    example_after: str = ""
    unmet_before: tuple[str, ...] = ()
    """Requirements that failed at least once before, in words."""
    unmet_after: tuple[str, ...] = ()


class SliceResult(Frozen):
    """Mean hard score on one slice before and after, over families, with the 90 % interval of the difference."""

    slice: Slice
    families: int
    before: float | None
    after: float | None
    interval: tuple[float, float] | None = None
    missing_pairs: int = 0


class Proposal(Frozen):
    """A changed skill, waiting for a person. The documents themselves lie beside it, byte for byte."""

    schema_version: Literal[1] = 1
    id: str
    night_id: str
    project: str
    skill: str
    target: str
    """Absolute path of the live file."""
    before_sha256: str | None
    """None: the file does not exist yet, and adopting creates it."""
    after_sha256: str
    created_at: AwareDatetime
    outcomes: tuple[EditOutcome, ...]
    verdict: Verdict
    test: SliceResult | None = None
    evidence: tuple[TaskEvidence, ...] = ()
    simulated: bool = False
    models: dict[Role, str] = {}


class RoleSpend(Frozen):
    """What one role used. `usd` is None where no price is known; simulated models cost nothing."""

    role: Role
    model: str
    calls: int = 0
    cached: int = 0
    failed: int = 0
    tokens: int = 0
    output_tokens: int = 0
    """The part of the tokens that was written by the model."""
    usd: float | None = None
    unsettled_tokens: int = 0
    unsettled_usd: float = 0.0
    """At most so much more for calls that broke off: nobody said whether they were billed. Caps count it."""


class SkillResult(Frozen):
    """One skill in one night."""

    skill: str
    target: str
    families: dict[Slice, int]
    tasks: int
    verdict: Verdict | None
    """None where the skill never reached the gate; `stopped` says why."""
    test: SliceResult | None = None
    train_before: float | None = None
    outcomes: tuple[EditOutcome, ...] = ()
    proposal_id: str | None = None
    calls: int = 0
    tokens: int = 0
    usd: float | None = None
    """Money spent on this skill; None where a price is not known."""
    stopped: str | None = None


class HarvestCounts(Frozen):
    sessions: int = 0
    files: int = 0
    kept: int = 0
    """Sessions whose transcript is gone and whose digest was kept."""
    soon_deleted: int = 0
    """Harvested transcripts that the client will delete within days."""
    skipped: dict[SkipReason, int] = {}
    skipped_lines: dict[LineSkipReason, int] = {}
    masked: dict[str, int] = {}


class MineCounts(Frozen):
    """What mining made of the sessions."""

    prompts: int = 0
    groups: int = 0
    families: int = 0
    tasks: int = 0
    dropped: dict[str, int] = {}
    """Why prompts did not become tasks: reason in words -> count."""


NightStatus = Literal["finished", "stopped", "interrupted"]


class NightReport(Frozen):
    schema_version: Literal[1] = 1
    id: str
    project: str
    status: NightStatus
    started_at: AwareDatetime
    finished_at: AwareDatetime
    harvest: HarvestCounts = HarvestCounts()
    mined: MineCounts = MineCounts()
    skills: tuple[SkillResult, ...] = ()
    spend: tuple[RoleSpend, ...] = ()
    masked: dict[str, int] = {}
    """Secrets masked on their way to a model and back, each text once; `harvest.masked` are those of what was read."""
    simulated: bool = False
    """Whether any figure rests on the simulated model. Surfaces must say so."""
    warnings: tuple[str, ...] = ()
    stopped: str | None = None
    """Why the night ended early, in a sentence."""

    @property
    def decisions(self) -> tuple[Decision, ...]:
        return tuple(result.verdict.decision for result in self.skills if result.verdict)


LedgerKind = Literal["night_finished", "staged", "adopting", "adopted", "undoing", "undone", "dismissed", "superseded"]


class LedgerEntry(Frozen):
    """One line of a project's append-only history."""

    schema_version: Literal[1] = 1
    kind: LedgerKind
    at: AwareDatetime
    night_id: str | None = None
    proposal_id: str | None = None
    detail: Annotated[str, Field(max_length=2000)] = ""
    sha256: str | None = None
    """Of a staged proposal's manifest: what is adopted later must still be what was staged."""
    created: tuple[str, ...] = ()
    """Folders that adopting makes, innermost first; undo removes them if nothing else has been put there."""
