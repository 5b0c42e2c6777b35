"""The story of one night.

    harvest past sessions -> mine recurring tasks -> replay them offline -> reflect on failures
      -> bounded edits -> held-out gate -> stage for review

Nothing live changes here: a night ends with proposals that wait for a person.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

import anyio

from skillopt_sleep.consolidate import Epoch, EpochOptions, optimise
from skillopt_sleep.consolidate.evidence import proposal_of, skill_result
from skillopt_sleep.domain.aio import one_error
from skillopt_sleep.domain.errors import ConflictError, InputError, SleepError
from skillopt_sleep.domain.events import Warned
from skillopt_sleep.domain.gate_tests import GateTests
from skillopt_sleep.domain.llm import Role
from skillopt_sleep.domain.ports import Roles
from skillopt_sleep.domain.reports import NightReport, NightStatus, RoleSpend, SkillResult
from skillopt_sleep.staging import stage, waiting_twin
from skillopt_sleep.store import Found, Memory, NightJournal, ProjectFolder, Relay
from skillopt_sleep.workload import SkillWork, Workload


@dataclass(frozen=True, slots=True)
class Crew:
    """Who works through a night, and under which rules."""

    roles: Roles
    memory_roles: Roles
    """The same for memory files, which an agent reads in another place than a skill."""
    models: dict[Role, str]
    simulated: bool
    options: EpochOptions
    gate_tests: GateTests
    max_calls: int
    minutes: float | None
    """How long the night may last; None: as long as it takes."""
    spend: Callable[[], tuple[RoleSpend, ...]]
    masked: Callable[[], dict[str, int]]
    events: Relay
    clock: Callable[[], datetime]


Mining = Callable[[], Awaitable[Workload]]
"""Asks a model what there is to work on."""


async def run_night(
    work: Workload,
    memory: Memory,
    crew: Crew,
    project: ProjectFolder,
    journal: NightJournal,
    *,
    mining: Mining | None = None,
) -> NightReport:
    """One night over a workload, written down in `journal`. Returns its report, which already lies in its folder.

    With `mining`, a model reads the sessions first, and the night goes over what it finds.

    There is always a report: a refused key, an exhausted cap or an interruption ends the night early, what was judged
    until then is kept, and the report says why it is not more.
    """
    for name in _unknown_anchors(work, crew.options.anchors):
        crew.events(
            Warned(message=f"No task and no family of this night is called {name!r}, so nothing is pinned by it.")
        )
    crew.events.attach(journal)
    settled = journal.results()  # by a night that was killed and goes on here
    night = _Night(work, memory, crew, project, journal, mining, started=crew.clock(), results=settled)
    return await night.work_through()


@dataclass(slots=True)
class _Night:
    """A night that has begun."""

    work: Workload
    memory: Memory
    crew: Crew
    project: ProjectFolder
    journal: NightJournal
    mining: Mining | None
    started: datetime
    results: dict[str, SkillResult]

    async def work_through(self) -> NightReport:
        """All skills side by side, then the report, whatever happened on the way."""
        status: NightStatus = "interrupted"  # until the contrary is known: whatever strikes now, the report says so
        stopped: str | None = "The night was interrupted."
        try:
            with anyio.fail_after(None if self.crew.minutes is None else self.crew.minutes * 60):
                if self.mining:
                    self.work = await self.mining()
                self.journal.found(Found(harvest=self.work.harvest, mined=self.work.mined, tasks=self.work.tasks))
                async with one_error(anyio.create_task_group()) as group:
                    for item in self.work.skills:
                        if item.name not in self.results:
                            group.start_soon(self._improve, item)
            status, stopped = "finished", None
            if self._every_call_failed():
                status, stopped = "stopped", "Every model call failed, so nothing was judged."
        except SleepError as error:
            status, stopped = "stopped", str(error)
        except TimeoutError:
            status, stopped = "stopped", f"The night's {self.crew.minutes:g} minutes were over (--max-minutes)."
        finally:
            report = self._report(status, stopped)
            self.journal.finish(report)
        return report

    def _every_call_failed(self) -> bool:
        spend = self.crew.spend()
        return any(row.failed for row in spend) and all(row.calls == row.failed and not row.cached for row in spend)

    async def _improve(self, item: SkillWork) -> None:
        """One skill. If it cannot be worked on, that does not hold up the others."""
        try:
            epoch = await optimise(  # replay, reflect, edit, choose on the training tasks, confirm on the gate tasks
                item.name,
                item.doc,
                item.tasks,
                self.crew.memory_roles if item.file.is_memory else self.crew.roles,
                self.crew.options,
                tests=self.crew.gate_tests,
                turned_down=self.memory.turned_down(item.name, of_project=item.file.of_project),
                events=self.crew.events,
                on_trial=self.journal.trial,
            )
            self.results[item.name] = settled = self._settle(item, epoch)
            self.journal.result(settled)
        except (InputError, ConflictError) as error:
            self.crew.events(Warned(message=f"{item.name}: {error.message}"))
            self.results[item.name] = _untouched(item, error.message)

    def _settle(self, item: SkillWork, epoch: Epoch) -> SkillResult:
        """What the gate refused is remembered; what it accepted, or could not settle, waits for a person."""
        result = skill_result(epoch, item.tasks, families=item.families, target=item.file.path)
        if epoch.verdict is None or epoch.candidate is None:
            return result
        if epoch.verdict.decision == "reject":
            self.memory.turn_down(item.name, epoch.candidate.new_rules, reason="rejected", at=self.crew.clock())
            return result
        proposal = proposal_of(
            epoch,
            item.tasks,
            target=item.file.path,
            night_id=self.journal.id,
            project=self.project.root,
            created_at=self.crew.clock(),
            models=self.crew.models,
            simulated=self.crew.simulated,
        )
        if twin := waiting_twin(self.project, proposal):  # the same change waits already, from an earlier night
            return result.model_copy(update={"proposal_id": twin.id})
        stage(self.project, proposal, item.doc.data if item.doc.exists else None, epoch.candidate.doc.data)
        return result.model_copy(update={"proposal_id": proposal.id})

    def _report(self, status: NightStatus, stopped: str | None) -> NightReport:
        return NightReport(
            id=self.journal.id,
            project=str(self.project.root),
            status=status,
            started_at=self.started,
            finished_at=self.crew.clock(),
            harvest=self.work.harvest,
            mined=self.work.mined,
            skills=tuple(
                self.results.get(item.name) or _untouched(item, stopped or "it stopped before its turn")
                for item in self.work.skills
            ),
            spend=self.crew.spend(),
            masked=self.crew.masked(),
            simulated=self.crew.simulated,
            stopped=stopped,
        )


def _unknown_anchors(work: Workload, anchors: tuple[str, ...]) -> list[str]:
    """Pinned names that pin nothing tonight. No error: a task may come back when its session does."""
    known = {name for item in work.skills for task in item.tasks for name in (task.id, task.family)}
    return [name for name in anchors if name not in known]


def _untouched(item: SkillWork, why: str) -> SkillResult:
    return SkillResult(
        skill=item.name,
        target=str(item.file.path),
        families=item.families,
        tasks=len(item.tasks),
        verdict=None,
        stopped=why,
    )
