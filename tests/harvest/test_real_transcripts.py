"""Reads transcripts that a real client wrote. They are not part of the repository: see the marker `data`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from skillopt_sleep.domain.sessions import Harvest, Query, Session
from skillopt_sleep.harvest import Tally, harvest
from skillopt_sleep.harvest.claude_code import ClaudeCodeSource
from skillopt_sleep.redact import redact

DATA = os.environ.get("SKILLOPT_SLEEP_TEST_DATA", "")
pytestmark = [pytest.mark.data, pytest.mark.skipif(not DATA, reason="SKILLOPT_SLEEP_TEST_DATA is not set")]

# Streams that a program printed, and the prompt history: neither lies in a projects folder.
NOT_TRANSCRIPTS = ("07_stream_json_output", "08_interrupt_output", "history")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The flat files in the layout in which the client keeps them."""
    folder = tmp_path / "projects" / "-home-sam-work"
    folder.mkdir(parents=True)
    for path in Path(DATA, "transcripts").glob("*.jsonl"):
        if path.stem not in NOT_TRANSCRIPTS:
            shutil.copy(path, folder / path.name)
    for extra in Path(DATA, "transcripts").glob("*.d"):
        shutil.copytree(extra, folder / extra.stem)
    return tmp_path


def read(root: Path, *, include_headless: bool) -> Harvest:
    tally = Tally(lambda event: None)
    source = ClaudeCodeSource(root, redact=redact, events=tally)
    return harvest([source], Query(include_headless=include_headless), tally)


def prompts(session: Session) -> list[str]:
    return [turn.text for turn in session.turns if turn.role == "user"]


def test_the_one_interactive_session_is_found_and_every_other_file_has_its_reason(root: Path) -> None:
    found = read(root, include_headless=False)
    (session,) = found.sessions
    assert prompts(session) == [
        "hello from the tui",
        "no, always answer in French",
        "slow request please",
        "# remember this",
    ]
    assert session.project == "/home/sam/work"
    assert session.skills == ("demo:hello",)
    assert [turn.text[:5] for turn in session.turns if turn.interrupted] == ["slow "]
    assert (found.files, found.skipped) == (13, {"headless": 11, "subagent": 1})
    assert found.skipped_lines == {}


def test_with_headless_sessions_all_but_the_slash_command_have_prompts(root: Path) -> None:
    found = read(root, include_headless=True)
    assert (len(found.sessions), found.files) == (11, 13)
    assert found.skipped == {"no_human_prompt": 1, "subagent": 1}
    assert {session.entrypoint for session in found.sessions} == {"interactive", "headless"}
    ends = [session.ended_at for session in found.sessions]
    assert ends == sorted(ends, reverse=True)


def test_messages_tools_skills_and_corrections_come_out_as_they_happened(root: Path) -> None:
    by_first = {prompts(session)[0]: session for session in read(root, include_headless=True).sessions}
    tools = by_first["write an add function in calc.py"]
    assert prompts(tools)[1:] == [
        "No, that's wrong: add must return a + b, you subtracted.",
        "Next time always run the tests before you say it is done.",
    ]
    assert [turn.tools for turn in tools.turns if turn.tools] == [("Write",), ("Bash", "Read"), ("Edit",)]
    assert tools.turns[1].text == "I will create it."
    assert by_first["X-SKILL please"].skills == ("demo:x",)
    assert prompts(by_first["use tabs"]) == ["use tabs", "no, use spaces instead"]
    assert prompts(by_first["hello"]) == ["hello", "and now?"]
    assert [turn.interrupted for turn in by_first["long task"].turns] == [False, True, False, False]
