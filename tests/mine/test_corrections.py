from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.mine.corrections import read_turn
from skillopt_sleep.mine.grammar import read_checks

Stated = list[tuple[str, object]]


def stated(text: str) -> Stated:
    return [(check.op, check.arg) for check in read_checks(text)]


@pytest.mark.parametrize(
    ("text", "checks"),
    [
        # as people write them
        ('No. Always add a section headed "Known issues".', [("section_present", "Known issues")]),
        ('That is wrong, always start with "Summary:".', [("starts_with", "Summary:")]),
        ("You forgot it again: keep it under 120 words.", [("max_words", 119)]),
        ('No, the answer must contain "ACC-4471".', [("contains", "ACC-4471")]),
        # sections and headings
        ("include a section called “Next steps”", [("section_present", "Next steps")]),
        ("there must be a 'Risks' heading", [("section_present", "Risks")]),
        ("I want a “Risks” section, please", [("section_present", "Risks")]),
        ("add a section with the heading «Risques»", [("section_present", "Risques")]),
        ('Please add a "## Risks" heading', [("heading", "Risks")]),
        ('always have a ## heading "Risks"', [("heading", "Risks")]),
        ("Always add a section headed Known issues.", [("section_present", "Known issues")]),
        ('add sections "Risks" and "Next steps"', [("section_present", "Risks"), ("section_present", "Next steps")]),
        ('a section called "A" and one called "B"', [("section_present", "A"), ("section_present", "B")]),
        ('You forgot the "Risks" section.', [("section_present", "Risks")]),
        ("the “Risks” section is missing", [("section_present", "Risks")]),
        ('There is no "Risks" section!', [("section_present", "Risks")]),
        ('it still doesn\'t have a section titled "Risks:"', [("section_present", "Risks")]),
        # start and end
        ("begin the reply with `TL;DR`", [("starts_with", "TL;DR")]),
        ('begin every answer with the line "Summary:"', [("starts_with", "Summary:")]),
        ("start with Summary: please", [("starts_with", "Summary:")]),
        ('always end with "Best regards,"', [("ends_with", "Best regards,")]),
        ("the last line must be `END`", [("ends_with", "END")]),
        # content
        ('mention the phrase "as of today."', [("contains", "as of today")]),
        ("mention ACC-4471 in it", [("contains", "ACC-4471")]),
        ('Don\'t forget to mention "ACC-1" and "ACC-2"', [("contains", "ACC-1"), ("contains", "ACC-2")]),
        ('you didn’t include "ACC-1"', [("contains", "ACC-1")]),
        ('I said "Foo" must be mentioned!', [("contains", "Foo")]),
        ('never use "leverage"', [("not_contains", "leverage")]),
        ("don't say 'synergy' or 'paradigm'", [("not_contains", "synergy"), ("not_contains", "paradigm")]),
        ("Do not mention “beta”, start with “Update:”", [("not_contains", "beta"), ("starts_with", "Update:")]),
        ('Don\'t, under any circumstances, mention "X1".', [("not_contains", "X1")]),
        ('stop writing "foo"', [("not_contains", "foo")]),
        ('use "customers" instead of "users"', [("contains", "customers"), ("not_contains", "users")]),
        ('say "customers", not "users"', [("contains", "customers"), ("not_contains", "users")]),
        ('I don\'t like this, please add a section headed "Risks"', [("section_present", "Risks")]),
        # length
        ("at most 80 words", [("max_words", 80)]),
        ("no more than 1,200 characters please", [("max_chars", 1200)]),
        ("fewer than 50 words", [("max_words", 49)]),
        ("the reply must not exceed 100 words", [("max_words", 100)]),
        ("make it a hundred words or less", [("max_words", 100)]),
        ("a 60-word limit", [("max_words", 60)]),
        ("max. 90 words", [("max_words", 90)]),
        ("at least 20 words", [("min_words", 20)]),
        ("no fewer than 20 words", [("min_words", 20)]),
        ("That was at least 300 words, keep it within 120 words.", [("max_words", 120)]),
        # JSON and tools
        ("answer in valid JSON", [("json_valid", None)]),
        ("only JSON", [("json_valid", None)]),
        ("reply as JSON, not YAML", [("json_valid", None)]),
        ("use the `search` tool first", [("tool_called", "search")]),
        ("always call the search tool", [("tool_called", "search")]),
        ("don't forget to use the `search` tool", [("tool_called", "search")]),
    ],
)
def test_a_correction_becomes_checks(text: str, checks: Stated) -> None:
    assert stated(text) == checks


@pytest.mark.parametrize(
    "text",
    [
        'don\'t include a section called "Secrets"',
        'no "Risks" section please',
        'never add a heading titled "Conclusion"',
        'remove the section "Old"',
        'don\'t start with "Sure"',
        "don't use the `search` tool",
        "never call the search tool",
        "don't answer in JSON",
        "reply as YAML, not JSON",
        "that was more than 300 words",
        "you don't need to keep it under 80 words",
        "keep it to 3 sentences",
        "be more polite",
        'You wrote "foo" again',
        'explain what "idempotent" means',
    ],
)
def test_what_is_forbidden_or_only_described_never_becomes_a_demand(text: str) -> None:
    assert stated(text) == []


@pytest.mark.parametrize(
    ("text", "checks"),
    [
        ("不要使用“我们”", [("not_contains", "我们")]),
        ("请添加标题为“风险”的部分", [("section_present", "风险")]),
        ("以“摘要：”开头", [("starts_with", "摘要：")]),
        ("不超过100字", [("max_chars", 100)]),
        ("必ず「概要：」で始めてください", [("starts_with", "概要：")]),
        ("「弊社」を使わないでください", [("not_contains", "弊社")]),
        ("「リスク」というセクションを追加してください", [("section_present", "リスク")]),
        ("100文字以内で", [("max_chars", 100)]),
        ("Nein, beginne immer mit „Zusammenfassung:“", [("starts_with", "Zusammenfassung:")]),
        ("höchstens 80 Wörter", [("max_words", 80)]),
        ("nunca uses «nosotros»", [("not_contains", "nosotros")]),
        ("Siempre empieza con «Resumen:»", [("starts_with", "Resumen:")]),
        ("N'oublie pas d'ajouter une section « Risques »", [("section_present", "Risques")]),
        ("никогда не используй «мы»", [("not_contains", "мы")]),
        ("добавь раздел «Риски»", [("section_present", "Риски")]),
        ("sempre comece com “Resumo:”", [("starts_with", "Resumo:")]),
        ("não use “nós”", [("not_contains", "nós")]),
    ],
)
def test_other_languages_state_checks_as_well(text: str, checks: Stated) -> None:
    assert stated(text) == checks
    assert read_turn(text, follows_reply=True) == "correction"


NAMES = st.text("abcdefgh XYZ", min_size=1, max_size=12).map(str.strip).filter(lambda name: len(name) > 1)
MARKS = st.sampled_from(['"{}"', "“{}”", "`{}`", "'{}'", "« {} »", "「{}」", "„{}“"])
OPENINGS = st.sampled_from(["", "No. ", "No, ", "That's wrong. ", "Again: ", "Please ", "Next time, "])


@settings(max_examples=80, deadline=None)
@given(name=NAMES, marks=MARKS, opening=OPENINGS)
def test_wording_and_marks_around_a_name_do_not_change_the_check(name: str, marks: str, opening: str) -> None:
    quoted = marks.format(name)
    assert stated(f"{opening}always add a section headed {quoted}.") == [("section_present", name)]
    assert stated(f"{opening}start with {quoted}") == [("starts_with", name)]
    assert stated(f"{opening}never mention {quoted}!") == [("not_contains", name)]
    assert stated(f"{opening}don't include a section called {quoted}.") == []


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=120))
def test_any_text_can_be_read(text: str) -> None:
    read_checks(text)
    read_turn(text, follows_reply=True)


@pytest.mark.parametrize(
    ("text", "after_a_reply", "at_the_start"),
    [
        ("now write the release notes for the signup form", "request", "request"),
        ("no, write the release notes for the signup form instead", "request", "request"),
        ("Summarise the report in at most 80 words", "request", "request"),
        ('write release notes for signup. Always mention "beta".', "request", "request"),
        ('translate "hello" to French', "request", "request"),
        ('list three cities that start with "B"', "request", "request"),
        ("Why do birds sing?", "request", "request"),
        ("Great. Now explain how DNS works", "request", "request"),
        ("that's not what I asked", "correction", "request"),
        ("make it funnier", "correction", "request"),
        ("too long", "correction", "chatter"),
        ('Write it with a section headed "Risks" this time', "correction", "request"),
        ('thanks, but always start with "X:"', "correction", "praise"),
        ("不对，请用中文", "correction", "request"),
        ("perfect, thanks!", "praise", "praise"),
        ("Looks good, ship it", "praise", "praise"),
        ("continue", "chatter", "chatter"),
        ("ok thanks", "chatter", "chatter"),
        ("Never mind", "chatter", "chatter"),
        ("try again", "chatter", "chatter"),
        ("続けて", "chatter", "chatter"),
        ("/compact", "chatter", "chatter"),
        ("", "chatter", "chatter"),
    ],
)
def test_a_turn_is_told_by_its_wording_and_its_place(text: str, after_a_reply: str, at_the_start: str) -> None:
    assert read_turn(text, follows_reply=True) == after_a_reply
    assert read_turn(text, follows_reply=False) == at_the_start


@pytest.mark.parametrize(
    "said",
    [
        'You forgot to remove "TODO".',
        'Make sure you don\'t say "ACME".',
        'No need to say "Best regards".',
        'You don\'t have to include a section headed "Risks".',
        'You keep writing "utilize".',
        'No, kill the section called "Risks".',
        'Rename the "Risks" section to "Dangers".',
        'Include neither "ACME" nor "Foo".',
        'Quita la sección "Riesgos".',
        "Keep the title under 60 characters.",
        "Each bullet should be at most 10 words.",
        'If there are breaking changes, include a section called "Breaking changes".',
    ],
)
def test_twisted_scoped_or_conditional_wording_gives_no_check_rather_than_the_opposite(said: str) -> None:
    assert [check for check in read_checks(said) if check.op != "not_contains"] == []
