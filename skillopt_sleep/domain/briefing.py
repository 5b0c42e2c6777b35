"""What an optimiser is told: the criteria of *training* tasks in words (never a judge's pattern), and what stands.

Requirements, rules and turned-down rules travel inside the prompt's text as JSON blocks, so that a language model, the
simulated model and the model-free optimiser all read the same thing. `<` is escaped inside a block, so that no text in
it can close it early, and readers take the last block, so that a block quoted further up (in a skill, say) is not it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from pydantic import Field, TypeAdapter

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.skills import Rule


class Requirement(Frozen):
    """One requirement in words, with how often it failed on the training tasks."""

    text: str
    """An imperative sentence ("Include a section headed \\"Risks\\".")."""
    example: str | None = None
    """A short piece of a reply that would meet it, where one can be made up without showing the judge's pattern."""
    failed: int = Field(default=0, ge=0)
    seen: int = Field(default=0, ge=0)
    """Scored attempts in which the requirement was looked at."""
    families: int = Field(default=0, ge=0)
    """Training families that state this requirement: 1 means it concerns one concrete request only."""


_REQUIREMENTS: TypeAdapter[tuple[Requirement, ...]] = TypeAdapter(tuple[Requirement, ...])
_RULES: TypeAdapter[tuple[Rule, ...]] = TypeAdapter(tuple[Rule, ...])
_TEXTS: TypeAdapter[tuple[str, ...]] = TypeAdapter(tuple[str, ...])
_EDIT_BUDGET = re.compile(r"\bat most (\d+) edits?\b", re.IGNORECASE)


def requirements_block(requirements: Sequence[Requirement]) -> str:
    """The requirements as they stand in a prompt."""
    return json_block("requirements", [requirement.model_dump(mode="json") for requirement in requirements])


def read_requirements(text: str) -> tuple[Requirement, ...]:
    """The requirements of the last block in a prompt's text; empty where there is none."""
    return _REQUIREMENTS.validate_json(_last_block("requirements", text))


def rules_block(rules: Sequence[Rule]) -> str:
    """The rules of the managed region, with the ids that edits address, as they stand in a prompt."""
    return json_block("rules", [rule.model_dump(mode="json") for rule in rules])


def read_rules(text: str) -> tuple[Rule, ...]:
    """The rules of the last block in a prompt's text; empty where there is none."""
    return _RULES.validate_json(_last_block("rules", text))


def turned_down_block(texts: Sequence[str]) -> str:
    """Rules that the gate or a person has turned down before, as they stand in a prompt."""
    return json_block("turned_down", list(texts))


def read_turned_down(text: str) -> tuple[str, ...]:
    """The turned-down rules of the last block in a prompt's text; empty where there is none."""
    return _TEXTS.validate_json(_last_block("turned_down", text))


def read_edit_budget(text: str, default: int) -> int:
    """The number in the last "at most N edits" of a prompt's text."""
    numbers = _EDIT_BUDGET.findall(text)
    return int(numbers[-1]) if numbers else default


def json_block(tag: str, rows: list[Any]) -> str:
    """Data between `<tag>` and `</tag>`, as JSON in which nothing can close the block."""
    body = json.dumps(rows, ensure_ascii=False, indent=1).replace("<", "\\u003c")
    return f"<{tag}>\n{body}\n</{tag}>"


def _last_block(tag: str, text: str) -> str:
    blocks: list[str] = re.findall(rf"<{tag}>\s*(\[.*?\])\s*</{tag}>", text, re.DOTALL)
    return blocks[-1] if blocks else "[]"
