"""Pieces of Markdown that the night's report and a proposal share."""

from __future__ import annotations

from collections.abc import Iterable

from skillopt_sleep.domain.reports import Proposal, SkillResult, TaskEvidence
from skillopt_sleep.domain.skills import DropRule, EditOutcome
from skillopt_sleep.domain.verdicts import Verdict
from skillopt_sleep.report.ordering import Direction, passes, worst_first
from skillopt_sleep.report.text import code, count, fenced, md, one_line, sentence, several_lines
from skillopt_sleep.report.words import (
    EDIT_STATUSES,
    GATE_OFF_NOTE,
    account_words,
    change,
    edit_words,
    effort_words,
    points,
    slice_change,
    slice_points,
    tagged,
)

_HEADINGS: dict[Direction, str] = {
    "worse": "Got worse",
    "better": "Got better",
    "same": "Unchanged",
    "unknown": "Without a score",
}


def figures(result: SkillResult | Proposal, *, simulated: bool) -> list[str]:
    """What was measured, as a table: the gate's tasks, and the test tasks that decided nothing."""
    rows = ["| measured on | tasks | before → after | gain, 90 % interval | missing |", "|---|---:|---|---|---:|"]
    verdict, test = result.verdict, result.test
    if verdict is not None:
        gate = tagged(change(verdict.before, verdict.after, "→"), simulated=simulated)
        gain = tagged(points(verdict.interval), simulated=simulated)
        rows.append(f"| gate tasks, which decided | {verdict.families} | {gate} | {gain} | {verdict.missing_pairs} |")
    after = tagged(slice_change(test, "→"), simulated=simulated)
    gain = tagged(slice_points(test), simulated=simulated)
    tasks, missing = (str(test.families), str(test.missing_pairs)) if test else ("–", "–")
    rows.append(f"| test tasks, which decided nothing | {tasks} | {after} | {gain} | {missing} |")
    return rows


def why(verdict: Verdict, *, simulated: bool) -> list[str]:
    """The gate's own explanation, with a loud word where it was switched off, and what could not be scored."""
    lines = [f"**{GATE_OFF_NOTE}**", ""] if verdict.reason == "gate_off" else []
    if verdict.explanation:
        lines.append(tagged(md(sentence(verdict.explanation)), simulated=simulated))
    if said := " ".join(words for words in (effort_words(verdict), account_words(verdict)) if words):
        lines += ["", said] if lines else [said]
    if verdict.missing_pairs:
        lines.append(f"{count(verdict.missing_pairs, 'comparison')} without two scores: left out, not counted as 0.")
    return lines


def edits(outcomes: Iterable[EditOutcome], *, applied: bool) -> list[str]:
    """Edits with their texts and reasons: those that stand in the new document, or those that do not and why."""
    lines: list[str] = []
    for outcome in outcomes:
        if (outcome.status == "applied") == applied:
            lines += _edit(outcome)
    return lines


def evidence(tasks: Iterable[TaskEvidence], *, simulated: bool) -> list[str]:
    """Tasks before and after, under a heading for each direction; what got worse comes first, with its replies."""
    lines: list[str] = []
    last: Direction | None = None
    for way, task in worst_first(tasks):
        if way != last:
            lines += ["", f"### {_HEADINGS[way]}", ""]
            last = way
        lines += _task(task, simulated=simulated, replies=way in ("worse", "better"))
    return lines


def _edit(outcome: EditOutcome) -> list[str]:
    edit = outcome.edit
    title = edit_words(edit)
    if outcome.status != "applied":
        title += f": {EDIT_STATUSES[outcome.status]}"
        title += f" ({one_line(outcome.detail).rstrip('.')})" if outcome.detail else ""
    lines = [f"- **{md(title)}**"]
    if not isinstance(edit, DropRule):
        quoted = several_lines(edit.text)
        lines += ["", *fenced(quoted, "markdown", indent="  ")]
    if edit.reason:
        lines += ["", f"  Why: {md(sentence(edit.reason))}"]
    return lines


def _task(task: TaskEvidence, *, simulated: bool, replies: bool) -> list[str]:
    lines = [f"- {md(_short(task.prompt))}", f"  {tagged(passes(task), simulated=simulated)} · {code(task.task_id)}"]
    gone = [unmet for unmet in task.unmet_before if unmet not in task.unmet_after]
    lines += [f"  - now met: {md(text)}" for text in gone]
    lines += [f"  - not met after: {md(text)}" for text in task.unmet_after]
    if replies:
        for when, reply in (("before", task.example_before), ("after", task.example_after)):
            if reply:
                lines += ["", f"  Reply {when}:", "", *fenced(reply, indent="  ")]
    return lines


def _short(prompt: str, limit: int = 200) -> str:
    line = " ".join(prompt.split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"
