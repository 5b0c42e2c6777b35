"""Harm first: which results and tasks a reader should see before the others, and what got worse, in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from skillopt_sleep.domain.reports import NightReport, SkillResult, SliceResult, TaskEvidence
from skillopt_sleep.domain.verdicts import Verdict
from skillopt_sleep.report.text import count, one_line
from skillopt_sleep.report.words import Standing, change, standing

Direction = Literal["worse", "better", "same", "unknown"]

_RESULTS: Final[tuple[Standing, ...]] = ("worse", "better", "unsure", "no_gain", "unjudged")
_TASKS: Final[tuple[Direction, ...]] = ("worse", "better", "same", "unknown")


def harm_first(report: NightReport) -> list[SkillResult]:
    """The skills of a night: those with any harm, then by verdict, then by name."""
    return sorted(
        report.skills,
        key=lambda one: (
            not harms(one.verdict, one.test),
            _RESULTS.index(standing(one.verdict)),
            one.skill.casefold(),
        ),
    )


def harms(verdict: Verdict | None, test: SliceResult | None) -> list[str]:
    """What got worse, in words; also under a verdict that was good on the whole."""
    found = []
    if verdict is not None and verdict.reason == "harmful":
        found.append(f"gate tasks went from {change(verdict.before, verdict.after, 'to')}")
    if verdict is not None and verdict.reason == "anchor_fell":
        found.append(f"pinned, and worse: {', '.join(one_line(name) for name in verdict.regressed)}")
    elif verdict is not None and verdict.regressed:
        found.append(f"{count(len(verdict.regressed), 'gate task')} got worse beyond noise")
    if test is not None and test.before is not None and test.after is not None and test.after < test.before:
        found.append(f"test tasks went from {change(test.before, test.after, 'to')}")
    return found


def night_harms(report: NightReport) -> list[tuple[str, str]]:
    """Everything that got worse in a night, as (skill, what)."""
    return [(one.skill, what) for one in harm_first(report) for what in harms(one.verdict, one.test)]


def direction(task: TaskEvidence) -> Direction:
    """Whether a task passes more often after than before."""
    if not task.samples:
        return "unknown"
    if task.passed_after == task.passed_before:
        return "same"
    return "better" if task.passed_after > task.passed_before else "worse"


def worst_first(evidence: Iterable[TaskEvidence]) -> list[tuple[Direction, TaskEvidence]]:
    """Tasks with their direction: what got worse, what got better, the rest; the largest change first."""
    rows = [(direction(task), task) for task in evidence]
    return sorted(
        rows,
        key=lambda row: (_TASKS.index(row[0]), -abs(row[1].passed_after - row[1].passed_before), row[1].task_id),
    )


def passes(task: TaskEvidence) -> str:
    """How often a task passed: "passed 0 of 3 before, 3 of 3 after; 1 without a score"."""
    if not task.samples:
        return "no score"
    words = f"passed {task.passed_before} of {task.samples} before, {task.passed_after} of {task.samples} after"
    return f"{words}; {task.missing} without a score" if task.missing else words
