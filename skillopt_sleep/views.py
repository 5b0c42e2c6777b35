"""What the use-cases return: the same models for the terminal, for `--json` and for tools.

Every view begins with `summary`: one or two plain sentences for a person.
"""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.llm import Role
from skillopt_sleep.domain.reports import HarvestCounts, MineCounts, NightReport, Proposal, ProposalStatus
from skillopt_sleep.domain.slices import Slice
from skillopt_sleep.domain.verdicts import Decision


class View(Frozen):
    summary: str


class PlannedSkill(Frozen):
    """One skill that a night would work on."""

    skill: str
    target: str
    tasks: dict[Slice, int]
    families: dict[Slice, int]
    expected_calls: int
    most_calls: int
    enough_for_a_verdict: bool
    note: str = ""


class PlanView(View):
    """What a night would do. Making the plan called no model."""

    project: str
    models: dict[Role, str]
    harvest: HarvestCounts
    mined: MineCounts
    skills: tuple[PlannedSkill, ...]
    left_out: dict[str, int]
    """Tasks that no skill would be improved by: reason in words -> count."""
    expected_calls: int
    most_calls: int
    """Upper bound: the sum over skills, or the cap where that is lower."""
    expected_tokens: int
    most_tokens: int
    caps: dict[str, int]
    simulated: bool
    warnings: tuple[str, ...] = ()


class RunView(View):
    """A night that has ended."""

    report: NightReport
    report_path: str
    proposals: tuple[str, ...] = ()


class HarvestView(View):
    project: str
    harvest: HarvestCounts
    mined: MineCounts
    by_skill: dict[str, int]
    """Tasks by skill; "(no skill)" where the sessions used none."""
    tasks_file: str | None = None
    warnings: tuple[str, ...] = ()


class ProposalLine(Frozen):
    id: str
    skill: str
    status: ProposalStatus
    decision: Decision
    target: str
    created_at: AwareDatetime
    explanation: str


class NightLine(Frozen):
    id: str
    status: str
    finished_at: AwareDatetime
    skills: int
    proposals: int
    simulated: bool


class StatusView(View):
    home: str
    project: str
    running: str | None
    """Who holds the night's lock, where a night is under way."""
    waiting: tuple[ProposalLine, ...]
    nights: tuple[NightLine, ...]
    unreadable_nights: int = 0
    """Nights without a readable report: interrupted before they could write one, or damaged."""
    unreadable_proposals: int = 0
    """Proposals that are incomplete or damaged; they are left alone and cannot be adopted."""


class ShowView(View):
    proposal: Proposal
    status: ProposalStatus
    diff: str
    folder: str


class ChangeView(View):
    """A live file was changed, or put back."""

    proposal_id: str
    action: Literal["adopted", "undone", "dismissed"]
    target: str
    sha256: str | None
    """Hash of the live file now; None where it does not exist any more."""
    remembered: tuple[str, ...] = ()
    """Rules that will not be proposed again."""


class SettingLine(Frozen):
    name: str
    value: str
    origin: str


class ConfigView(View):
    user_file: str
    project_file: str
    settings: tuple[SettingLine, ...]


class SkillLine(Frozen):
    name: str
    scope: str
    path: str
    writable: bool


class SkillsView(View):
    skills: tuple[SkillLine, ...]
