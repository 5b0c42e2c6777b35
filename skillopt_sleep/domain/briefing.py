"""What an optimiser is told about the criteria of *training* tasks: requirements in words, never a judge's pattern.

The requirements travel inside the prompt's text as one JSON block, so that a language model, the simulated model and
the model-free optimiser all read the same thing.
"""

from __future__ import annotations

import json
import re

from pydantic import Field, TypeAdapter

from skillopt_sleep.domain.base import Frozen


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


_OPEN, _CLOSE = "<requirements>", "</requirements>"
_BLOCK = re.compile(re.escape(_OPEN) + r"\s*(\[.*?\])\s*" + re.escape(_CLOSE), re.DOTALL)
_ADAPTER: TypeAdapter[tuple[Requirement, ...]] = TypeAdapter(tuple[Requirement, ...])


def requirements_block(requirements: tuple[Requirement, ...]) -> str:
    """The block as it stands in a prompt. `<` is escaped so that no requirement can close the block early."""
    rows = [requirement.model_dump(mode="json") for requirement in requirements]
    body = json.dumps(rows, ensure_ascii=False, indent=1).replace("<", "\\u003c")
    return f"{_OPEN}\n{body}\n{_CLOSE}"


def read_requirements(text: str) -> tuple[Requirement, ...]:
    """The requirements of the last block in a prompt's text; empty where there is none."""
    blocks = _BLOCK.findall(text)
    return _ADAPTER.validate_json(blocks[-1]) if blocks else ()
