"""Edits of a skill document, as data. Rules in the managed region carry stable ids, so an edit addresses a rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from skillopt_sleep.domain.base import Frozen

RuleText = Annotated[str, Field(min_length=1, max_length=1200)]


class Rule(Frozen):
    """One rule of the managed region. `text` is Markdown; further lines (an example, say) belong to the rule."""

    id: str
    text: RuleText


class AddRule(Frozen):
    kind: Literal["add_rule"] = "add_rule"
    text: RuleText
    reason: str = ""


class ReplaceRule(Frozen):
    kind: Literal["replace_rule"] = "replace_rule"
    rule_id: str
    text: RuleText
    reason: str = ""


class DropRule(Frozen):
    kind: Literal["drop_rule"] = "drop_rule"
    rule_id: str
    reason: str = ""


Edit = Annotated[AddRule | ReplaceRule | DropRule, Field(discriminator="kind")]

EditStatus = Literal[
    "applied",
    "unmatched",  # addresses a rule that is not there
    "no_change",  # leaves the document as it is, or repeats a rule that stands there
    "remembered",  # a person or the gate has turned this rule down before
    "over_budget",  # more edits than the night may make
    "judge_leak",  # repeats a pattern that only the judge should know
    "fabrication",  # tells the agent to claim what it cannot have done
    "quarantined",  # brings in a command, an address or a permission that no person has typed
    "malformed",  # would break the document (front matter, markers)
]


class EditOutcome(Frozen):
    """What became of one proposed edit."""

    edit: Edit
    status: EditStatus
    detail: str = ""
    rule_id: str | None = None
    """The rule that was added, replaced or dropped, where the edit was applied."""


class EditList(Frozen):
    """What an optimiser answers: the schema of its structured reply. An empty list means "no change would help"."""

    edits: tuple[Edit, ...] = ()


def added_rules(outcomes: Iterable[EditOutcome]) -> tuple[str, ...]:
    """Texts of the rules that edits have added or rewritten; what was not applied added nothing."""
    edits = (outcome.edit for outcome in outcomes if outcome.status == "applied")
    return tuple(edit.text for edit in edits if not isinstance(edit, DropRule))
