"""A night on a terminal: one table, or the same in plain lines where a table does not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillopt_sleep.domain.reports import NightReport, SkillResult
from skillopt_sleep.report.ordering import harm_first, night_harms
from skillopt_sleep.report.text import count, one_line, sentence
from skillopt_sleep.report.words import (
    SIMULATED_NOTE,
    Standing,
    result_words,
    role_cost,
    skill_cost,
    slice_change,
    slice_points,
    standing,
    summary,
    tagged,
    tally,
)

if TYPE_CHECKING:
    from rich.table import Table

_STYLES: dict[Standing, str] = {
    "better": "bold green",
    "worse": "bold red",
    "no_gain": "",
    "unsure": "yellow",
    "unjudged": "dim",
}


def night_table(report: NightReport) -> Table:
    """The night's skills: before -> after on the test slice, its 90 % interval, the verdict, calls and cost.

    Cells are `Text`, never markup: a skill may be called "[red]". Words carry the meaning, colours only repeat it.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=SIMULATED_NOTE if report.simulated else None,
        caption=summary(report),
        title_style="bold yellow",
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    longest = max((len(one_line(result.skill)) for result in report.skills), default=0)
    table.add_column("skill", overflow="fold", min_width=min(longest, 24))
    for heading in ("test tasks,\nbefore -> after", "gain,\n90 % interval", "verdict"):
        table.add_column(heading, overflow="fold")
    table.add_column("calls", justify="right")
    table.add_column("cost")
    for result in harm_first(report):
        table.add_row(
            Text(one_line(result.skill)),
            Text(_cell(slice_change(result.test), report)),
            Text(_cell(slice_points(result.test), report)),
            Text(result_words(result), style=_STYLES[standing(result.verdict)]),
            Text(f"{result.calls:,}"),
            Text(skill_cost(report, result).replace(": ", ":\n")),
        )
    return table


def _cell(figure: str, report: NightReport) -> str:
    """A figure with its tag below it, so that a table of six columns still fits."""
    return tagged(figure, simulated=report.simulated).replace(" (", "\n(")


def night_lines(report: NightReport) -> list[str]:
    """The night in words, one line a statement: for pipes, logs, screen readers and narrow windows."""
    lines = [SIMULATED_NOTE] if report.simulated else []
    for skill, what in night_harms(report):
        lines.append(f"Worse: {one_line(skill)}: {tagged(what, simulated=report.simulated)}.")
    lines.append(summary(report))
    lines += [_line(report, result) for result in harm_first(report)]
    lines += [f"Warning: {sentence(warning)}" for warning in report.warnings]
    if report.stopped:
        lines.append(f"The night ended early: {sentence(report.stopped)}")
    return lines


def night_reasons(report: NightReport) -> list[str]:
    """What stands below the table: harm, why each verdict is what it is, what was used, what was masked."""
    lines = [f"Worse: {one_line(skill)}: {what}." for skill, what in night_harms(report)]
    lines += [f"{one_line(result.skill)}: {_because(result)}" for result in harm_first(report)]
    lines += [
        f"{row.role} {row.model}: {count(row.calls, 'call')}, {row.cached:,} from the cache, {row.failed:,} failed, "
        f"{row.tokens:,} tokens, {role_cost(row, simulated=report.simulated)}"
        for row in report.spend
    ]
    for masked, where in ((report.harvest.masked, "while reading"), (report.masked, "on the way to a model and back")):
        if masked:
            lines.append(f"{count(sum(masked.values()), 'secret')} masked {where} ({tally(masked)}).")
    lines += [f"Warning: {sentence(warning)}" for warning in report.warnings]
    if report.stopped:
        lines.append(f"The night ended early: {sentence(report.stopped)}")
    return lines


def _because(result: SkillResult) -> str:
    if result.verdict is not None:
        return result.verdict.explanation
    return sentence(f"no verdict, because {result.stopped}" if result.stopped else "it was not reached")


def _line(report: NightReport, result: SkillResult) -> str:
    measured = slice_change(result.test)
    if result.test and result.test.interval:
        measured += f", gain {slice_points(result.test)}"
    figures = tagged(measured, simulated=report.simulated)
    spent = f"{count(result.calls, 'call')}, {skill_cost(report, result)}"
    return f"{one_line(result.skill)}: {result_words(result)}. Test tasks {figures}. {spent}."
