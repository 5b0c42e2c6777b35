"""Talking to the simulated model in tests: many samples of one skill, and the share of replies that do something."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import anyio

from skillopt_sleep.backend.sim import SimModel, Strength
from skillopt_sleep.domain.briefing import Requirement, requirements_block, rules_block, turned_down_block
from skillopt_sleep.domain.llm import Prompt, Reply, ToolSpec, UserMessage
from skillopt_sleep.domain.skills import Edit, EditList, Rule

LOOKUP = ToolSpec(
    name="lookup",
    description="Looks through the notes.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)


def skill(*rules: str) -> str:
    """A small skill document with these rules in it."""
    body = "\n".join(f"- {rule}" for rule in rules)
    return f"---\nname: helper\ndescription: Helps.\n---\n\n# Helper\n\nHelp the person with what they ask.\n\n{body}\n"


def replies(strength: Strength, text: str, *, count: int, tools: tuple[ToolSpec, ...] = ()) -> list[Reply]:
    """Replies to `count` prompts under one skill: requests of many difficulties, several samples of each."""

    async def main() -> list[Reply]:
        model = SimModel(strength)
        system = f"You are an agent at work.\n\n<skill>\n{text}</skill>\n"
        prompts = (
            Prompt(
                role="target",
                system=system,
                messages=(UserMessage(text=f"Write a note about topic {number % 40} for the team."),),
                tools=tools,
                sample=number // 40,
            )
            for number in range(count)
        )
        return [await model.generate(prompt) for prompt in prompts]

    return anyio.run(main)


def share(strength: Strength, text: str, holds: Callable[[str], bool], *, count: int = 200) -> float:
    """Share of replies whose text satisfies `holds`."""
    return sum(holds(reply.text) for reply in replies(strength, text, count=count)) / count


def has_heading(name: str) -> Callable[[str], bool]:
    return lambda text: f"## {name}" in text.split("\n")


def optimiser_prompt(
    requirements: Sequence[Requirement],
    *,
    rules: Sequence[Rule] = (),
    turned_down: Sequence[str] = (),
    budget: int = 4,
    sample: int = 0,
) -> Prompt:
    blocks = [rules_block(rules), turned_down_block(turned_down), requirements_block(requirements)]
    text = "\n\n".join([*blocks, f"Propose at most {budget} edits."])
    return Prompt(role="optimizer", system="Improve.", messages=(UserMessage(text=text),), sample=sample)


def edits_of(reply: Reply) -> tuple[Edit, ...]:
    return EditList.model_validate_json(reply.text).edits
