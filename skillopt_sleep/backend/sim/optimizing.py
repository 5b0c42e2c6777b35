"""The simulated model as optimiser: proposes edits that are good, vague, wrong, harmful or nonsense."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from skillopt_sleep.backend.briefed import Briefing
from skillopt_sleep.backend.illustration import illustration
from skillopt_sleep.backend.sim.dice import Dice
from skillopt_sleep.backend.sim.statements import QUOTED, quotation
from skillopt_sleep.backend.sim.temperament import Temperament
from skillopt_sleep.domain.briefing import Requirement
from skillopt_sleep.domain.skills import AddRule, DropRule, Edit, EditList, ReplaceRule, Rule

Quality = Literal["good", "vague", "wrong", "harmful", "nonsense"]

_WORDINGS = (
    "{rule}",
    "{rule} Do this in every reply, whatever the request is about.",
    "In every reply: {rule_lower}",
    "This holds even where other instructions suggest otherwise: {rule_lower}",
)
_VAGUE = (
    "Keep the expectations of the reader in mind when you structure a reply.",
    "Make replies more complete where it matters.",
    "Pay more attention to form and to what is usually expected.",
    "Try to give the reader what they need.",
    "Double-check the quality of the reply.",
)
_NONSENSE = (
    "Let the rhythm of each reply follow the colour of its question.",
    "Balance the inner weight of adjectives before the moon of the text rises.",
    "Think of the reply as a river that has forgotten its bridge.",
)
_OTHER_NAMES = ("Background", "Remarks", "General Notes", "Outlook")
_NEGATED = re.compile(r"^(?:never|do not|don['’]t|avoid)\s+", re.IGNORECASE)


def propose(briefing: Briefing, temperament: Temperament, dice: Dice) -> EditList:
    """Edits for the requirements that failed most, within the budget. Nothing failed: nothing is proposed."""
    edits = [
        _edit(requirement, _quality(temperament, dice.roll("quality", index)), briefing, dice)
        for index, requirement in enumerate(_chosen(briefing, temperament, dice))
    ]
    return EditList(edits=tuple(edit for edit in edits if edit is not None))


def _chosen(briefing: Briefing, temperament: Temperament, dice: Dice) -> Sequence[Requirement]:
    failing = sorted((r for r in briefing.requirements if r.failed), key=lambda r: (-r.failed, -r.families, r.text))
    general = [requirement for requirement in failing if requirement.families > 1]
    if general and dice.roll("generalises") < temperament.generalises:
        failing = general
    return failing[: briefing.edit_budget]


def _quality(temperament: Temperament, roll: float) -> Quality:
    if roll < temperament.good_edits:
        return "good"
    if roll < temperament.good_edits + temperament.vague_edits:
        return "vague"
    remaining = (roll - temperament.good_edits - temperament.vague_edits) / (
        1.0 - temperament.good_edits - temperament.vague_edits
    )
    return "wrong" if remaining < 1 / 3 else "harmful" if remaining < 2 / 3 else "nonsense"


def _edit(requirement: Requirement, quality: Quality, briefing: Briefing, dice: Dice) -> Edit | None:
    reason = f"{requirement.failed} of {requirement.seen} attempts did not do this: {requirement.text}"
    match quality:
        case "good":
            return _good(requirement, reason, briefing, dice)
        case "vague":
            text = dice.pick(_VAGUE, "vague", requirement.text)
        case "wrong":
            text = _wrong(requirement.text, dice)
        case "harmful":
            text = _reversed(requirement.text)
        case "nonsense":
            text = dice.pick(_NONSENSE, "nonsense", requirement.text)
    return AddRule(text=text, reason=reason)


def _good(requirement: Requirement, reason: str, briefing: Briefing, dice: Dice) -> Edit | None:
    harmful = next((rule for rule in briefing.rules if _opposes(rule, requirement)), None)
    if harmful is not None:
        return DropRule(rule_id=harmful.id, reason=reason)
    standing = briefing.standing(requirement)
    # A rule that stands and still fails is put more firmly, not repeated.
    wordings = dice.shuffled(_WORDINGS if standing is None else _WORDINGS[1:], "wording", requirement.text)
    rule = requirement.text.strip()
    for wording in wordings:
        text = wording.format(rule=rule, rule_lower=rule[0].lower() + rule[1:]) + illustration(requirement)
        if briefing.is_turned_down(text) or any(text == old.text for old in briefing.rules):
            continue
        if standing is not None:
            return ReplaceRule(rule_id=standing.id, text=text, reason=reason)
        return AddRule(text=text, reason=reason)
    return None


def _opposes(rule: Rule, requirement: Requirement) -> bool:
    names = {quotation(match).casefold() for match in QUOTED.finditer(requirement.text)}
    said = {quotation(match).casefold() for match in QUOTED.finditer(rule.text)}
    return bool(names & said) and bool(_NEGATED.match(rule.text)) != bool(_NEGATED.match(requirement.text))


def _wrong(text: str, dice: Dice) -> str:
    """The right form with the wrong name or number in it."""
    if match := QUOTED.search(text):
        return f'{text[: match.start()]}"{dice.pick(_OTHER_NAMES, "name", text)}"{text[match.end() :]}'
    if match := re.search(r"\d+", text):
        return f"{text[: match.start()]}{int(match[0]) * 4}{text[match.end() :]}"
    return dice.pick(_NONSENSE, "nonsense", text)


def _reversed(text: str) -> str:
    """The opposite of an imperative sentence."""
    if match := _NEGATED.match(text):
        rest = text[match.end() :]
        return f"Always {rest}"
    return f"Do not {text[0].lower()}{text[1:]}"
