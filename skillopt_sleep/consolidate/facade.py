"""`consolidate(backend, tasks, skill, memory, ...)`: one epoch as a plain synchronous call on texts.

Acceptance here is the research experiment's own rule, "score on the gate tasks strictly higher", because with a
handful of gate tasks no honest test can certify anything. The product gate's verdict stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import anyio

from skillopt_sleep.agents.tool_loop import ToolLoop
from skillopt_sleep.consolidate.bench import EpochOptions
from skillopt_sleep.consolidate.epoch import Epoch, optimise
from skillopt_sleep.domain.errors import UsageError
from skillopt_sleep.domain.events import Event
from skillopt_sleep.domain.ports import Model, Roles
from skillopt_sleep.domain.skills import EditOutcome
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.domain.trials import Arm
from skillopt_sleep.domain.verdicts import GatePolicy, Metric, Verdict
from skillopt_sleep.gate import select_gate_score
from skillopt_sleep.judges import JudgeByCriterion
from skillopt_sleep.replay import summarise
from skillopt_sleep.skilldoc import SkillDoc


class HasModel(Protocol):
    """What the facades need of a backend object."""

    @property
    def model(self) -> Model: ...


@dataclass(frozen=True, slots=True)
class Consolidation:
    """Result of one epoch."""

    accepted: bool
    """Whether the gate score became strictly higher."""
    new_skill: str
    new_memory: str
    """The documents to go on with: the candidate where accepted, else what was given."""
    holdout_baseline: float | None
    holdout_candidate: float | None
    """Gate score of each arm under `gate_metric`, over families; None where nothing was scored."""
    candidate: str | None
    """The changed document, accepted or not; None where nothing was changed."""
    verdict: Verdict | None
    """What the product's gate says of the same evidence; None where nothing reached it."""
    outcomes: tuple[EditOutcome, ...]
    note: str
    """The verdict, or why there is none, in a sentence."""


def consolidate(
    backend: HasModel,
    tasks: Sequence[Task],
    skill: str,
    memory: str = "",
    *,
    edit_budget: int = 4,
    gate_metric: Metric = "mixed",
    evolve_skill: bool = True,
    evolve_memory: bool = False,
    night: int = 0,
) -> Consolidation:
    """One epoch on texts, with the backend's model in every role.

    With `evolve_skill` the skill is edited, else with `evolve_memory` the memory. `night` numbers the epoch, so that a
    repeated night asks the optimiser anew. Raises `UsageError` when nothing is to be edited.
    """
    if not evolve_skill and not evolve_memory:
        raise UsageError("Nothing to consolidate: neither the skill nor the memory may be edited.")

    async def run() -> Consolidation:
        return await consolidate_async(
            backend.model,
            backend.model,
            tasks,
            skill,
            memory,
            edit_budget=edit_budget,
            gate_metric=gate_metric,
            evolve="skill" if evolve_skill else "memory",
            night=night,
        )

    return anyio.run(run)


async def consolidate_async(
    model: Model,
    optimizer: Model,
    tasks: Sequence[Task],
    skill: str,
    memory: str = "",
    *,
    edit_budget: int,
    gate_metric: Metric,
    evolve: Literal["skill", "memory"] = "skill",
    night: int = 0,
    samples: int = 1,
) -> Consolidation:
    """`consolidate` for callers that run several at once, with a separate optimiser."""
    edited, context = (skill, memory) if evolve == "skill" else (memory, skill)
    doc = SkillDoc.parse(edited.encode("utf-8"), path=Path("SKILL.md" if evolve == "skill" else "CLAUDE.md"))
    epoch = await optimise(
        evolve,
        doc,
        tasks,
        Roles(agent=ToolLoop(model, memory=context), optimizer=optimizer, judge=JudgeByCriterion()),
        EpochOptions(
            policy=GatePolicy(metric=gate_metric, samples=samples),
            edit_budget=edit_budget,
            candidates=1,
            measure_test=False,
            one_look=True,
            first_proposal=night,
        ),
        events=_ignore,
    )
    before, after = _gate_score(epoch, "before", gate_metric), _gate_score(epoch, "after", gate_metric)
    accepted = before is not None and after is not None and after > before
    changed = epoch.candidate.doc.data.decode("utf-8") if epoch.candidate and epoch.candidate.changes else None
    kept = changed if accepted and changed is not None else edited
    return Consolidation(
        accepted=accepted,
        new_skill=kept if evolve == "skill" else skill,
        new_memory=kept if evolve == "memory" else memory,
        holdout_baseline=before,
        holdout_candidate=after,
        candidate=changed,
        verdict=epoch.verdict,
        outcomes=epoch.candidate.outcomes if epoch.candidate else (),
        note=epoch.verdict.explanation if epoch.verdict else epoch.stopped or "",
    )


def _gate_score(epoch: Epoch, arm: Arm, metric: Metric) -> float | None:
    means = summarise([trial for trial in epoch.gate_trials if trial.arm == arm])
    return None if means is None else select_gate_score(*means, metric)


def _ignore(_: Event) -> None:
    """The facade reports through its result alone."""
