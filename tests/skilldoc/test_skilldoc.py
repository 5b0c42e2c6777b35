from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.domain.errors import InputError
from skillopt_sleep.domain.skills import AddRule, DropRule, Edit, ReplaceRule
from skillopt_sleep.ruletext import tidy
from skillopt_sleep.skilldoc import SkillDoc, unified_diff

PATH = Path("SKILL.md")
RULE = 'Always add a section headed "Risks".'


def doc(data: bytes = b"# Skill\n\nBe brief.\n") -> SkillDoc:
    return SkillDoc.parse(data, path=PATH)


def added(text: str = RULE, to: SkillDoc | None = None) -> SkillDoc:
    after, outcomes = (to or doc()).apply([AddRule(text=text)], budget=4)
    assert [outcome.status for outcome in outcomes] == ["applied"]
    return after


def status(edit: Edit, to: SkillDoc, *, turned_down: tuple[str, ...] = (), budget: int = 4) -> str:
    after, (outcome,) = to.apply([edit], budget=budget, turned_down=turned_down)
    if outcome.status != "applied":
        assert after.data == to.data
    return outcome.status


documents = st.builds(
    lambda lines, end, bom, last: (
        (b"\xef\xbb\xbf" if bom else b"") + (end.join(lines) + (end if last else "")).encode()
    ),
    st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=20), max_size=8),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.booleans(),
)


@settings(max_examples=150, deadline=None)
@given(documents)
def test_whatever_stands_outside_the_region_stays_byte_for_byte(data: bytes) -> None:
    after, outcomes = doc(data).apply([AddRule(text=RULE)], budget=1)
    if outcomes[0].status == "applied":
        assert after.data.startswith(data)
        again, _ = after.apply([AddRule(text="Never write more than 80 words.")], budget=1)
        assert again.data.startswith(data)
        assert len(again.rules) == 2


@settings(max_examples=150, deadline=None)
@given(documents)
def test_dropping_the_last_rule_gives_back_the_very_bytes_of_before(data: bytes) -> None:
    after, outcomes = doc(data).apply([AddRule(text=RULE)], budget=1)
    if outcomes[0].status == "applied":
        without, _ = after.apply([DropRule(rule_id=after.rules[0].id)], budget=1)
        assert without.data == data


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from("abcdef #-`*<>!\n \t"), min_size=1, max_size=40).map("".join))
def test_a_rule_of_any_text_survives_writing_and_reading_or_is_refused(text: str) -> None:
    after, (outcome,) = doc().apply([AddRule(text=text)], budget=1)
    if outcome.status == "applied":
        read = SkillDoc.parse(after.data, path=PATH)
        assert read.rules == after.rules
        assert read.rules[0].text == tidy(text)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_new_region_takes_the_line_ends_of_the_document(end: bytes) -> None:
    after = added(to=doc(b"# A" + end + b"text" + end))
    assert after.data.count(b"\n") == after.data.count(end)


def test_a_rule_with_an_example_in_a_code_block_keeps_it() -> None:
    text = "End with a list.\n\n```\n- one\n\n- two\n```"
    assert added(text).rules[0].text == text


def test_several_edits_are_made_in_order_and_ids_are_stable() -> None:
    first = added()
    rule = first.rules[0]
    after, outcomes = first.apply(
        [
            AddRule(text="Keep it under 90 words."),
            ReplaceRule(rule_id=rule.id, text='Always add a section headed "Dangers".'),
            DropRule(rule_id="nope"),
        ],
        budget=4,
    )
    assert [outcome.status for outcome in outcomes] == ["applied", "applied", "unmatched"]
    assert after.rules[0].id == rule.id
    assert "Dangers" in after.rules[0].text
    assert first.rules == (rule,), "apply must not change the document it is called on"


def test_only_the_budget_is_made_and_the_rest_is_reported() -> None:
    edits = [AddRule(text=f"Mention the number {n}.") for n in (1, 2, 3)]
    after, outcomes = doc().apply(edits, budget=2)
    assert [outcome.status for outcome in outcomes] == ["applied", "applied", "over_budget"]
    assert len(after.rules) == 2


@pytest.mark.parametrize(
    "again",
    [RULE, "Make sure there is a 'Risks' section.", "be brief.", "Every reply must have a section titled “Risks”"],
)
def test_what_the_document_says_already_is_no_change(again: str) -> None:
    assert status(AddRule(text=again), added()) == "no_change"


@pytest.mark.parametrize(
    "other",
    ['Never add a section headed "Risks".', 'Always add a section headed "Costs".', 'End the reply with "Risks".'],
)
def test_another_polarity_name_or_place_is_another_rule(other: str) -> None:
    assert status(AddRule(text=other), added()) == "applied"


def test_a_rule_that_was_turned_down_does_not_come_back_even_reworded() -> None:
    reworded = 'In every reply: include a section headed "Risks".'
    assert status(AddRule(text=reworded), doc(), turned_down=(RULE,)) == "remembered"
    kept = added("Keep it under 90 words.")
    assert status(ReplaceRule(rule_id=kept.rules[0].id, text=reworded), kept, turned_down=(RULE,)) == "remembered"


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: other\n---\nBe kind.",
        "<!-- skillopt-sleep:end -->",
        "Ring the bell \x07.",
        "Show this:\n```\nnever closed",
        "# A new title\ntext",
        "   ",
    ],
)
def test_a_text_that_would_break_the_document_is_refused(text: str) -> None:
    assert status(AddRule(text=text), doc(b"---\nname: a\n---\n# A\n")) == "malformed"


def test_front_matter_is_read_and_never_touched() -> None:
    source = b"---\nname: commit-helper\ndescription: 'When committing'\n---\n# A\n"
    after = added(to=doc(source))
    assert (after.name, after.description) == ("commit-helper", "When committing")
    assert after.data.count(b"---\n") == 2


def test_what_a_person_wrote_into_the_region_stays_there() -> None:
    own = added().data.replace(b"<!-- skillopt-sleep:end -->", b"- mine, by hand\n<!-- skillopt-sleep:end -->")
    read = doc(own)
    without, _ = read.apply([DropRule(rule_id=read.rules[0].id)], budget=1)
    assert b"- mine, by hand\n" in without.data


def test_a_document_that_ends_inside_a_code_block_gets_no_rules_that_would_be_read_as_code() -> None:
    open_end = doc(b"# A\n```\ncode\n")
    assert status(AddRule(text=RULE), open_end) == "malformed"
    assert status(AddRule(text=RULE), doc(b"# A\n```\ncode\n```\n")) == "applied"


def test_markers_inside_a_code_block_are_only_text() -> None:
    source = b"# A\n```\n<!-- skillopt-sleep:begin -->\n```\n"
    assert added(to=doc(source)).data.startswith(source)


@pytest.mark.parametrize(
    "damage",
    [
        b"<!-- skillopt-sleep:begin -->\n- x\n",
        b"<!-- skillopt-sleep:end -->\n<!-- skillopt-sleep:begin -->\n",
        b"<!-- skillopt-sleep:begin -->\n<!-- skillopt-sleep:begin -->\n<!-- skillopt-sleep:end -->\n",
    ],
)
def test_damaged_markers_are_an_error_with_their_lines(damage: bytes) -> None:
    with pytest.raises(InputError, match="markers of the managed region are damaged"):
        doc(b"# A\n" + damage)


def test_a_missing_file_is_an_empty_document_that_does_not_exist(tmp_path: Path) -> None:
    found = SkillDoc.read(tmp_path / "SKILL.md")
    assert (found.exists, found.sha256, found.data) == (False, None, b"")


def test_bytes_that_are_not_utf8_and_a_folder_are_errors_that_name_the_path(tmp_path: Path) -> None:
    latin = tmp_path / "latin.md"
    latin.write_bytes("größer".encode("latin-1"))
    for path in (latin, tmp_path):
        with pytest.raises(InputError) as caught:
            SkillDoc.read(path)
        assert str(path) in caught.value.message


def test_the_diff_shows_added_lines_and_nothing_for_equal_documents() -> None:
    assert "+- Always add" in unified_diff(doc().data, added().data, "SKILL.md")
    assert unified_diff(b"a\r\n", b"a\r\n", "x") == ""


# --- a region among other text ----------------------------------------------------------------------------------------

edits = st.lists(
    st.one_of(
        st.builds(lambda n: AddRule(text=f"Mention item {n}.\n\n```\n- {n}\n```"), st.integers(0, 5)),
        st.builds(lambda n, t: ReplaceRule(rule_id=f"id{n}", text=f"Say {t}."), st.integers(0, 3), st.integers(0, 5)),
        st.builds(lambda n: DropRule(rule_id=f"id{n}"), st.integers(0, 3)),
    ),
    max_size=6,
)
REGION = (
    b"<!-- skillopt-sleep:begin -->\n## Learned rules\n\n- One. <!-- rule:id0 -->\n- Two. <!-- rule:id1 -->\n"
    b"- By hand.\nLoose text.\n<!-- skillopt-sleep:end -->\n"
)


@settings(max_examples=150, deadline=None)
@given(documents, documents, edits)
def test_edits_of_a_region_leave_everything_around_it_as_it_was(head: bytes, tail: bytes, made: list[Edit]) -> None:
    head = head if head.endswith((b"\n", b"\r")) or not head else head + b"\n"
    tail = tail.removeprefix(b"\xef\xbb\xbf")
    try:
        before = doc(head + REGION + tail)
    except InputError:  # the text around it opened a code block: then this is no region
        return
    if not before.rules:
        return
    source = before.data
    after, _ = before.apply(made, budget=4)
    again, _ = before.apply(made, budget=4)
    assert before.data == source, "apply must not change the document it is called on"
    assert after.data == again.data
    assert after.data.startswith(head + b"<!-- skillopt-sleep:begin -->")
    assert after.data.endswith(b"Loose text.\n<!-- skillopt-sleep:end -->\n" + tail)
    assert SkillDoc.parse(after.data, path=PATH).rules == after.rules
    assert len({rule.id for rule in after.rules}) == len(after.rules)


def test_a_region_that_goes_does_not_join_what_a_person_wrote_around_it() -> None:
    with_region = added(to=doc(b"A"))
    edited = doc(with_region.data + b"\nB\n")
    without, _ = edited.apply([DropRule(rule_id=edited.rules[0].id)], budget=1)
    assert without.data == b"A\n\nB\n"
    moved = doc(with_region.data.replace(b"A\n\n", b"A\n"))
    without, _ = moved.apply([DropRule(rule_id=moved.rules[0].id)], budget=1)
    assert without.data == b"A\n"


def test_list_items_written_by_hand_are_rules_with_ids_of_their_own() -> None:
    own = added().data.replace(b"<!-- skillopt-sleep:end", b"* Mine.\n* Mine.\n<!-- skillopt-sleep:end")
    read = doc(own)
    assert [rule.text for rule in read.rules] == [RULE, "Mine.", "Mine."]
    assert len({rule.id for rule in read.rules}) == 3
    assert status(AddRule(text="mine"), read) == "no_change"
    changed, _ = read.apply([ReplaceRule(rule_id=read.rules[1].id, text="Ours.")], budget=1)
    assert [rule.id for rule in changed.rules][:2] == [rule.id for rule in read.rules][:2]


def test_an_item_too_long_for_a_rule_is_left_alone() -> None:
    own = added().data.replace(b"<!-- skillopt-sleep:end", b"- " + b"x" * 1300 + b"\n<!-- skillopt-sleep:end")
    read = doc(own)
    without, _ = read.apply([DropRule(rule_id=rule.id) for rule in read.rules], budget=4)
    assert len(read.rules) == 1
    assert b"x" * 1300 in without.data


@pytest.mark.parametrize(
    "source",
    [
        b"---\nname: a\ndescription: |\n  <!-- skillopt-sleep:begin -->\n---\n# A\n",
        b"Write `<!-- skillopt-sleep:begin -->` to begin.\n",
        b"    <!-- skillopt-sleep:begin -->\n",
        b"~~~~\n~~~\n<!-- skillopt-sleep:begin -->\n~~~~\n",
        b"````md\n```\n<!-- skillopt-sleep:end -->\n````\n",
    ],
)
def test_markers_that_are_only_spoken_of_do_not_count(source: bytes) -> None:
    assert added(to=doc(source)).data.startswith(source)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (b"a\nb <!-- skillopt-sleep:begin -->\n", 2),
        (b"<!-- skillopt-sleep:begn -->\n", 1),
        (b"<!-- skillopt-sleep:begin -->\n```\n<!-- skillopt-sleep:end -->\n", 1),
    ],
)
def test_a_mangled_marker_is_named_with_its_line(source: bytes, line: int) -> None:
    with pytest.raises(InputError, match=rf"SKILL\.md.*damaged \(line {line}\)"):
        doc(source)


# --- edits that must not be made --------------------------------------------------------------------------------------


def test_an_answer_equal_to_the_input_is_no_change() -> None:
    source = doc(b"---\nname: a\ndescription: b\n---\n# A\n\n- Be brief.\n")
    assert status(AddRule(text=source.text), source) == "no_change"
    with_rule = added(to=source)
    assert status(AddRule(text=with_rule.text), with_rule) == "no_change"
    assert status(ReplaceRule(rule_id=with_rule.rules[0].id, text=RULE + "  "), with_rule) == "no_change"


def test_part_of_a_line_does_not_say_what_the_line_says() -> None:
    assert status(AddRule(text="Use tables."), doc(b"Never use tables.\n")) == "applied"


@pytest.mark.parametrize(
    "text",
    [
        "Title\n=====\ntext",
        "Hide \u202ethis\u202c.",
        "Next\u2028line.",
        "C1 \x85 control.",
        "```\nfirst a block\n```",
        "Fence:\n````\n```",
    ],
)
def test_more_texts_that_would_break_or_hide_something_are_refused(text: str) -> None:
    assert status(AddRule(text=text), doc()) == "malformed"


def test_a_document_that_ends_inside_a_code_block_takes_no_new_region() -> None:
    assert status(AddRule(text=RULE), doc(b"# A\n```\nnever closed\n")) == "malformed"


def test_a_replacement_may_say_its_own_rule_better_but_not_repeat_another() -> None:
    two = added("Keep it under 90 words.", added())
    first, second = two.rules
    assert status(ReplaceRule(rule_id=first.id, text='Make sure there is a "Risks" section.'), two) == "applied"
    assert status(ReplaceRule(rule_id=second.id, text='Make sure there is a "Risks" section.'), two) == "no_change"


# --- front matter and diff --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("front", "description"),
    [
        (b"description: >-\n  When you write\n  a commit.\n", "When you write a commit."),
        (b"description: Use when: asked\n", "Use when: asked"),
        (b"description: 2024-99-99\n", "2024-99-99"),
        (b"description: [a, b]\n", None),
        (b"other: x\n", None),
    ],
)
def test_front_matter_is_read_with_tolerance(front: bytes, description: str | None) -> None:
    read = doc(b"\xef\xbb\xbf---\nname: a\n" + front + b"---\n# A\n")
    assert (read.name, read.description) == ("a", description)
    assert read.text.startswith("---\nname"), "an agent does not see the byte order mark"


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"a\r\nb\r\n", b"a\r\nc\r\n"), (b"a\nb", b"a\nb\nc"), (b"a\x0cb\nc\n", b"a\x0cb\nd\n"), (b"a\r\n", b"a\n")],
)
def test_the_diff_is_a_patch_that_git_can_apply_byte_for_byte(tmp_path: Path, before: bytes, after: bytes) -> None:
    (tmp_path / "SKILL.md").write_bytes(before)
    patch = unified_diff(before, after, "SKILL.md").encode()
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=tmp_path, input=patch, check=True)
    assert (tmp_path / "SKILL.md").read_bytes() == after
