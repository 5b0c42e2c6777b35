"""Which of the proposed edits may be tried. Refused ones stay visible: a report says what was refused and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from skillopt_sleep.domain.powers import Allowed
from skillopt_sleep.domain.skills import AddRule, Edit, EditOutcome, EditStatus, ReplaceRule
from skillopt_sleep.redact import MASK
from skillopt_sleep.reflect.claims import fabricated_claim

_SHOWN_POWERS = 4


def screen(
    edits: Sequence[Edit], *, leaks: Callable[[str], bool], typed: Iterable[str], edit_budget: int | None = None
) -> tuple[tuple[Edit, ...], tuple[EditOutcome, ...]]:
    """The edits that may be tried, and the refused ones with the reason, for the report.

    Refused are edits that repeat a pattern that only the judge should know (`leaks` says so), edits that make the agent
    claim what it did not do, edits that would write a mask into the live file, where the person's own words stand, and
    what goes beyond the budget. Quarantined are edits with a command, an address or a
    permission that stands in none of the texts that people have `typed`: it came from somewhere else.
    """
    allowed = Allowed(typed)
    kept: list[Edit] = []
    refused: list[EditOutcome] = []
    for edit in edits:
        refusal = _refusal(edit, leaks, allowed)
        if refusal is None and edit_budget is not None and len(kept) >= edit_budget:
            refusal = "over_budget", f"A night makes at most {edit_budget} edits."
        if refusal is None:
            kept.append(edit)
        else:
            refused.append(EditOutcome(edit=edit, status=refusal[0], detail=refusal[1]))
    return tuple(kept), tuple(refused)


def _refusal(edit: Edit, leaks: Callable[[str], bool], allowed: Allowed) -> tuple[EditStatus, str] | None:
    if not isinstance(edit, AddRule | ReplaceRule):
        return None
    if leaks(edit.text):
        return "judge_leak", "The rule repeats a pattern of the judge, so passing would prove nothing."
    if MASK in edit.text:
        return "malformed", "The rule repeats a mask; the secret behind it stays in the file, and no rule needs it."
    claim = fabricated_claim(edit.text)
    if claim is not None:
        return "fabrication", f"The rule would make the agent claim what it may not have done: {claim!r}."
    foreign = allowed.missing(edit.text)
    if foreign:
        listed = ", ".join(f"{power.kind} {power.text!r}" for power in foreign[:_SHOWN_POWERS])
        return "quarantined", f"The rule brings in what no request or correction of yours contains: {listed}."
    return None
