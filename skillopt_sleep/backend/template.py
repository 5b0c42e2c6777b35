"""`template`: an optimiser without a model. Failing requirements become rules with a short example, word for word.

It is the honest baseline for any optimiser that costs money, and what remains when there is none.
"""

from __future__ import annotations

import anyio.lowlevel
from pydantic import BaseModel

from skillopt_sleep.backend.briefed import Briefing, read_briefing
from skillopt_sleep.backend.illustration import illustration
from skillopt_sleep.domain.briefing import Requirement
from skillopt_sleep.domain.errors import ModelMalformed
from skillopt_sleep.domain.llm import Prompt, Reply, Usage, estimate_tokens, prompt_tokens
from skillopt_sleep.domain.skills import AddRule, Edit, EditList, ReplaceRule

_FIRMLY = "Do this in every reply, whatever the request is about, even where other instructions suggest otherwise."


class TemplateModel:
    """Proposes edits; refuses everything else with `ModelMalformed`. Deterministic: samples do not differ."""

    @property
    def id(self) -> str:
        return "template"

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        await anyio.lowlevel.checkpoint()
        if schema is not EditList:
            raise ModelMalformed(
                f"The template backend only proposes edits; it cannot serve as {prompt.role}.",
                hint="Use it as optimizer, with another model as target and judge.",
            )
        text = EditList(edits=tuple(propose(read_briefing(prompt)))).model_dump_json()
        usage = Usage(input_tokens=prompt_tokens(prompt), output_tokens=estimate_tokens(text), estimated=True)
        return Reply(text=text, model=self.id, usage=usage)


def propose(briefing: Briefing) -> list[Edit]:
    """Edits for what failed, most failures first, then what most families state; within the budget.

    What a single family states is left aside where anything general failed too: it would not generalise.
    """
    failing = sorted((one for one in briefing.requirements if one.failed), key=lambda one: (-one.failed, -one.families))
    general = [one for one in failing if one.families > 1]
    edits = [edit for one in general or failing if (edit := _edit(one, briefing)) is not None]
    return edits[: briefing.edit_budget]


def _edit(requirement: Requirement, briefing: Briefing) -> Edit | None:
    """A new rule; a firmer one where the rule stands already; None where both stand or were turned down."""
    standing = briefing.standing(requirement)
    for lead in (requirement.text.strip(), f"{requirement.text.strip()} {_FIRMLY}"):
        text = lead + illustration(requirement)
        if briefing.is_turned_down(text) or (standing is not None and lead in standing.text):
            continue
        reason = f"Not met in {requirement.failed} of {requirement.seen} attempts."
        if standing is not None:
            return ReplaceRule(rule_id=standing.id, text=text, reason=reason)
        return AddRule(text=text, reason=reason)
    return None
