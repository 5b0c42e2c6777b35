"""What an epoch found, as a person will look at it: per slice, per task, and as a proposal to stage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from statistics import fmean

from skillopt_sleep.consolidate.epoch import Epoch
from skillopt_sleep.domain.base import short_hash
from skillopt_sleep.domain.llm import Role
from skillopt_sleep.domain.reports import Proposal, SkillResult, SliceResult, TaskEvidence
from skillopt_sleep.domain.slices import Slice
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.domain.trials import Arm, PairedEvidence, Trial
from skillopt_sleep.replay import summarise
from skillopt_sleep.stats import sign_flip_interval

CLIP = 600
"""Characters of a reply that a report shows."""


def skill_result(epoch: Epoch, tasks: Sequence[Task], *, families: dict[Slice, int], target: Path) -> SkillResult:
    """One skill's line of the night's report."""
    train = summarise(epoch.train_before)
    return SkillResult(
        skill=epoch.skill,
        target=str(target),
        families=families,
        tasks=len(tasks),
        verdict=epoch.verdict,
        test=slice_result("test", epoch.evidence("test")),
        train_before=train[0] if train else None,
        outcomes=epoch.candidate.outcomes if epoch.candidate else (),
        calls=epoch.calls,
        tokens=epoch.tokens,
        stopped=epoch.stopped,
    )


def proposal_of(
    epoch: Epoch,
    tasks: Sequence[Task],
    *,
    target: Path,
    night_id: str,
    project: Path,
    created_at: datetime,
    models: dict[Role, str],
    simulated: bool,
) -> Proposal:
    """The proposal that an epoch with a verdict leads to. Raises ValueError for an epoch that reached no verdict."""
    if epoch.verdict is None or epoch.candidate is None or epoch.candidate.doc.sha256 is None:
        raise ValueError("only an epoch with a candidate and a verdict makes a proposal")
    return Proposal(
        id=f"{epoch.skill.rpartition(':')[2]}-{short_hash(f'{night_id}/{epoch.skill}/{epoch.candidate.doc.sha256}')}",
        night_id=night_id,
        project=str(project),
        skill=epoch.skill,
        target=str(target),
        before_sha256=epoch.before.sha256,
        after_sha256=epoch.candidate.doc.sha256,
        created_at=created_at,
        outcomes=epoch.candidate.outcomes,
        verdict=epoch.verdict,
        test=slice_result("test", epoch.evidence("test")),
        evidence=task_evidence(tasks, epoch.gate_trials),
        simulated=simulated,
        models=models,
    )


def slice_result(slice_: Slice, evidence: PairedEvidence) -> SliceResult | None:
    """Mean hard scores before and after over families, over complete pairs only; None where nothing was measured."""
    if not evidence.pairs:
        return None
    before: dict[str, list[float]] = defaultdict(list)
    after: dict[str, list[float]] = defaultdict(list)
    for pair in evidence.pairs:
        if pair.before and pair.after:
            before[pair.family].append(pair.before.hard)
            after[pair.family].append(pair.after.hard)
    missing = sum(1 for pair in evidence.pairs if not pair.complete)
    if not before:
        return SliceResult(slice=slice_, families=0, before=None, after=None, missing_pairs=missing)
    befores = [fmean(before[family]) for family in sorted(before)]
    afters = [fmean(after[family]) for family in sorted(before)]
    return SliceResult(
        slice=slice_,
        families=len(befores),
        before=fmean(befores),
        after=fmean(afters),
        interval=sign_flip_interval([b - a for a, b in zip(befores, afters, strict=True)]),
        missing_pairs=missing,
    )


def task_evidence(tasks: Sequence[Task], trials: Sequence[Trial]) -> tuple[TaskEvidence, ...]:
    """Each measured task before and after; what got worse comes first, then what got better, then the rest."""
    of_task: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        of_task[trial.task_id].append(trial)
    rows = [_one_task(task, of_task[task.id]) for task in tasks if task.id in of_task]
    return tuple(sorted(rows, key=lambda row: (_order(row.passed_after - row.passed_before), row.task_id)))


def _order(change: int) -> int:
    return 0 if change < 0 else 1 if change > 0 else 2


def _one_task(task: Task, trials: Sequence[Trial]) -> TaskEvidence:
    before, after = _scored(trials, "before"), _scored(trials, "after")
    return TaskEvidence(
        task_id=task.id,
        family=task.family,
        prompt=task.prompt[:CLIP],
        passed_before=_passed(before),
        passed_after=_passed(after),
        samples=max(len(before), len(after)),
        missing=len(trials) - len(before) - len(after),
        example_before=_example(before, passed=False),
        example_after=_example(after, passed=not _unmet(after)),
        unmet_before=_unmet(before),
        unmet_after=_unmet(after),
    )


def _scored(trials: Sequence[Trial], arm: Arm) -> list[Trial]:
    return [trial for trial in trials if trial.arm == arm and trial.mark]


def _passed(trials: Sequence[Trial]) -> int:
    return sum(1 for trial in trials if trial.mark and trial.mark.hard == 1.0)


def _example(trials: Sequence[Trial], *, passed: bool) -> str:
    """A reply that passed, or one that did not; any reply where there is none of that kind."""
    wanted = [t for t in trials if t.mark and (t.mark.hard == 1.0) == passed] or list(trials)
    text = wanted[0].attempt.text if wanted and wanted[0].attempt else ""
    return text if len(text) <= CLIP else text[:CLIP].rstrip() + " [...]"


def _unmet(trials: Sequence[Trial]) -> tuple[str, ...]:
    unmet = (check.requirement for trial in trials if trial.score for check in trial.score.checks if not check.passed)
    return tuple(dict.fromkeys(unmet))
