"""A night as one HTML page: self-contained, without scripts, readable on paper, on a phone and without colours.

The page is `night.html.j2` with autoescape on; what it shows is prepared here, in words, so that the template holds
layout only. Positions in the bars are per cent of their width: they stretch with the page, their marks do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from skillopt_sleep.domain.reports import NightReport, Proposal, SkillResult, SliceResult
from skillopt_sleep.domain.skills import DropRule, EditOutcome
from skillopt_sleep.domain.verdicts import Verdict
from skillopt_sleep.report import words
from skillopt_sleep.report.ordering import Direction, harm_first, harms, night_harms, passes, worst_first
from skillopt_sleep.report.text import count, one_line, sentence, several_lines

if TYPE_CHECKING:
    import jinja2

_MARGIN = 3.0
"""Per cent of a bar's width that is kept free at each end, so that marks at 0 % and 100 % are not cut."""


def html(report: NightReport, proposals: Sequence[Proposal] = ()) -> str:
    """The page of a night. `proposals`, in any order, add the tasks behind each verdict."""
    by_id = {proposal.id: proposal for proposal in proposals}
    cards = [_card(report, result, by_id.get(result.proposal_id or "")) for result in harm_first(report)]
    return _template().render(
        report=report,
        words=words,
        simulated=report.simulated or any(proposal.simulated for proposal in proposals),
        summary=words.summary(report),
        harms=[(one_line(skill), what) for skill, what in night_harms(report)],
        skills=cards,
        drawn=any(bar.drawn for card in cards for bar in card.bars),
        warnings=[sentence(warning) for warning in report.warnings],
        reading=_reading(report),
        total=words.money(words.total_usd(report.spend), simulated=report.simulated),
        seconds=max(0, round((report.finished_at - report.started_at).total_seconds())),
    )


@dataclass(frozen=True, slots=True)
class Bar:
    """Before and after on a scale from 0 to 100 %. All positions are per cent of the bar's width."""

    label: str
    figures: str
    gain: str
    before: float | None = None
    after: float | None = None
    low: float | None = None
    """Where the 90 % interval of the difference, put around `before`, begins and ends on the scale."""
    high: float | None = None

    @property
    def drawn(self) -> bool:
        return self.before is not None and self.after is not None


@dataclass(frozen=True, slots=True)
class Change:
    """One edit, made or not."""

    title: str
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """One task before and after."""

    direction: Direction
    prompt: str
    passes: str
    now_met: tuple[str, ...]
    unmet: tuple[str, ...]
    replies: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Card:
    """One skill of the night, as the page shows it."""

    skill: str
    standing: words.Standing
    verdict: str
    harms: list[str]
    why: str
    bars: list[Bar]
    spread: str
    made: list[Change]
    not_made: list[Change]
    evidence: list[Evidence]
    proposal: str | None
    adopt: str | None
    unverified: bool
    target: str
    calls: str
    cost: str


def _why(verdict: Verdict) -> str:
    said = (sentence(verdict.explanation), words.effort_words(verdict), words.account_words(verdict))
    return " ".join(part for part in said if part)


def _card(report: NightReport, result: SkillResult, proposal: Proposal | None) -> Card:
    verdict = result.verdict
    return Card(
        skill=one_line(result.skill),
        standing=words.standing(verdict),
        verdict=words.result_words(result),
        harms=harms(verdict, result.test),
        why=_why(verdict) if verdict else "",
        bars=_bars(verdict, result.test),
        spread=words.spread(result),
        made=[_change(one) for one in result.outcomes if one.status == "applied"],
        not_made=[_change(one) for one in result.outcomes if one.status != "applied"],
        evidence=_evidence(proposal) if proposal else [],
        proposal=one_line(result.proposal_id) if result.proposal_id else None,
        adopt=words.adopt_command(result.proposal_id, verdict) if result.proposal_id and verdict else None,
        unverified=verdict is not None and verdict.decision == "inconclusive",
        target=one_line(result.target),
        calls=count(result.calls, "call"),
        cost=words.skill_cost(report, result),
    )


def _bars(verdict: Verdict | None, test: SliceResult | None) -> list[Bar]:
    if verdict is None:
        return []
    gate = f"Gate: {count(verdict.families, 'task')}, which decided{_left_out(verdict.missing_pairs)}"
    bars = [_bar(gate, verdict.before, verdict.after, verdict.interval)]
    if test is None:
        return [*bars, Bar("Test tasks", words.NOT_MEASURED, words.NOT_MEASURED)]
    label = f"Test: {count(test.families, 'task')}, which decided nothing{_left_out(test.missing_pairs)}"
    return [*bars, _bar(label, test.before, test.after, test.interval)]


def _left_out(missing: int) -> str:
    return f"; {count(missing, 'comparison')} without two scores left out" if missing else ""


def _bar(label: str, before: float | None, after: float | None, interval: tuple[float, float] | None) -> Bar:
    low, high = (_place(before + bound) for bound in interval) if before is not None and interval else (None, None)
    return Bar(
        label=label,
        figures=words.change(before, after, "→"),
        gain=words.points(interval),
        before=None if before is None else _place(before),
        after=None if after is None else _place(after),
        low=low,
        high=high,
    )


def _place(share: float) -> float:
    """A share as a position; what would lie beyond the scale lies at its end."""
    return round(_MARGIN + min(1.0, max(0.0, share)) * (100.0 - 2.0 * _MARGIN), 2)


def _change(outcome: EditOutcome) -> Change:
    title = words.edit_words(outcome.edit)
    if outcome.status != "applied":
        title += f": {words.EDIT_STATUSES[outcome.status]}"
        title += f" ({one_line(outcome.detail).rstrip('.')})" if outcome.detail else ""
    text = "" if isinstance(outcome.edit, DropRule) else several_lines(outcome.edit.text)
    return Change(title=title, text=text, reason=sentence(outcome.edit.reason))


def _evidence(proposal: Proposal) -> list[Evidence]:
    return [
        Evidence(
            direction=way,
            prompt=one_line(task.prompt),
            passes=passes(task),
            now_met=tuple(one_line(text) for text in task.unmet_before if text not in task.unmet_after),
            unmet=tuple(one_line(text) for text in task.unmet_after),
            replies=tuple(
                (when, several_lines(reply))
                for when, reply in (("before", task.example_before), ("after", task.example_after))
                if reply
            ),
        )
        for way, task in worst_first(proposal.evidence)
    ]


def _reading(report: NightReport) -> Iterable[tuple[str, str]]:
    harvest, mined = report.harvest, report.mined
    return (
        ("Sessions", f"{harvest.sessions:,} from {count(harvest.files, 'file')}"),
        ("Files left out", words.tally(harvest.skipped, words.SKIPPED)),
        ("Lines left out", words.tally(harvest.skipped_lines, words.LINES_SKIPPED)),
        ("Secrets masked while reading", words.tally(harvest.masked)),
        ("Secrets masked on the way to a model and back", words.tally(report.masked)),
        (
            "Requests",
            f"{mined.prompts:,} in {count(mined.groups, 'group')} and {mined.families:,} families of rewordings",
        ),
        ("Tasks", f"{mined.tasks:,}"),
        ("Requests without a task", words.tally(mined.dropped)),
    )


@cache
def _template() -> jinja2.Template:
    import jinja2  # nothing but this page needs it

    source = resources.files(__package__).joinpath("night.html.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["one_line"] = one_line
    environment.filters["tight"] = lambda figures: figures.replace(" %", "\u00a0%")  # no line ends inside a figure
    return environment.from_string(source)
