"""The vocabulary that all renderings share. Verdicts are decided elsewhere; here they are only named."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeVar

from skillopt_sleep.domain.llm import Role
from skillopt_sleep.domain.reports import NightReport, NightStatus, RoleSpend, SkillResult, SliceResult
from skillopt_sleep.domain.sessions import LineSkipReason, SkipReason
from skillopt_sleep.domain.skills import DropRule, Edit, EditStatus, ReplaceRule
from skillopt_sleep.domain.slices import Slice
from skillopt_sleep.domain.verdicts import Verdict, VerdictReason
from skillopt_sleep.report.text import count, one_line

_Key = TypeVar("_Key", bound=str)

UNKNOWN: Final = "unknown"
NOT_MEASURED: Final = "not measured"
SIMULATED: Final = "simulated"
SIMULATED_NOTE: Final = (
    "Simulated: the figures here rest on a simulated model. They show how a night works, "
    "not what a real model would gain."
)
GATE_OFF_NOTE: Final = "The gate was off: what is proposed here was not tested."

Standing = Literal["better", "worse", "no_gain", "unsure", "unjudged"]
"""How a result is drawn. A shape goes with each, so that nothing depends on seeing colours."""

SHAPES: Final[Mapping[Standing, str]] = MappingProxyType(
    {"better": "▲", "worse": "▼", "no_gain": "■", "unsure": "◆", "unjudged": "○"}
)
_IN_SHORT: Final[Mapping[Standing, str]] = MappingProxyType(
    {
        "worse": "worse",
        "better": "better",
        "unsure": "cannot tell yet",
        "no_gain": "no gain",
        "unjudged": "not judged",
    }
)

_REASONS: Final[Mapping[VerdictReason, str]] = MappingProxyType(
    {
        "improved": "better",
        "gate_off": "not tested, the gate was off",
        "harmful": "worse",
        "no_gain": "no gain",
        "regressed": "better on the whole, but some tasks got worse",
        "anchor_fell": "better on the whole, but what you pinned got worse",
        "too_few_families": "cannot tell yet",
        "untestable": "cannot tell yet",
        "used_up": "cannot tell, these tasks are used up",
        "not_enough_evidence": "cannot tell yet",
        "too_many_missing": "cannot tell, too many attempts without a score",
        "overlap": "not validated, the gate's tasks were seen in training",
        "shape_only": "not validated, only the form was judged",
        "no_edits": "no change to judge",
    }
)

ROLES: Final[Mapping[Role, str]] = MappingProxyType(
    {"target": "target (does the tasks)", "optimizer": "optimiser (proposes edits)", "judge": "judge (scores replies)"}
)
SLICES: Final[Mapping[Slice, str]] = MappingProxyType(
    {"train": "training task", "gate": "gate task", "test": "test task"}
)
STATUSES: Final[Mapping[NightStatus, str]] = MappingProxyType(
    {"finished": "finished", "stopped": "stopped early", "interrupted": "interrupted"}
)
SKIPPED: Final[Mapping[SkipReason, str]] = MappingProxyType(
    {
        "sidechain": "rows of a sub-agent",
        "subagent": "in a sub-agents folder",
        "headless": "started by a program",
        "no_human_prompt": "without a prompt by a person",
        "own_call": "written by our own model calls",
        "empty": "empty",
        "unreadable": "unreadable",
        "vanished": "gone before it could be read",
        "other_project": "of another project",
        "outside_window": "outside the time window",
        "denied_folder": "in a folder that must not be read",
    }
)
LINES_SKIPPED: Final[Mapping[LineSkipReason, str]] = MappingProxyType(
    {
        "not_json": "not JSON",
        "not_object": "not an object",
        "truncated": "cut off",
        "undecodable": "not UTF-8",
        "odd_shape": "of an unexpected shape",
        "too_much": "beyond the longest session that is kept",
    }
)
EDIT_STATUSES: Final[Mapping[EditStatus, str]] = MappingProxyType(
    {
        "applied": "applied",
        "unmatched": "addresses a rule that is not there",
        "no_change": "changes nothing",
        "remembered": "was turned down before",
        "over_budget": "more edits than a night may make",
        "judge_leak": "repeats a pattern that only the judge should know",
        "fabrication": "tells the agent to claim what it cannot have done",
        "quarantined": "brings in a command, an address or a permission that you have not typed",
        "malformed": "would break the document",
    }
)


def standing(verdict: Verdict | None) -> Standing:
    """How a verdict is drawn."""
    if verdict is None:
        return "unjudged"
    if verdict.decision == "accept":
        return "unsure" if verdict.reason == "gate_off" else "better"
    if verdict.decision == "inconclusive":
        return "unsure"
    return "worse" if verdict.reason in ("harmful", "regressed", "anchor_fell") else "no_gain"


def verdict_words(verdict: Verdict | None, stopped: str | None = None) -> str:
    """A verdict in one phrase: "better: proposed for adoption", "cannot tell yet: about 2 more tasks needed"."""
    if verdict is None:
        return f"not judged: {one_line(stopped).rstrip('.')}" if stopped else "not judged"
    lead = _REASONS[verdict.reason]
    if verdict.reason == "regressed" and verdict.regressed:
        lead = f"better on the whole, but {count(len(verdict.regressed), 'task')} got worse"
    if verdict.reason == "no_edits":
        return lead
    if verdict.decision == "accept":
        return f"{lead}: proposed for adoption"
    if verdict.decision == "reject":
        return f"{lead}: refused"
    more = verdict.families_needed
    return f"{lead}: about {count(more, 'more task')} needed" if more else lead


def effort_words(verdict: Verdict) -> str:
    """How much evidence the verdict took, and what an early answer saved; empty where nothing was gathered by looks."""
    if not verdict.looks:
        return ""
    used = verdict.pairs + verdict.missing_pairs
    saved = f", {verdict.pairs_saved * 2} saved" if verdict.pairs_saved else ""
    beside = f", and {verdict.fresh_pairs * 2} more to look for harm" if verdict.fresh_pairs else ""
    looks = count(verdict.looks, "look")
    return f"Decided after {looks}: {used * 2} of {count(verdict.pairs_planned * 2, 'attempt')}{saved}{beside}."


def account_words(verdict: Verdict) -> str:
    """What the test used of the trust that its tasks can give, and what would renew it; empty without an account."""
    account = verdict.account
    if account is None:
        return ""
    now = f"Test {account.test} on these tasks, at {fine_percent(verdict.alpha)}"
    renew = f"{count(account.unused_needed, 'more task')} that no test has used" if account.unused_needed else ""
    if verdict.reason == "used_up":
        return f"{count(account.test, 'test')} used these tasks up. What renews them: {renew or 'unused tasks'}."
    if account.next_level is not None:
        return f"{now}. The next one may use {fine_percent(account.next_level)}."
    return f"{now}, and the last that they can give. What renews them: {renew or 'the unused ones among them'}."


def fine_percent(share: float) -> str:
    """A small share with two digits: "3.1 %", "0.42 %"."""
    return f"{share * 100:.2g} %"


def result_words(result: SkillResult) -> str:
    return verdict_words(result.verdict, result.stopped)


def percent(share: float | None) -> str:
    """A share in whole per cent. What is not quite none or all is not rounded to it."""
    if share is None:
        return UNKNOWN
    if 0.0 < share < 0.005:
        return "<1 %"
    if 0.995 <= share < 1.0:
        return ">99 %"
    return f"{share * 100:.0f} %"


def change(before: float | None, after: float | None, arrow: str = "->") -> str:
    """Before and after, "20 % -> 93 %"; one word where neither is known."""
    if before is None and after is None:
        return UNKNOWN
    return f"{percent(before)} {arrow} {percent(after)}"


def slice_change(result: SliceResult | None, arrow: str = "->") -> str:
    """Before and after on a slice; a slice that was not replayed was not measured."""
    return NOT_MEASURED if result is None else change(result.before, result.after, arrow)


def points(interval: tuple[float, float] | None) -> str:
    """An interval of a difference between shares, in percentage points: "+62 to +100 points"."""
    if interval is None:
        return UNKNOWN
    low, high = (round(bound * 100) for bound in interval)
    return f"{_signed(low)} to {_signed(high)} points"


def slice_points(result: SliceResult | None) -> str:
    return NOT_MEASURED if result is None else points(result.interval)


def money(usd: float | None, *, simulated: bool) -> str:
    """An amount of money. A simulated night says that it spent none, where that is known."""
    if usd is None:
        return UNKNOWN
    if usd == 0.0:
        return "simulated: no money spent" if simulated else "no money spent"
    return f"${usd:,.2f}" if usd >= 0.01 else "under $0.01"


def role_cost(row: RoleSpend, *, simulated: bool) -> str:
    """What a role cost, and how much more it may have been: nobody says whether a call that broke off is billed."""
    known = money(row.usd, simulated=simulated)
    return f"{known}, up to ${row.unsettled_usd:,.2f} more for calls that broke off" if row.unsettled_usd else known


def skill_cost(report: NightReport, result: SkillResult) -> str:
    """What a skill cost. A night that spent nothing spent nothing on any of its skills."""
    usd = 0.0 if result.usd is None and total_usd(report.spend) == 0.0 else result.usd
    return money(usd, simulated=report.simulated)


def total_usd(spend: tuple[RoleSpend, ...]) -> float | None:
    """The sum over roles; None where nothing was booked or any price is unknown. Without what may have been billed."""
    amounts = [one.usd for one in spend]
    known = [usd for usd in amounts if usd is not None]
    return sum(known) if amounts and len(known) == len(amounts) else None


def tagged(figure: str, *, simulated: bool) -> str:
    """A figure with the word "simulated" beside it, where it is one and is known at all."""
    return f"{figure} ({SIMULATED})" if simulated and figure not in (UNKNOWN, NOT_MEASURED) else figure


def adopt_command(proposal_id: str, verdict: Verdict) -> str | None:
    """What to type to adopt a proposal; None for one that the gate refused."""
    if verdict.decision == "reject":
        return None
    flag = " --unverified" if verdict.decision == "inconclusive" else ""
    return f"skillopt-sleep adopt {one_line(proposal_id)}{flag}"


def edit_words(edit: Edit) -> str:
    """What kind of edit this is: "add a rule"."""
    if isinstance(edit, DropRule):
        return f"drop rule {one_line(edit.rule_id)}"
    return f"replace rule {one_line(edit.rule_id)}" if isinstance(edit, ReplaceRule) else "add a rule"


def tally(counts: Mapping[_Key, int], names: Mapping[_Key, str] | None = None) -> str:
    """Counts with their reasons, most first: "12 started by a program, 1 empty"; "none" where there are none."""
    ranked = sorted(((number, key) for key, number in counts.items() if number), key=lambda row: (-row[0], row[1]))
    return ", ".join(f"{number:,} {one_line(names[key] if names else key)}" for number, key in ranked) or "none"


def spread(result: SkillResult) -> str:
    """How a skill's families fell into the slices; empty where it has none."""
    if not result.families:
        return ""
    return ", ".join(count(result.families.get(name, 0), words) for name, words in SLICES.items())


def summary(report: NightReport) -> str:
    """The night in a sentence, harm first: "3 skills: 1 worse, 1 better, 1 cannot tell yet."."""
    if not report.skills:
        return "No skill was looked at."
    found = [standing(result.verdict) for result in report.skills]
    parts = [f"{found.count(kind)} {words}" for kind, words in _IN_SHORT.items() if kind in found]
    return f"{count(len(found), 'skill')}: {', '.join(parts)}."


def _signed(number: int) -> str:
    return f"{number:+d}" if number else "0"
