"""Verdicts in words, for a person who never studied statistics."""

from __future__ import annotations

from skillopt_sleep.domain.verdicts import GatePolicy, VerdictReason
from skillopt_sleep.gate.table import Table


def explain(reason: VerdictReason, table: Table, policy: GatePolicy, more: int | None) -> str:
    """One to three plain sentences. `more`: about how many more families would settle it."""
    families = len(table.effects)
    text = {
        "improved": f"Better beyond chance: {_change(table)}. {_why_accepted(table, policy)}",
        "gate_off": f"Not tested: the gate was switched off. {_change(table)}.",
        "harmful": f"Worse beyond chance: {_change(table)}. {_luck(table.p_worse, sign='bad')}",
        "no_gain": f"{_no_gain(table)}: {_change(table)}; an improvement of {policy.min_effect:.2f} or more "
        f"would very likely have shown.",
        "regressed": f"Better on the whole ({_change(table)}), but not accepted: some got worse.",
        "anchor_fell": f"Better on the whole ({_change(table)}), but not accepted: what was pinned got worse.",
        "too_few_families": f"Too few tasks to tell: {_count(families)} with scores, and a verdict needs at least "
        f"{policy.min_families}. {_more(more)}",
        "untestable": f"Nothing could pass at this strictness (alpha {policy.alpha:g}) with so few tasks: an edit that "
        f"changes nothing would make all of them look better more often than that.{f' {_more(more)}' if more else ''}",
        "used_up": "Cannot be tested any more on these tasks: earlier tests used up what chance may be trusted with.",
        "not_enough_evidence": f"Not enough evidence yet: {_change(table)}. {_luck(table.p_better)} "
        f"At most {_percent(policy.alpha)} is tolerated. {_more(more)}",
        "too_many_missing": f"Too many attempts gave no score: {table.missing} of {table.missing + table.complete} "
        f"pairs are incomplete, and at most {_percent(policy.max_unscored)} may be.",
        "overlap": "Not validated: tasks of the gate were also trained on, so a gain on them proves nothing.",
        "shape_only": "Not validated: the only checks were written by a model and look at form, not at substance.",
        "no_edits": "The document did not change, so there is nothing to accept.",
    }[reason]
    worse = f" Got worse beyond chance: {', '.join(table.regressed)}." if table.regressed else ""
    return text + worse


def _change(table: Table) -> str:
    if table.before is None or table.after is None:
        return "no scores"
    return f"the score went from {table.before:.2f} to {table.after:.2f} over {_count(len(table.effects))}"


def _no_gain(table: Table) -> str:
    lost = table.before is not None and table.after is not None and table.after < table.before
    return "No gain, rather a loss" if lost else "No gain worth having"


def _count(families: int) -> str:
    return f"{families} task {'family' if families == 1 else 'families'}"


def _luck(p: float, sign: str = "good") -> str:
    return f"An edit that changes nothing would look this {sign} in {_percent(p)} of cases."


def _why_accepted(table: Table, policy: GatePolicy) -> str:
    if table.p_better <= policy.alpha:
        return _luck(table.p_better)
    return (
        "Four families got better and one stayed the same, the least that is accepted with five: "
        "over many nights at most 4.4 % of edits that change nothing pass."
    )


def _percent(share: float) -> str:
    if share < 0.001:
        return "less than 0.1 %"
    return f"{share * 100:.2g} %" if share < 0.995 else "nearly all" if share < 1 else "all"


def _more(families: int | None) -> str:
    if families is None:
        return "The difference is too small for more tasks to settle soon."
    return f"About {families} more {'family' if families == 1 else 'families'} would probably settle it."
