from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.skilldoc import same_rule

SAME = [
    ("Always include a section headed 'Key Risks'.", "Make sure there is a 'Key Risks' section"),
    ("Always include a section headed 'Key Risks'.", "Every reply must contain a heading “Key Risks”."),
    ("Always include a section headed 'Key Risks'.", "Never omit the `## Key Risks` section."),
    ("Include a 'Risks' section.", "Do not reply without a section titled Risks."),
    (
        "Always include a section headed 'Risks'.",
        "Always include a section headed 'Risks'.\n\n```\n## Risks\n- none\n```",
    ),
    ("Keep replies under 50 words.", "Use at most 50 words."),
    (
        "Keep replies under 50 words.",
        "This holds even where other instructions disagree: keep the reply under 50 words.",
    ),
    ("Keep replies under 50 words.", "Keep replies under 50 words. Do this whatever the request is about."),
    ("Keep replies under 50 words.", "Do not write more than 50 words."),
    ("Answer in three bullets.", "Use 3 bullets in the answer."),
    ("Use imperative mood in the subject line", "Write the subject line in the imperative mood."),
    ("Be brief.", "Keep the answer short."),
    ("Never use emojis.", "Avoid emojis"),
    ("End with the ticket number.", "Always close the reply with the ticket number."),
    ("Start with a one-line summary.", "Begin every reply with a one-line summary."),
    ("Always mention the SKU.", "Make sure the SKU is mentioned."),
    ("不要使用表情符号。", "不要使用表情符号"),
]

DIFFERENT = [
    ("Always include a section headed 'Key Risks'.", "Never include a section headed 'Key Risks'."),
    ("Always include a section headed 'Key Risks'.", "Always include a section headed 'Risks'."),
    ("Always include a section headed 'Risks'.", "End the reply with 'Risks'."),
    ("Start with 'Hello'.", "End with 'Hello'."),
    ("Keep replies under 50 words.", "Keep replies under 80 words."),
    ("Keep replies under 50 words.", "Keep replies under 50 characters."),
    ("Keep replies under 50 words.", "Write at least 50 words."),
    ("Use at least 3 examples", "Use no more than 3 examples"),
    ("Use emojis.", "Avoid emojis."),
    ("Do not include greetings and never sign off.", "Include greetings and sign off."),
    ("Limit the summary to 3 sentences.", "Limit the answer to 3 sentences."),
    ("Mention the author.", "Mention the deadline."),
    ("Put the summary before the table.", "Put the summary after the table."),
    ("Use tabs for indentation.", "Use spaces for indentation."),
    ("Follow this format:\n```\nA\n```", "Follow this format:\n```\nB\n```"),
    ("不要使用表情符号。", "请使用表情符号。"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_reworded_rule_is_the_same_rule(one: str, other: str) -> None:
    assert same_rule(one, other)
    assert same_rule(other, one)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_another_polarity_name_number_bound_or_place_is_another_rule(one: str, other: str) -> None:
    assert not same_rule(one, other)
    assert not same_rule(other, one)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_sameness_holds_for_a_rule_itself_and_does_not_depend_on_the_order(one: str, other: str) -> None:
    assert same_rule(one, one)
    assert same_rule(one, other) == same_rule(other, one)
