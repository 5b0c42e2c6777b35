"""Asks an optimiser for edits."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import ValidationError

from skillopt_sleep.domain.briefing import (
    Requirement,
    json_block,
    requirements_block,
    rules_block,
    turned_down_block,
)
from skillopt_sleep.domain.errors import ModelMalformed
from skillopt_sleep.domain.llm import Prompt, UserMessage
from skillopt_sleep.domain.ports import Model
from skillopt_sleep.domain.skills import Edit, EditList, Rule
from skillopt_sleep.prompts import render
from skillopt_sleep.reflect.evidence import FailedAttempt

MOST_EDIT_TOKENS = 4096
"""Longest set of edits that is accepted."""
_OWN_TAG = re.compile(r"<(?=/?(?:skill|attempts|rules|turned_down|requirements)\b)", re.IGNORECASE)


async def reflect(
    optimizer: Model,
    *,
    skill_text: str,
    rules: Sequence[Rule],
    requirements: Sequence[Requirement],
    attempts: Sequence[FailedAttempt],
    edit_budget: int,
    turned_down: Sequence[str],
    sample: int = 0,
) -> tuple[Edit, ...]:
    """Edits that the optimiser proposes, as they came; `screen` decides which may be tried.

    A reply of the wrong shape is complained about once. Raises what the model raises, and `ModelMalformed` after a
    second one.
    """
    values: dict[str, object] = {
        "skill": _sealed(skill_text),
        "attempts": json_block("attempts", [attempt.model_dump(mode="json") for attempt in attempts]),
        "rules": rules_block(rules),
        "turned_down": turned_down_block(turned_down),
        "requirements": requirements_block(requirements),
        "edit_budget": edit_budget,
    }
    try:
        return await _propose(optimizer, values, sample, complaint="")
    except ModelMalformed as error:
        return await _propose(optimizer, values, sample, complaint=error.message)


async def _propose(optimizer: Model, values: dict[str, object], sample: int, *, complaint: str) -> tuple[Edit, ...]:
    system, user = render("reflect_system"), render("reflect_user", **values, complaint=complaint)
    prompt = Prompt(
        role="optimizer",
        system=system.text,
        messages=(UserMessage(text=user.text),),
        max_tokens=MOST_EDIT_TOKENS,
        sample=sample,
        template=f"{system.id} {user.id}",
    )
    reply = await optimizer.generate(prompt, schema=EditList)
    try:
        return EditList.model_validate_json(reply.text).edits
    except ValidationError as error:
        raise ModelMalformed(f"The optimiser did not answer with edits: {error.errors()[0]['msg']}.") from error


def _sealed(text: str) -> str:
    """The text without anything that looks like one of the prompt's own tags."""
    return _OWN_TAG.sub("&lt;", text)
