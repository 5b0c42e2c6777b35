from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.domain.sessions import Session
from skillopt_sleep.domain.slices import slice_of
from skillopt_sleep.domain.tasks import Rules, Task
from skillopt_sleep.mine.evaluable import why_not_evaluable
from skillopt_sleep.mine.heuristic import Mined, mine_sessions
from tests.mine.builders import POLICY, session, subjects

NOTES = "write the release notes for the login form"
KNOWN_ISSUES = 'No. Always add a section headed "Known issues".'
SUMMARY = 'That is wrong, always start with "Summary:".'


def mine(*sessions: Session) -> Mined:
    return mine_sessions(sessions, (), POLICY)


def checks(task: Task) -> list[tuple[str, Any]]:
    assert isinstance(task.criterion, Rules)
    return [(check.op, check.arg) for check in task.criterion.checks]


def by_prompt(mined: Mined) -> dict[str, Task]:
    return {task.prompt: task for task in mined.tasks}


def test_a_recurring_request_with_a_correction_becomes_one_task() -> None:
    mined = mine(
        session(1, NOTES, KNOWN_ISSUES), session(2, f"please {NOTES}", "You forgot it again: keep it under 120 words.")
    )
    (task,) = mined.tasks
    assert task.prompt == f"please {NOTES}"
    assert task.group == "write release notes"
    assert task.slice == slice_of(task.family, POLICY)
    assert checks(task) == [("section_present", "Known issues"), ("max_words", 119)]
    assert not task.model_authored
    assert (mined.counts.prompts, mined.counts.groups, mined.counts.families, mined.counts.tasks) == (2, 1, 1, 1)


def test_a_request_seen_in_one_session_only_is_counted_and_left_out() -> None:
    mined = mine(session(1, NOTES, KNOWN_ISSUES))
    assert mined.tasks == ()
    assert mined.counts.dropped == {"seen in one session only": 1}
    assert len(mined.families) == 1


def test_a_correction_repeated_over_training_sessions_becomes_a_house_rule_of_the_whole_group() -> None:
    one, other = subjects("train", 2)
    gate, test = subjects("gate", 1)[0], subjects("test", 1)[0]
    mined = mine(session(1, one, KNOWN_ISSUES), session(2, other, KNOWN_ISSUES), session(3, gate), session(4, test))
    (rule,) = mined.house_rules["write release notes"]
    assert (rule.check.op, rule.sessions, len(rule.families)) == ("section_present", 2, 2)
    tasks = by_prompt(mined)
    assert {task.slice for task in tasks.values()} == {"train", "gate", "test"}
    assert all(checks(task) == [("section_present", "Known issues")] for task in tasks.values())


@pytest.mark.parametrize("wanted", ["gate", "test"])
def test_corrections_of_gate_and_test_families_stay_with_them(wanted: Any) -> None:
    train = subjects("train", 2)
    hidden = subjects(wanted, 3)
    sessions = [session(n, text, SUMMARY) for n, text in enumerate(hidden)]
    sessions += [session(10 + n, text, KNOWN_ISSUES) for n, text in enumerate(train)]
    tasks = by_prompt(mine(*sessions))
    assert mine(*sessions).house_rules["write release notes"][0].check.op == "section_present"
    assert all(checks(tasks[text]) == [("section_present", "Known issues")] for text in train)
    assert all(
        checks(tasks[text]) == [("starts_with", "Summary:"), ("section_present", "Known issues")] for text in hidden
    )


def test_a_correction_made_twice_in_one_session_is_no_house_rule() -> None:
    one, other = subjects("train", 2)
    mined = mine(session(1, one, KNOWN_ISSUES, f"again, {one}", KNOWN_ISSUES), session(2, other, SUMMARY))
    assert mined.house_rules == {}
    assert mined.counts.dropped["asked again in the same session"] == 1
    assert len(mined.tasks) == 2


def test_families_without_a_criterion_are_counted() -> None:
    mined = mine(session(1, NOTES, KNOWN_ISSUES), session(2, "write the release notes for the export page"))
    assert len(mined.tasks) == 1
    assert mined.counts.dropped == {"no criterion yet": 1}


@pytest.mark.parametrize(
    ("older", "newer", "left"),
    [
        ("at most 50 words", "at most 80 words", [("max_words", 80)]),
        ('mention "beta"', 'never mention "beta"', [("not_contains", "beta")]),
        ('never mention "beta"', 'you forgot to mention "Beta"', [("contains", "Beta")]),
        ('start with "A:"', 'always start with "B:"', [("starts_with", "B:")]),
        ("at least 90 words", "at most 80 words", [("max_words", 80)]),
        ('add a section headed "Risks"', "answer in JSON", [("json_valid", None)]),
    ],
)
def test_the_newest_of_two_contradicting_corrections_wins(older: str, newer: str, left: list[Any]) -> None:
    (task,) = mine(session(1, NOTES, older), session(2, NOTES, newer)).tasks
    assert checks(task) == left


def test_a_correction_without_a_check_is_kept_as_text() -> None:
    mined = mine(session(1, NOTES, "No, that's not what I meant"), session(2, NOTES, KNOWN_ISSUES))
    (unread,) = mined.unread
    assert unread.text == "No, that's not what I meant"
    assert unread.slice == slice_of(unread.family, POLICY)
    assert mined.counts.dropped["correction without a check"] == 1
    assert mined.corrections == 2


def test_the_skill_used_most_near_the_requests_is_named() -> None:
    mined = mine(
        session(1, NOTES, KNOWN_ISSUES, skills=("docs:release-notes",)),
        session(2, NOTES, skills=("docs:release-notes", "writing")),
        session(3, NOTES, skills=("writing", "docs:release-notes")),
    )
    assert [task.skill for task in mined.tasks] == ["docs:release-notes"]


def test_praise_and_chatter_are_not_tasks() -> None:
    mined = mine(session(1, "hi", NOTES, "continue", "perfect, thanks!"), session(2, NOTES, KNOWN_ISSUES))
    assert (mined.counts.prompts, len(mined.tasks)) == (2, 1)
    assert mined.counts.dropped == {"not a request": 2, "praise": 1}


def test_no_sessions_give_no_tasks() -> None:
    assert mine() == Mined(tasks=(), counts=mine().counts, families=())


def test_a_request_for_a_repository_is_marked_as_not_evaluable() -> None:
    text = "fix the failing test in src/app/main.py"
    (task,) = mine(session(1, text, 'always mention "fixed"'), session(2, text)).tasks
    assert task.not_evaluable is not None


@pytest.mark.parametrize(
    "prompt",
    [
        "run the tests and tell me what fails",
        "run pytest on the parser",
        "docker compose up fails, find out why",
        "commit these changes",
        "open a PR with the fix",
        "fix the bug in the parser",
        "refactor utils.py",
        "look at src/app/main.py",
        "summarise the changes across the codebase",
        "explain why http://localhost:8080/health returns 503",
    ],
)
def test_what_needs_a_repository_or_a_service_cannot_be_evaluated(prompt: str) -> None:
    assert why_not_evaluable(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        NOTES,
        "write a commit message for the login form",
        "write release notes for the docker module",
        "explain what pytest fixtures are",
        "write a blog post about git rebase",
        "write a note that reminds the team to run the tests",
        "write a README.md for a todo app",
        "summarise https://example.com/a/b.html",
        "compare client/server with peer-to-peer, and/or TCP/IP 24/7",
        "check the grammar of this letter",
        "open a letter with a warm greeting",
    ],
)
def test_writing_about_such_things_can_be_evaluated(prompt: str) -> None:
    assert why_not_evaluable(prompt) is None


def test_a_long_prompt_is_clipped_at_a_word() -> None:
    text = f"{NOTES}: " + "word " * 3000
    (task,) = mine(session(1, text, KNOWN_ISSUES), session(2, text)).tasks
    assert len(task.prompt) <= 6000
    assert task.prompt.endswith("word\n[…]")


PEOPLE = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.sampled_from([*subjects("train", 2), *subjects("gate", 2), *subjects("test", 1), NOTES, "hello"]),
        st.sampled_from([KNOWN_ISSUES, SUMMARY, "No, shorter!", "at most 80 words", "at most 50 words", "thanks"]),
    ),
    max_size=8,
    unique_by=lambda row: row[0],
)


@settings(max_examples=50, deadline=None)
@given(rows=PEOPLE, random=st.randoms(use_true_random=False))
def test_the_order_of_sessions_does_not_matter_and_slices_never_overlap(rows: list[Any], random: Any) -> None:
    sessions = [session(*row) for row in rows]
    shuffled = list(sessions)
    random.shuffle(shuffled)
    mined = mine_sessions(sessions, (), POLICY)
    assert mine_sessions(shuffled, (), POLICY) == mined
    assert mine_sessions([*sessions, *sessions[:2]], (), POLICY) == mined
    assert len({task.family for task in mined.tasks}) == len(mined.tasks) == len({task.id for task in mined.tasks})


@settings(max_examples=50, deadline=None)
@given(rows=PEOPLE, more=PEOPLE)
def test_families_and_slices_stay_when_sessions_vanish_or_come(rows: list[Any], more: list[Any]) -> None:
    before = mine_sessions([session(*row) for row in rows], (), POLICY)
    later = [session(number + 20, *texts) for number, *texts in more] + [session(*row) for row in rows[::2]]
    after = mine_sessions(later, before.families, POLICY)
    assert after.families[: len(before.families)] == before.families
    slices = {task.family: (task.id, task.slice, task.group) for task in before.tasks}
    assert all(slices.get(t.family, (t.id, t.slice, t.group)) == (t.id, t.slice, t.group) for t in after.tasks)


@settings(max_examples=50, deadline=None)
@given(rows=PEOPLE, wording=st.sampled_from(['always mention "XYZZY"', 'never say "XYZZY"', 'start with "XYZZY"']))
def test_nothing_said_in_gate_or_test_sessions_reaches_training(rows: list[Any], wording: str) -> None:
    plain = mine_sessions([session(*row) for row in rows], (), POLICY)
    hidden = {task.prompt for task in plain.tasks if task.slice != "train"}
    changed = [session(number, text, wording if text in hidden else remark) for number, text, remark in rows]
    mined = mine_sessions(changed, (), POLICY)
    assert mined.house_rules == plain.house_rules
    assert [t for t in mined.tasks if t.slice == "train"] == [t for t in plain.tasks if t.slice == "train"]
