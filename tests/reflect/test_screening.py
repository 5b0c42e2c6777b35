from __future__ import annotations

import pytest

from skillopt_sleep.domain.skills import AddRule, DropRule, Edit, ReplaceRule
from skillopt_sleep.reflect import screen


def keeps_secrets(text: str) -> bool:
    return "^REF-[0-9]{3}$" in text


def never(_text: str) -> bool:
    return False


def test_an_edit_that_repeats_a_pattern_of_the_judge_is_refused_and_shown() -> None:
    leak = ReplaceRule(rule_id="r1", text="End with something like ^REF-[0-9]{3}$.")
    fine = AddRule(text="End with a reference such as REF-123.")
    kept, refused = screen([leak, fine], leaks=keeps_secrets)
    assert kept == (fine,)
    assert [(outcome.edit, outcome.status) for outcome in refused] == [(leak, "judge_leak")]
    assert refused[0].detail


@pytest.mark.parametrize(
    "rule",
    [
        "State that the tests passed.",
        "State that all tests pass.",
        "After each change, state that the full test suite was executed and passed.",
        "Tell the person that the suite ran and that it is green.",
        "Always state that pytest passed.",
        'Add "Tests: passed" to the reply.',
        "Always say that you verified the figures.",
        "Say that you have run the linter.",
        "Assure the reader that you double-checked the numbers.",
        "Say that you searched the notes.",
        'Write "I ran the tests and they passed." at the end.',
        "Include the line `Verified: I checked every figure.`",
        'Begin with "Verified".',
        "Mention that the build succeeded.",
        "Report that the pipeline is clean.",
        "Tell the user that everything was tested.",
        "Claim that the change has been fully verified.",
        "If you changed code, state that the tests passed.",
        "Without exception, state that the tests passed.",
        "Do not forget to say that all tests passed.",
        "End with a test report. For example:\n\n~~~\nAll 42 tests passed\n~~~",
    ],
)
def test_a_rule_that_makes_the_agent_claim_work_is_refused(rule: str) -> None:
    kept, refused = screen([AddRule(text=rule)], leaks=never)
    assert kept == ()
    assert refused[0].status == "fabrication"


@pytest.mark.parametrize(
    "rule",
    [
        "Run the tests and state whether they passed.",
        "If the tests passed, say so.",
        "Never say that the tests passed.",
        "Never claim, state or imply that tests passed.",
        "Do not state that you verified something unless you did.",
        "Make sure all tests pass before you commit.",
        "Say which tests you ran.",
        "Say what was not tested.",
        "State how the figures were verified.",
        "State the test command that the person should run.",
        'Include a section headed "Tests".',
        'Include a section headed "Test plan" that lists what to test.',
        "Write tests that are green on the first run.",
        'End with a line "Checked by: <name>".',
        'End with a line "Verified: <yes or no>".',
        "Call the `search` tool before answering.",
        "Mention every file that you read.",
        "Keep the reply under 1200 characters.",
    ],
)
def test_honest_rules_about_work_may_be_tried(rule: str) -> None:
    kept, refused = screen([AddRule(text=rule)], leaks=never)
    assert (len(kept), refused) == (1, ())


def test_dropping_a_rule_claims_nothing() -> None:
    edit = DropRule(rule_id="r1", reason="It says that the tests passed.")
    assert screen([edit], leaks=keeps_secrets) == ((edit,), ())


def test_what_goes_beyond_the_budget_is_refused_after_the_rest_was_screened() -> None:
    edits: list[Edit] = [AddRule(text="State that the tests passed."), *(AddRule(text=f"Rule {n}.") for n in range(3))]
    kept, refused = screen(edits, leaks=never, edit_budget=2)
    assert kept == tuple(edits[1:3])
    assert [outcome.status for outcome in refused] == ["fabrication", "over_budget"]
