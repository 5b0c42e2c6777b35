"""The optimiser's briefing as read back from a prompt, for the optimisers that are programs."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError

from skillopt_sleep.domain.briefing import (
    Requirement,
    read_edit_budget,
    read_requirements,
    read_rules,
    read_turned_down,
)
from skillopt_sleep.domain.errors import ModelMalformed
from skillopt_sleep.domain.llm import Prompt
from skillopt_sleep.domain.skills import Rule

_DEFAULT_EDITS = 4


@dataclass(frozen=True, slots=True)
class Briefing:
    """What the prompt told the optimiser, besides prose."""

    requirements: tuple[Requirement, ...]
    rules: tuple[Rule, ...]
    turned_down: tuple[str, ...]
    edit_budget: int

    def standing(self, requirement: Requirement) -> Rule | None:
        """The rule that already states this requirement, if there is one."""
        wanted = squash(requirement.text)
        return next((rule for rule in self.rules if wanted in squash(rule.text)), None)

    def is_turned_down(self, text: str) -> bool:
        """Whether this rule, or the same words in another layout, has been turned down before."""
        return any(squash(text) == squash(old) for old in self.turned_down)


def read_briefing(prompt: Prompt) -> Briefing:
    """The briefing in a prompt. Raises `ModelMalformed` where a block does not hold what it should."""
    text = "\n".join([prompt.system, *(message.text for message in prompt.messages)])
    try:
        return Briefing(
            requirements=read_requirements(text),
            rules=read_rules(text),
            turned_down=read_turned_down(text),
            edit_budget=read_edit_budget(text, _DEFAULT_EDITS),
        )
    except ValidationError as error:
        raise ModelMalformed(f"The briefing in the prompt cannot be read: {error.errors()[0]['msg']}.") from error


def squash(text: str) -> str:
    """Words only, lower case, single spaces: for comparing wordings, not layouts."""
    return " ".join("".join(ch if ch.isalnum() else " " for ch in text.casefold()).split())
