from __future__ import annotations

from collections import Counter

import anyio
import pytest

from skillopt_sleep.backend.sim import SimModel, Strength
from skillopt_sleep.domain.briefing import Requirement
from skillopt_sleep.domain.errors import ModelMalformed
from skillopt_sleep.domain.llm import Prompt, UserMessage
from skillopt_sleep.domain.skills import AddRule, DropRule, Edit, EditList, ReplaceRule, Rule
from tests.backend.sim_talk import edits_of, optimiser_prompt

SCOPE = Requirement(text='Include a section headed "Scope".', example="## Scope", failed=9, seen=10, families=5)
LIMIT = Requirement(text="Keep the reply at or under 900 characters.", failed=4, seen=10, families=5)
LONER = Requirement(text='Include the text "platypus".', failed=10, seen=10, families=1)
MET = Requirement(text="Use bullet points.", failed=0, seen=10, families=5)


def proposed(strength: Strength, prompt: Prompt) -> tuple[Edit, ...]:
    async def main() -> tuple[Edit, ...]:
        return edits_of(await SimModel(strength).generate(prompt, schema=EditList))

    return anyio.run(main)


def kinds(strength: Strength, count: int) -> Counter[str]:
    """What became of `count` single edits for one failing requirement."""
    found: Counter[str] = Counter()
    for sample in range(count):
        for edit in proposed(strength, optimiser_prompt([SCOPE], budget=1, sample=sample)):
            assert isinstance(edit, AddRule)
            if edit.text.lower().startswith("do not include"):
                found["harmful"] += 1
            elif '"Scope"' in edit.text:
                found["good"] += 1
            elif "section headed" in edit.text:
                found["wrong"] += 1
            else:
                found["idle"] += 1
    return found


@pytest.mark.parametrize(("strength", "good"), [("weak", 0.40), ("mid", 0.65), ("strong", 0.85)])
def test_an_optimiser_is_good_as_often_as_its_strength_promises(strength: Strength, good: float) -> None:
    found = kinds(strength, 400)
    assert abs(found["good"] / 400 - good) < 0.06
    assert all(found[kind] for kind in ("harmful", "wrong", "idle"))


def test_edits_are_for_what_failed_most_and_within_the_budget() -> None:
    many = [SCOPE, LIMIT, MET, *(SCOPE.model_copy(update={"text": f'Mention "n{n}".', "failed": 1}) for n in range(6))]
    edits = proposed("strong", optimiser_prompt(many, budget=3))
    assert len(edits) == 3
    text = "\n".join(edit.text for edit in edits if isinstance(edit, AddRule))
    assert "bullet" not in text


def test_nothing_failed_so_nothing_is_proposed() -> None:
    assert proposed("weak", optimiser_prompt([MET])) == ()
    assert proposed("weak", optimiser_prompt([])) == ()


def test_a_strong_optimiser_leaves_aside_what_would_not_generalise() -> None:
    def about_one_request(strength: Strength) -> int:
        prompts = [optimiser_prompt([LONER, SCOPE], sample=sample) for sample in range(100)]
        return sum("platypus" in str(proposed(strength, prompt)) for prompt in prompts)

    assert about_one_request("strong") < 15
    assert about_one_request("weak") > 30


def test_a_rule_that_stands_and_fails_is_put_more_firmly() -> None:
    rules = [Rule(id="r1", text=SCOPE.text)]
    edits = [edit for s in range(20) for edit in proposed("strong", optimiser_prompt([SCOPE], rules=rules, sample=s))]
    firmer = [edit for edit in edits if isinstance(edit, ReplaceRule)]
    assert len(firmer) > 10
    assert all(edit.rule_id == "r1" and edit.text != SCOPE.text for edit in firmer)


def test_a_harmful_rule_is_dropped() -> None:
    rules = [Rule(id="bad", text='Never include a section called "Scope".')]
    edits = [edit for s in range(20) for edit in proposed("strong", optimiser_prompt([SCOPE], rules=rules, sample=s))]
    assert sum(edit == DropRule(rule_id="bad", reason=edit.reason) for edit in edits) > 10


def test_a_good_rule_that_was_turned_down_is_not_proposed_again() -> None:
    first = {
        edit.text
        for sample in range(60)
        for edit in proposed("strong", optimiser_prompt([SCOPE], sample=sample))
        if isinstance(edit, AddRule) and "For example" in edit.text
    }
    assert len(first) > 1
    again = [
        edit.text
        for sample in range(60)
        for edit in proposed("strong", optimiser_prompt([SCOPE], turned_down=sorted(first), sample=sample))
        if isinstance(edit, AddRule)
    ]
    assert not first & set(again)


def test_a_briefing_that_cannot_be_read_is_malformed() -> None:
    text = '<requirements>\n[{"text": 3}]\n</requirements>'
    prompt = Prompt(role="optimizer", system="", messages=(UserMessage(text=text),))
    with pytest.raises(ModelMalformed, match="briefing"):
        proposed("strong", prompt)
