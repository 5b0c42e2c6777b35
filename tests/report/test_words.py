from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from skillopt_sleep.domain.llm import ROLES
from skillopt_sleep.domain.reports import NightStatus, RoleSpend
from skillopt_sleep.domain.sessions import LineSkipReason, SkipReason
from skillopt_sleep.domain.skills import EditStatus
from skillopt_sleep.domain.slices import SLICES
from skillopt_sleep.domain.verdicts import Decision, Verdict, VerdictReason
from skillopt_sleep.report import words
from skillopt_sleep.report.text import code, count, md, one_line, sentence, several_lines
from tests.report.builders import harmful, night, result, unsure

DECISIONS: dict[VerdictReason, Decision] = {
    "improved": "accept",
    "gate_off": "accept",
    "harmful": "reject",
    "no_gain": "reject",
    "regressed": "reject",
    "anchor_fell": "reject",
    "no_edits": "reject",
}


def test_every_verdict_has_its_words() -> None:
    said = {
        reason: words.verdict_words(
            Verdict(decision=DECISIONS.get(reason, "inconclusive"), reason=reason, explanation="", regressed=("f",))
        )
        for reason in get_args(VerdictReason)
    }

    assert said == snapshot(
        {
            "improved": "better: proposed for adoption",
            "gate_off": "not tested, the gate was off: proposed for adoption",
            "harmful": "worse: refused",
            "no_gain": "no gain: refused",
            "regressed": "better on the whole, but 1 task got worse: refused",
            "anchor_fell": "better on the whole, but what you pinned got worse: refused",
            "too_few_families": "cannot tell yet",
            "untestable": "cannot tell yet",
            "used_up": "cannot tell, these tasks are used up",
            "not_enough_evidence": "cannot tell yet",
            "too_many_missing": "cannot tell, too many attempts without a score",
            "overlap": "not validated, the gate's tasks were seen in training",
            "shape_only": "not validated, only the form was judged",
            "no_edits": "no change to judge",
        }
    )


@pytest.mark.parametrize(
    ("needed", "expected"),
    [
        (None, "cannot tell yet"),
        (1, "cannot tell yet: about 1 more task needed"),
        (12, "cannot tell yet: about 12 more tasks needed"),
    ],
)
def test_an_open_verdict_says_how_many_more_tasks_it_needs(needed: int | None, expected: str) -> None:
    assert words.verdict_words(unsure(needed)) == expected


def test_a_skill_that_never_reached_the_gate_says_why() -> None:
    assert words.verdict_words(None) == "not judged"
    assert words.result_words(result("s", None, stopped="No tasks.")) == "not judged: No tasks"


def test_every_name_of_the_domain_has_a_word() -> None:
    assert set(words.SKIPPED) == set(get_args(SkipReason))
    assert set(words.LINES_SKIPPED) == set(get_args(LineSkipReason))
    assert set(words.EDIT_STATUSES) == set(get_args(EditStatus))
    assert set(words.STATUSES) == set(get_args(NightStatus))
    assert set(words.ROLES) == set(ROLES)
    assert set(words.SLICES) == set(SLICES)
    assert set(words.SHAPES) == set(get_args(words.Standing))
    assert len(set(words.SHAPES.values())) == len(words.SHAPES)


@pytest.mark.parametrize(
    ("share", "expected"),
    [(None, "unknown"), (0.0, "0 %"), (0.001, "<1 %"), (0.426, "43 %"), (0.999, ">99 %"), (1.0, "100 %")],
)
def test_a_share_is_never_rounded_to_none_or_all(share: float | None, expected: str) -> None:
    assert words.percent(share) == expected


def test_an_interval_is_in_points_with_signs() -> None:
    assert words.points((-0.12, 0.5)) == "-12 to +50 points"
    assert words.points((0.0, 0.004)) == "0 to 0 points"
    assert words.points(None) == "unknown"


def test_a_change_with_one_end_missing_shows_which() -> None:
    assert words.change(None, 0.5) == "unknown -> 50 %"
    assert words.change(None, None) == "unknown"


@pytest.mark.parametrize(
    ("usd", "simulated", "expected"),
    [
        (None, True, "unknown"),
        (None, False, "unknown"),
        (0.0, True, "simulated: no money spent"),
        (0.0, False, "no money spent"),
        (0.004, False, "under $0.01"),
        (1234.5, False, "$1,234.50"),
    ],
)
def test_money_is_known_unknown_or_not_spent(usd: float | None, simulated: bool, expected: str) -> None:
    assert words.money(usd, simulated=simulated) == expected


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    known = RoleSpend(role="target", model="m", usd=1.0)
    unknown = RoleSpend(role="judge", model="n")

    assert words.total_usd((known, known)) == 2.0
    assert words.total_usd((known, unknown)) is None
    assert words.total_usd(()) is None


def test_a_skill_of_a_free_night_was_free_and_one_of_a_paid_night_is_unknown_unless_booked() -> None:
    paid = night(spend=(RoleSpend(role="target", model="m", usd=3.0),), simulated=False)

    assert words.skill_cost(night(), result("s", None)) == "simulated: no money spent"
    assert words.skill_cost(paid, result("s", None)) == "unknown"
    assert words.skill_cost(paid, result("s", None, usd=1.25)) == "$1.25"


def test_a_tally_names_most_first_and_leaves_zeros_out() -> None:
    assert words.tally({"a": 1, "b": 12, "c": 0}, {"a": "of one kind", "b": "of another"}) == (
        "12 of another, 1 of one kind"
    )
    assert words.tally({}) == "none"


def test_a_summary_counts_harm_first() -> None:
    assert words.summary(night()) == "5 skills: 1 worse, 1 better, 1 cannot tell yet, 1 no gain, 1 not judged."
    assert words.summary(night(skills=(result("s", harmful()),))) == "1 skill: 1 worse."
    assert words.summary(night(skills=())) == "No skill was looked at."


def test_counting_nouns() -> None:
    assert [count(1, "family"), count(2, "family"), count(1200, "task")] == ["1 family", "2 families", "1,200 tasks"]


def test_snake_case_is_left_readable_and_emphasis_is_not() -> None:
    assert md("release_notes _now_ 2. 1) -x &amp; a&b") == r"release_notes \_now\_ 2. 1) -x \&amp; a&b"
    assert [md("1. x"), md("- x"), md("#x"), md("> x")] == [r"1\. x", r"\- x", r"\#x", r"\> x"]


def test_code_spans_hold_any_ticks() -> None:
    assert code("a`b``c") == "```a`b``c```"
    assert code("`x`") == "`` `x` ``"


@settings(max_examples=60)
@given(st.text(max_size=60))
def test_shown_text_has_no_control_characters(text: str) -> None:
    for shown in (one_line(text), several_lines(text), md(text), code(text), sentence(text)):
        assert not any((ord(sign) < 32 and sign != "\n") or ord(sign) in (0x7F, 0x9B, 0x202E) for sign in shown)
    for line in (one_line(text), md(text), code(text), sentence(text)):
        assert "\n" not in line


def test_escape_sequences_are_disarmed() -> None:
    assert one_line("a\x1b[2Jb\u202ec\r\nd") == "a\ufffd[2Jb\ufffdc d"
