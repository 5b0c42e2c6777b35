"""A night as a Markdown document."""

from __future__ import annotations

from collections.abc import Iterator

from skillopt_sleep.domain.reports import NightReport, RoleSpend, SkillResult
from skillopt_sleep.report import sections
from skillopt_sleep.report.ordering import harm_first, night_harms
from skillopt_sleep.report.text import code, count, md, sentence
from skillopt_sleep.report.words import (
    LINES_SKIPPED,
    ROLES,
    SHAPES,
    SIMULATED_NOTE,
    SKIPPED,
    STATUSES,
    money,
    percent,
    result_words,
    role_cost,
    skill_cost,
    slice_change,
    slice_points,
    spread,
    standing,
    summary,
    tagged,
    tally,
    total_usd,
)


def markdown(report: NightReport) -> str:
    """The whole report of a night. Ends with a line break; nothing in it depends on anything but the report."""
    return "\n".join(_lines(report)).strip("\n") + "\n"


def _lines(report: NightReport) -> Iterator[str]:
    yield f"# Night of {report.started_at:%d %B %Y}"
    if report.simulated:
        yield from ("", f"> **{SIMULATED_NOTE}**")
    yield from ("", summary(report))
    if report.status != "finished":
        reason = f": {md(sentence(report.stopped))}" if report.stopped else "."
        yield from ("", f"**The night was {STATUSES[report.status]}**{reason}")
    if worse := night_harms(report):
        yield from ("", "## Got worse under the proposed edits", "")
        for skill, what in worse:
            yield f"- {SHAPES['worse']} **{md(skill)}**: {tagged(what, simulated=report.simulated)}"
    if report.skills:
        yield from ("", "## Skills", "", *_table(report))
        for result in harm_first(report):
            yield from ("", *_skill(report, result))
    if report.warnings:
        yield from ("", "## Warnings", "", *(f"- {md(sentence(warning))}" for warning in report.warnings))
    yield from ("", "## What was read", "", *_reading(report))
    yield from ("", "## What it took", "", *_spending(report))


def _table(report: NightReport) -> Iterator[str]:
    yield "| skill | test tasks, before → after | gain, 90 % interval | verdict | calls | cost |"
    yield "|---|---|---|---|---:|---|"
    for one in harm_first(report):
        cells = (
            md(one.skill),
            tagged(slice_change(one.test, "→"), simulated=report.simulated),
            tagged(slice_points(one.test), simulated=report.simulated),
            f"{SHAPES[standing(one.verdict)]} {md(result_words(one))}",
            f"{one.calls:,}",
            skill_cost(report, one),
        )
        yield f"| {' | '.join(cells)} |"


def _skill(report: NightReport, result: SkillResult) -> Iterator[str]:
    yield f"### {md(result.skill)}"
    yield from ("", f"{SHAPES[standing(result.verdict)]} **{md(result_words(result))}**")
    if result.verdict is not None:
        yield from (
            "",
            *sections.why(result.verdict, simulated=report.simulated),
            "",
            *sections.figures(result, simulated=report.simulated),
        )
    if tasks := spread(result):
        training = tagged(percent(result.train_before), simulated=report.simulated)
        yield from ("", f"{tasks}. Passed of the training tasks before any edit: {training}.")
    yield from ("", f"File: {code(result.target)}")
    if applied := sections.edits(result.outcomes, applied=True):
        yield from ("", "Edits:", "", *applied)
    if refused := sections.edits(result.outcomes, applied=False):
        yield from ("", "Edits that were not made:", "", *refused)
    if result.proposal_id:
        yield from ("", f"Look at it with {code(f'skillopt-sleep show {result.proposal_id}')}.")


def _reading(report: NightReport) -> Iterator[str]:
    harvest, mined = report.harvest, report.mined
    yield f"- {count(harvest.sessions, 'session')} from {count(harvest.files, 'file')} of {code(report.project)}"
    if harvest.kept:
        yield f"- sessions whose file is gone, from what was kept of them: {harvest.kept}"
    if harvest.soon_deleted:
        yield f"- transcripts that the client deletes within days: {harvest.soon_deleted}"
    yield f"- files left out: {tally(harvest.skipped, SKIPPED)}"
    yield f"- lines left out: {tally(harvest.skipped_lines, LINES_SKIPPED)}"
    yield f"- secrets masked while reading: {tally(harvest.masked)}"
    yield f"- secrets masked on the way to a model and back: {tally(report.masked)}"
    yield (
        f"- {count(mined.prompts, 'request')} in {count(mined.groups, 'group')}, "
        f"{count(mined.families, 'family')} of rewordings, {count(mined.tasks, 'task')}"
    )
    yield f"- requests that became no task: {md(tally(mined.dropped))}"


def _spending(report: NightReport) -> Iterator[str]:
    yield "| role | model | calls | from cache | failed | tokens | cost |"
    yield "|---|---|---:|---:|---:|---:|---|"
    yield from (_spent(one, simulated=report.simulated) for one in report.spend)
    yield ""
    total = money(total_usd(report.spend), simulated=report.simulated)
    seconds = max(0, round((report.finished_at - report.started_at).total_seconds()))
    yield f"In all: {total}; {seconds // 60} min {seconds % 60} s. Night {code(report.id)}."


def _spent(one: RoleSpend, *, simulated: bool) -> str:
    cells = (ROLES[one.role], md(one.model), *(f"{n:,}" for n in (one.calls, one.cached, one.failed, one.tokens)))
    return f"| {' | '.join(cells)} | {role_cost(one, simulated=simulated)} |"
