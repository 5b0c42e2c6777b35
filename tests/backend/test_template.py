from __future__ import annotations

import anyio
import pytest

from skillopt_sleep.backend.template import TemplateModel
from skillopt_sleep.domain.briefing import Requirement
from skillopt_sleep.domain.errors import ModelMalformed
from skillopt_sleep.domain.llm import Prompt
from skillopt_sleep.domain.skills import AddRule, Edit, EditList, ReplaceRule, Rule
from tests.backend.fakes import ask
from tests.backend.sim_talk import edits_of, has_heading, optimiser_prompt, share, skill

SCOPE = Requirement(text='Include a section headed "Scope".', example="## Scope", failed=3, seen=9, families=5)
LIMIT = Requirement(text="Keep the reply at or under 900 characters.", failed=8, seen=9, families=2)
OWNER = Requirement(text='Include text of the form "Owner:".', example="Owner: ...", failed=3, seen=9, families=6)
LONER = Requirement(text='Include the text "platypus".', failed=9, seen=9, families=1)


def proposed(prompt: Prompt) -> tuple[Edit, ...]:
    async def main() -> tuple[Edit, ...]:
        return edits_of(await TemplateModel().generate(prompt, schema=EditList))

    return anyio.run(main)


def texts(edits: tuple[Edit, ...]) -> list[str]:
    return [edit.text for edit in edits if isinstance(edit, AddRule | ReplaceRule)]


def test_what_failed_most_comes_first_then_what_most_families_state() -> None:
    assert texts(proposed(optimiser_prompt([SCOPE, OWNER, LIMIT]))) == [
        "Keep the reply at or under 900 characters.",
        'Include text of the form "Owner:". For example: `Owner: ...`',
        'Include a section headed "Scope". For example: `## Scope`',
    ]


def test_an_example_of_several_lines_becomes_a_block() -> None:
    table = Requirement(text="Include a table.", example="| a |\n|---|", failed=1, seen=1, families=2)
    assert texts(proposed(optimiser_prompt([table]))) == ["Include a table.\n\n~~~\n| a |\n|---|\n~~~"]


def test_the_budget_is_kept() -> None:
    assert len(proposed(optimiser_prompt([SCOPE, OWNER, LIMIT], budget=1))) == 1


def test_what_one_family_states_is_left_aside_unless_there_is_nothing_else() -> None:
    assert "platypus" not in str(proposed(optimiser_prompt([LONER, SCOPE])))
    assert "platypus" in str(proposed(optimiser_prompt([LONER])))


def test_what_was_met_is_left_alone() -> None:
    assert proposed(optimiser_prompt([SCOPE.model_copy(update={"failed": 0})])) == ()


def test_a_rule_that_stands_and_fails_is_made_firmer_once() -> None:
    (first,) = texts(proposed(optimiser_prompt([SCOPE])))
    (edit,) = proposed(optimiser_prompt([SCOPE], rules=[Rule(id="r1", text=first)]))
    assert isinstance(edit, ReplaceRule)
    assert edit.rule_id == "r1"
    assert edit.text.startswith(SCOPE.text)
    assert "every reply" in edit.text
    assert proposed(optimiser_prompt([SCOPE], rules=[Rule(id="r1", text=edit.text)])) == ()


def test_a_rule_that_was_turned_down_is_not_proposed_again() -> None:
    (first,) = texts(proposed(optimiser_prompt([SCOPE])))
    second = texts(proposed(optimiser_prompt([SCOPE], turned_down=[first])))
    assert first not in second
    assert proposed(optimiser_prompt([SCOPE], turned_down=[first, *second])) == ()


def test_it_refuses_to_answer_or_to_judge() -> None:
    for role in ("target", "judge", "optimizer"):
        with pytest.raises(ModelMalformed, match="only proposes edits"):
            anyio.run(TemplateModel().generate, ask(role=role))


@pytest.mark.parametrize("requirement", [SCOPE, OWNER, LIMIT])
def test_its_rules_work_on_a_model_that_follows_rules(requirement: Requirement) -> None:
    (rule,) = texts(proposed(optimiser_prompt([requirement])))
    holds = {
        SCOPE.text: has_heading("Scope"),
        OWNER.text: lambda t: "\nOwner: " in t,
        LIMIT.text: lambda t: len(t) <= 900,
    }
    assert share("strong", skill(), holds[requirement.text], count=60) < 0.05
    assert share("strong", skill(rule), holds[requirement.text], count=100) > 0.85
