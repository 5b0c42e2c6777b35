from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep.domain.sessions import Harvest, Query, Session
from skillopt_sleep.harvest import OWN_CALL_MARKER, Tally, harvest
from skillopt_sleep.harvest.codex import CodexSource
from skillopt_sleep.redact import redact
from tests.harvest.rollouts import Rollout
from tests.harvest.transcripts import session_id


def read(root: Path, query: Query | None = None) -> Harvest:
    tally = Tally(lambda event: None)
    return harvest([CodexSource(root, redact=redact, events=tally)], query or Query(), tally)


def only(root: Path, query: Query | None = None) -> Session:
    (session,) = read(root, query).sessions
    return session


def said(session: Session) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in session.turns]


@pytest.mark.parametrize("kinds", [True, False])
def test_a_rollout_is_its_human_prompts_and_the_assistants_messages_with_their_tools(
    tmp_path: Path, kinds: bool
) -> None:
    rollout = Rollout(kinds=kinds).begin().prompt("write a.txt").reply("Running.", tools=("exec_command",))
    rollout.reply("Done.").begin().prompt("No, use tabs.").reply(tools=("exec_command", "apply_patch")).write(tmp_path)
    session = only(tmp_path)
    assert said(session) == [
        ("user", "write a.txt"),
        ("assistant", "Running."),
        ("assistant", "Done."),
        ("user", "No, use tabs."),
        ("assistant", ""),
    ]
    assert [turn.tools for turn in session.turns] == [(), ("exec_command",), (), (), ("exec_command", "apply_patch")]
    assert (session.source, session.id, session.project) == ("codex", session_id(1), "/home/ann/shop")


def test_a_rollout_that_a_program_began_is_headless(tmp_path: Path) -> None:
    Rollout(source="exec").begin("exec").prompt("report").reply("ok").write(tmp_path)
    assert read(tmp_path).skipped == {"headless": 1}
    assert only(tmp_path, Query(include_headless=True)).entrypoint == "headless"


def test_a_person_who_takes_over_a_programs_session_makes_it_theirs(tmp_path: Path) -> None:
    rollout = Rollout(source="exec").begin("exec").prompt("report").reply("ok")
    rollout.begin("user").prompt("why so long?").reply("sorry").write(tmp_path)
    assert only(tmp_path).entrypoint == "interactive"


def test_sub_agents_and_our_own_calls_are_left_out(tmp_path: Path) -> None:
    Rollout(session_id(1), source={"subagent": "review"}).begin().prompt("count").reply("3").write(tmp_path)
    Rollout(session_id(2), source="exec").begin("exec").prompt(f"{OWN_CALL_MARKER}\nScore").reply("1").write(tmp_path)
    assert read(tmp_path, Query(include_headless=True)).skipped == {"subagent": 1, "own_call": 1}


def test_archived_rollouts_count_and_other_files_do_not(tmp_path: Path) -> None:
    Rollout().begin().prompt("hello").reply("hi").write(tmp_path, archived=True)
    (tmp_path / "history.jsonl").write_text("{}\n", encoding="utf-8")
    (tmp_path / "archived_sessions" / "notes.jsonl").write_text("{}\n", encoding="utf-8")
    assert (len(read(tmp_path).sessions), read(tmp_path).files) == (1, 1)


def test_an_interrupt_marks_the_turn_it_stopped(tmp_path: Path) -> None:
    Rollout().begin().prompt("go").reply("slow").interrupt().begin().prompt("otherwise").reply("ok").write(tmp_path)
    assert [turn.interrupted for turn in only(tmp_path).turns] == [False, True, False, False]


def test_a_skill_that_a_person_names_belongs_to_the_turn_it_acts_on(tmp_path: Path) -> None:
    rollout = Rollout().begin().prompt("use $notes please")
    rollout.message("user", "<skill>\n<name>notes</name>\nBODY\n</skill>", kind="host_skills.skill").reply("ok")
    rollout.write(tmp_path)
    session = only(tmp_path)
    assert session.skills == ("notes",)
    assert "BODY" not in session.model_dump_json()


def test_rows_of_an_odd_shape_are_counted(tmp_path: Path) -> None:
    rollout = Rollout().begin().prompt("hello")
    rollout.row("response_item", {"type": "message", "role": "user", "content": 7})
    rollout.row("response_item", {"type": "function_call", "name": 7})
    rollout.lines += [b'{"type":"response_item","payload":3}\n', b"[1]\n", b'{"timest']
    rollout.write(tmp_path)
    found = read(tmp_path)
    assert len(found.sessions) == 1
    assert found.skipped_lines == {"odd_shape": 3, "not_object": 1, "truncated": 1}
