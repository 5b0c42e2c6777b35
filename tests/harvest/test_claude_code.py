from __future__ import annotations

import json
import os
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from skillopt_sleep.domain.events import Event, SessionFound, SessionSkipped, Warned
from skillopt_sleep.domain.sessions import Harvest, Query, Session, Turn
from skillopt_sleep.harvest import OWN_CALL_MARKER, Tally, harvest
from skillopt_sleep.harvest.claude_code import ClaudeCodeSource
from skillopt_sleep.harvest.conversation import MAX_TURNS
from skillopt_sleep.redact import redact
from tests.harvest.transcripts import START, Transcript, session_id


def read(root: Path, query: Query | None = None) -> Harvest:
    tally = Tally(lambda event: None)
    return harvest([ClaudeCodeSource(root, redact=redact, events=tally)], query or Query(), tally)


def only(root: Path, query: Query | None = None) -> Session:
    (session,) = read(root, query).sessions
    return session


def said(session: Session) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in session.turns]


# What is a turn -------------------------------------------------------------------------------------------------------


def test_a_conversation_is_its_human_prompts_and_the_assistants_messages(tmp_path: Path) -> None:
    (
        Transcript()
        .prompt("write an add function")
        .reply("I will create it.", tools=["Write"], thinking="hm", message="m1")
        .tool_result("created")
        .reply(tools=["Bash", "Read"], message="m2")
        .tool_result("boom", error=True)
        .reply("Created.", message="m3")
        .prompt("No, it must return a + b.")
        .reply("Fixed.")
        .write(tmp_path)
    )
    session = only(tmp_path)
    assert said(session) == [
        ("user", "write an add function"),
        ("assistant", "I will create it."),
        ("assistant", ""),
        ("assistant", "Created."),
        ("user", "No, it must return a + b."),
        ("assistant", "Fixed."),
    ]
    assert [turn.tools for turn in session.turns] == [(), ("Write",), ("Bash", "Read"), (), (), ()]
    assert session.project == "/home/ann/shop"
    assert (session.started_at, session.ended_at) == (session.turns[0].at, session.turns[-1].at)


def test_rows_of_one_message_are_one_turn_even_with_a_tool_result_between_them(tmp_path: Path) -> None:
    transcript = Transcript().prompt("go")
    transcript.reply("First.", tools=["Bash"], message="m1").tool_result("ok").reply("Second.", message="m1")
    transcript.write(tmp_path)
    assert said(only(tmp_path)) == [("user", "go"), ("assistant", "First.\nSecond.")]


def test_a_prompt_may_be_a_list_of_blocks_and_what_the_client_adds_to_it_is_left_out(tmp_path: Path) -> None:
    Transcript().prompt(
        [
            {"type": "text", "text": "<ide_opened_file>The user opened a.py</ide_opened_file>"},
            {"type": "image", "source": {"type": "base64", "data": "AAAA"}},
            {"type": "text", "text": "what is this?"},
            {"type": "text", "text": "<system-reminder>be brief</system-reminder>"},
        ]
    ).write(tmp_path)
    assert said(only(tmp_path)) == [("user", "what is this?")]


@pytest.mark.parametrize(
    ("content", "extra"),
    [
        ("Expanded body of a skill", {"isMeta": True}),
        ("This session is being continued", {"isCompactSummary": True}),
        ("Only for the transcript", {"isVisibleInTranscriptOnly": True}),
        ("Result without a block", {"toolUseResult": "Error: no"}),
        ("Written by the harness", {"rowSource": "harness"}),
        ("A scheduled prompt", {"promptSource": "system", "turnOrigin": "scheduled"}),
        ("A wake-up", {"promptSource": "typed", "wakeupSource": "cron"}),
        ("Carry on", {"turnOrigin": "auto_continuation"}),
        ("A suggestion of the client's", {"promptSource": "suggestion_accepted", "turnOrigin": "unknown"}),
        ("From another session", {"origin": {"kind": "peer"}}),
        ("From an observer", {"origin": {"kind": "observer"}, "turnOrigin": "peer"}),
        ("From a background task", {"origin": {"kind": "task-notification"}}),
        ("From a hook", {"origin": {"kind": "unclassified"}, "promptSource": "system"}),
        ("Not typed", {"promptSource": "typed", "textNotTyped": True}),
        ("Odd fields", {"promptSource": ["typed"], "turnOrigin": {"by": "who"}}),
        ([{"type": "tool_result", "content": "x"}, {"type": "text", "text": "beside a result"}], {}),
        ("<bash-input>ls</bash-input>", {}),
        ("<bash-stdout>a.py</bash-stdout><bash-stderr></bash-stderr>", {}),
        ("<local-command-stdout>Compacted</local-command-stdout>", {}),
        ("<local-command-caveat>The command below</local-command-caveat>", {}),
        ("<task-notification>done</task-notification>", {}),
        ("   ", {}),
    ],
)
def test_what_the_client_writes_in_the_persons_name_is_not_a_prompt(
    tmp_path: Path, content: str | list[dict[str, object]], extra: dict[str, object]
) -> None:
    Transcript().prompt("real").user(content, **extra).reply("ok").write(tmp_path)
    assert said(only(tmp_path)) == [("user", "real"), ("assistant", "ok")]


def queued(transcript: Transcript, text: str, **fields: object) -> Transcript:
    """What a person types while the assistant works stands in an attachment."""
    command = {"type": "queued_command", "prompt": text, "source_uuid": text, **fields}
    transcript.raw('{"type":"queue-operation","operation":"enqueue","content":"NOT A TURN"}')
    return transcript.row("attachment", attachment=command)


def test_a_prompt_typed_while_the_assistant_works_counts_once_and_its_queue_does_not(tmp_path: Path) -> None:
    transcript = Transcript().prompt("long task").reply("slow", message="m1")
    for _ in range(2):
        queued(transcript, "use tabs", commandMode="prompt", origin={"kind": "human"})
    queued(transcript, "task done", commandMode="task-notification")
    queued(transcript, "from a peer", commandMode="prompt", origin={"kind": "peer"})
    queued(transcript, "hidden", commandMode="prompt", isMeta=True)
    queued(transcript, "nobody says who wrote it")
    queued(transcript, "odd", commandMode="prompt", prompt=7)
    transcript.user("queued until the end", promptSource="queued").reply("ok").write(tmp_path)
    assert [turn.text for turn in only(tmp_path).turns if turn.role == "user"] == [
        "long task",
        "use tabs",
        "queued until the end",
    ]
    assert read(tmp_path).skipped_lines == {"odd_shape": 1}


@pytest.mark.parametrize(
    ("entrypoint", "kind"),
    [
        ("cli", "interactive"),
        ("claude-vscode", "interactive"),
        ("claude-desktop", "interactive"),
        ("remote_mobile", "interactive"),
        ("sdk-cli", "headless"),
        ("sdk-py", "headless"),
        ("mcp", "headless"),
        ("claude-code-github-action", "headless"),
    ],
)
def test_the_entry_point_says_whether_a_program_made_the_requests(tmp_path: Path, entrypoint: str, kind: str) -> None:
    Transcript(entrypoint=entrypoint).user("hello", promptSource=None).user("and now?").reply("hi").write(tmp_path)
    assert only(tmp_path, Query(include_headless=True)).entrypoint == kind


def test_asking_again_in_nearly_the_same_words_is_marked_and_going_on_is_not(tmp_path: Path) -> None:
    transcript = Transcript().prompt("Write the release notes for 1.2").reply("no")
    transcript.prompt("write the release notes for 1.2!").reply("ok").prompt("go on").prompt("go on").write(tmp_path)
    assert [turn.reasked for turn in only(tmp_path).turns if turn.role == "user"] == [False, True, False, False]


def test_a_tools_output_that_holds_rows_of_a_conversation_is_no_conversation(tmp_path: Path) -> None:
    row = '{"type":"user","message":{"role":"user","content":"NOT A TURN"},"timestamp":"2026-03-01T09:00:00Z"}'
    transcript = Transcript().prompt("show me the file").reply(tools=["Read"]).tool_result(row * 3)
    transcript.row("attachment", attachment={"type": "file", "content": {"type": "user", "message": row}})
    transcript.reply("there").write(tmp_path)
    assert said(only(tmp_path)) == [("user", "show me the file"), ("assistant", ""), ("assistant", "there")]


def test_a_pasted_picture_costs_no_prompt(tmp_path: Path) -> None:
    picture: dict[str, object] = {"type": "image", "source": {"type": "base64", "data": "A" * 6_000_000}}
    Transcript(noise=False).prompt([picture, {"type": "text", "text": "what is this?"}]).write(tmp_path)
    assert said(only(tmp_path)) == [("user", "what is this?")]


def test_of_an_endless_session_the_first_turns_are_kept_and_the_rest_is_counted(tmp_path: Path) -> None:
    transcript = Transcript(noise=False)
    for number in range(MAX_TURNS + 10):
        transcript.prompt(f"prompt {number}")
    transcript.write(tmp_path)
    found = read(tmp_path)
    (session,) = found.sessions
    assert (len(session.turns), session.ended_at) == (MAX_TURNS, transcript.now)
    assert found.skipped_lines == {"too_much": 10}


def test_a_prompt_that_begins_with_an_ordinary_tag_or_hash_is_a_prompt(tmp_path: Path) -> None:
    Transcript().prompt("<div> is not centred").prompt("# remember this").prompt("<command-line> tools").write(tmp_path)
    assert [text for _, text in said(only(tmp_path))] == [
        "<div> is not centred",
        "# remember this",
        "<command-line> tools",
    ]


def test_a_row_counts_by_its_own_type_and_not_by_the_role_or_type_of_what_it_holds(tmp_path: Path) -> None:
    message = {"role": "user", "type": "user", "content": "NOT A TURN"}
    transcript = Transcript(noise=False).prompt("real")
    transcript.raw(json.dumps({"type": "api-request-blob", "message": message}))
    transcript.raw(json.dumps({"message": message, "type": "api-request-blob"}))
    transcript.row("attachment", attachment=message, message=message)
    transcript.raw(json.dumps({"parentUuid": None, "type": "wobble", "message": message}, separators=(",", ":")))
    transcript.reply('quoting "type":"user" and {"type":"assistant"}').write(tmp_path)
    assert said(only(tmp_path)) == [("user", "real"), ("assistant", 'quoting "type":"user" and {"type":"assistant"}')]


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize("first", ["parentUuid", "type", "message"])
def test_rows_are_read_whatever_the_order_of_their_keys_and_the_spaces_between(
    tmp_path: Path, first: str, separators: tuple[str, str]
) -> None:
    transcript = Transcript(noise=False).prompt("hello").reply("hi")
    rows = [json.loads(line) for line in transcript.lines]
    transcript.lines = [json.dumps({first: r[first]} | r, separators=separators).encode() + b"\r\n" for r in rows]
    transcript.write(tmp_path)
    assert said(only(tmp_path)) == [("user", "hello"), ("assistant", "hi")]


def test_an_interrupt_marks_the_turn_it_stopped(tmp_path: Path) -> None:
    transcript = Transcript().prompt("long task").reply("slow", message="m1").reply(tools=["Bash"], message="m2")
    transcript.interrupt("m1").prompt("do it differently").reply("ok").interrupt().write(tmp_path)
    assert [turn.interrupted for turn in only(tmp_path).turns] == [False, True, False, False, True]


def test_skills_are_those_the_assistant_loaded_and_those_a_slash_command_named(tmp_path: Path) -> None:
    transcript = Transcript().prompt("hello").reply("hi")
    transcript.command("compact", body=None).command("demo:commit", "for the login form").reply("feat: login")
    transcript.prompt("and a review").reply(tools=["Read"], skill="review").write(tmp_path)
    session = only(tmp_path)
    assert [turn.skills for turn in session.turns] == [(), (), ("demo:commit",), (), ("review",)]
    assert session.skills == ("demo:commit", "review")
    assert "login form" not in session.model_dump_json()
    assert "Follow these steps" not in session.model_dump_json()


def test_a_session_of_slash_commands_alone_has_no_human_prompt(tmp_path: Path) -> None:
    Transcript().command("demo:commit").reply("feat: x").write(tmp_path)
    assert read(tmp_path).skipped == {"no_human_prompt": 1}


def test_an_error_the_client_writes_in_the_models_place_is_not_a_reply(tmp_path: Path) -> None:
    transcript = Transcript().prompt("hello")
    content = [{"type": "text", "text": "Not logged in"}]
    transcript.row("assistant", message={"id": "e1", "model": "<synthetic>", "content": content})
    transcript.row("assistant", message={"id": "e2", "content": content}, isApiErrorMessage=True)
    transcript.write(tmp_path)
    assert said(only(tmp_path)) == [("user", "hello")]


def test_a_resumed_session_appends_to_its_file_and_repeated_rows_count_once(tmp_path: Path) -> None:
    transcript = Transcript().prompt("first").reply("one")
    lines = list(transcript.lines)
    transcript.write(tmp_path)
    transcript.lines = lines
    transcript.now += timedelta(days=2)
    transcript.prompt("second").reply("two").write(tmp_path)
    session = only(tmp_path)
    assert [text for _, text in said(session)] == ["first", "one", "second", "two"]
    assert session.ended_at - session.started_at > timedelta(days=2)


def test_closing_a_window_days_later_does_not_move_the_end_of_the_session(tmp_path: Path) -> None:
    transcript = Transcript().prompt("hello").reply("hi")
    ended = transcript.now
    transcript.now += timedelta(days=3)
    transcript.command("exit", body=None).write(tmp_path)
    assert only(tmp_path).ended_at == ended


# What is a session ----------------------------------------------------------------------------------------------------


def test_of_interactive_headless_sidechain_and_subagent_files_only_the_interactive_one_is_harvested(
    tmp_path: Path,
) -> None:
    Transcript(session_id(1)).prompt("interactive").reply("ok").write(tmp_path)
    Transcript(session_id(2), entrypoint="sdk-cli").prompt("headless").reply("ok").write(tmp_path)
    Transcript(session_id(3)).prompt("side").user("agent", isSidechain=True).reply("ok").write(tmp_path)
    agent = tmp_path / "projects" / "-home-ann-shop" / session_id(1) / "subagents" / "agent-x.jsonl"
    Transcript(session_id(1)).user("do this", isSidechain=True).write_to(agent)
    agent.with_suffix(".meta.json").write_text("{}", encoding="utf-8")

    found = read(tmp_path)
    assert [session.id for session in found.sessions] == [session_id(1)]
    assert found.files == 4
    assert found.skipped == {"headless": 1, "sidechain": 1, "subagent": 1}
    assert {s.id: s.entrypoint for s in read(tmp_path, Query(include_headless=True)).sessions} == {
        session_id(1): "interactive",
        session_id(2): "headless",
    }


def test_a_prompt_source_of_the_sdk_is_headless_whatever_the_entry_point_says(tmp_path: Path) -> None:
    Transcript(entrypoint=None).user("hello", promptSource="sdk").reply("hi").write(tmp_path)
    assert read(tmp_path).skipped == {"headless": 1}


def test_a_session_in_which_a_person_typed_at_all_is_interactive(tmp_path: Path) -> None:
    transcript = Transcript(entrypoint="sdk-py").prompt("nightly report").reply("ok")
    transcript.entrypoint = "cli"
    transcript.prompt("why so long?").reply("sorry").write(tmp_path)
    assert only(tmp_path).entrypoint == "interactive"


def test_sessions_of_clients_that_do_not_name_their_entry_point_are_interactive(tmp_path: Path) -> None:
    Transcript(entrypoint=None).user("hello").reply("hi").write(tmp_path)
    assert only(tmp_path).entrypoint == "interactive"


@pytest.mark.parametrize("entrypoint", ["cli", "sdk-cli"])
def test_our_own_calls_are_never_harvested(tmp_path: Path, entrypoint: str) -> None:
    Transcript(entrypoint=entrypoint).prompt(f"{OWN_CALL_MARKER}\nScore this reply.").reply("0.5").write(tmp_path)
    for query in (Query(), Query(include_headless=True)):
        found = read(tmp_path, query)
        assert (found.sessions, found.skipped) == ((), {"own_call": 1})


def test_a_person_may_speak_about_our_calls(tmp_path: Path) -> None:
    Transcript().prompt(f"what does {OWN_CALL_MARKER} mean?").write(tmp_path)
    assert len(read(tmp_path).sessions) == 1


def test_the_project_is_the_folder_in_the_records_and_not_the_name_of_the_folder_on_disk(tmp_path: Path) -> None:
    Transcript(cwd="/srv/my-app").prompt("hello").write_to(tmp_path / "projects" / "-srv-my-app" / "a.jsonl")
    assert only(tmp_path).project == "/srv/my-app"
    assert read(tmp_path, Query(project="/srv/my/app")).skipped == {"other_project": 1}
    assert len(read(tmp_path, Query(project="/srv")).sessions) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_project_is_found_through_a_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    Transcript(cwd=str(tmp_path / "real" / "sub")).prompt("hello").write(tmp_path)
    assert len(read(tmp_path, Query(project=str(tmp_path / "link"))).sessions) == 1


def test_an_old_file_is_not_opened_when_only_new_sessions_are_asked_for(tmp_path: Path) -> None:
    path = Transcript().prompt("hello").write(tmp_path)
    path.write_bytes(b"garbage\n")  # reading it would count a line
    os.utime(path, (START.timestamp(), START.timestamp()))
    found = read(tmp_path, Query(since=START + timedelta(days=30)))
    assert (found.skipped, found.skipped_lines) == ({"outside_window": 1}, {})


def test_a_file_touched_long_after_its_last_turn_still_counts_by_its_last_turn(tmp_path: Path) -> None:
    path = Transcript(session_id(1)).prompt("old").write(tmp_path)
    later = (START + timedelta(days=40)).timestamp()
    os.utime(path, (later, later))
    Transcript(session_id(2), start=START + timedelta(days=20)).prompt("new").write(tmp_path)
    assert [said(s)[0][1] for s in read(tmp_path).sessions] == ["new", "old"]
    assert [said(s)[0][1] for s in read(tmp_path, Query(since=START + timedelta(days=10))).sessions] == ["new"]


# What goes wrong ------------------------------------------------------------------------------------------------------


def test_vanished_truncated_and_odd_files_are_counted_and_good_turns_are_kept(tmp_path: Path) -> None:
    Transcript(session_id(1), start=START + timedelta(days=1)).prompt("first read").write(tmp_path)
    doomed = Transcript(session_id(2)).prompt("gone").write(tmp_path)
    cut = Transcript(session_id(3)).prompt("kept").reply("kept too")
    cut.raw('{"parentUuid":null,"isSidechain":false,"type":"user","mess', newline=False).write(tmp_path)
    odd = Transcript(session_id(4)).raw('{"type":"summary","summary":"old client"}').raw('{"type":"wobble","x":[1]}')
    odd.prompt([{"type": "text", "text": "a list"}]).raw("not json").raw("[1]").raw(b'{"x": "\xff"}').raw(
        '{"no": "type"}'
    )
    odd.row("user", message="no object").row("assistant", message={"content": 7}).user("no time", timestamp="soon")
    odd.reply("fine").write(tmp_path)

    def lose_one(event: Event) -> None:
        if isinstance(event, SessionFound):
            doomed.unlink(missing_ok=True)

    tally = Tally(lose_one)
    found = harvest([ClaudeCodeSource(tmp_path, redact=redact, events=tally)], Query(), tally)
    assert {s.id: [text for _, text in said(s)] for s in found.sessions} == {
        session_id(1): ["first read"],
        session_id(3): ["kept", "kept too"],
        session_id(4): ["a list", "fine"],
    }
    assert (found.files, found.skipped) == (4, {"vanished": 1})
    assert found.skipped_lines == {"truncated": 1, "not_json": 1, "not_object": 1, "undecodable": 1, "odd_shape": 4}


def test_files_that_are_no_transcripts_are_skipped_with_a_reason(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-home-ann-shop"
    folder.mkdir(parents=True)
    (folder / "empty.jsonl").touch()
    (folder / "blank.jsonl").write_text("\n\n", encoding="utf-8")
    (folder / "folder.jsonl").mkdir()
    (folder / "garbage.jsonl").write_bytes(bytes(range(128, 256)) + b"\n")
    (folder / "rows.jsonl").write_text('{"type":"summary","summary":"x"}\n', encoding="utf-8")
    (folder / "notes.txt").write_text("not ours", encoding="utf-8")
    (tmp_path / "projects" / "stray.jsonl").touch()
    found = read(tmp_path)
    assert found.skipped == {"empty": 2, "unreadable": 2, "no_human_prompt": 1}
    assert found.files == 5


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")
def test_pipes_and_links_to_nowhere_neither_block_nor_fail(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "p"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "gone.jsonl").symlink_to(folder / "nothing")
    (folder / "loop.jsonl").symlink_to(folder / "loop.jsonl")
    os.mkfifo(folder / os.fsdecode(b"name-\xff.jsonl"))
    assert read(tmp_path).skipped == {"unreadable": 3, "vanished": 1}


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="permissions do not bind the superuser")
def test_a_file_without_permission_is_unreadable_and_a_folder_without_is_a_warning(tmp_path: Path) -> None:
    path = Transcript(session_id(1)).prompt("hidden").write(tmp_path)
    path.chmod(0)
    assert read(tmp_path).skipped == {"unreadable": 1}
    path.parent.chmod(0)
    events: list[Event] = []
    try:
        assert list(ClaudeCodeSource(tmp_path, redact=redact, events=events.append).sessions(Query())) == []
    finally:
        path.parent.chmod(0o700)
    assert [type(event) for event in events] == [Warned]


def test_half_characters_in_a_text_become_replacement_characters(tmp_path: Path) -> None:
    transcript = Transcript(noise=False).prompt("X")
    transcript.lines = [line.replace(b'"X"', b'"a\\ud83d b \\ud83d\\ude00"') for line in transcript.lines]
    transcript.write(tmp_path)
    (turn,) = only(tmp_path).turns
    assert turn.text == "a\ufffd b \U0001f600"
    assert Turn.model_validate_json(turn.model_dump_json()) == turn


def test_a_damaged_working_folder_is_passed_over_for_the_next_rows(tmp_path: Path) -> None:
    transcript = Transcript(cwd="/home/\0")
    transcript.prompt("hello")
    transcript.cwd = "/home/ann/shop"
    transcript.reply("hi").write(tmp_path)
    assert only(tmp_path, Query(project="/home/ann")).project == "/home/ann/shop"


# Secrets and size -----------------------------------------------------------------------------------------------------


def test_no_secret_leaves_the_reader_and_the_words_beside_it_do(tmp_path: Path) -> None:
    body = "".join(f"Zm9vYmFyYmF6{n:04d}QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo\n" for n in range(8))
    secrets = {
        "aws": "AK" + "IA" + "QWERTYUIOP234567",
        "bearer": "a1B2" * 10,
        "pem": f"-----BEGIN RSA PRIVATE{' '}KEY-----\n{body}-----END RSA PRIVATE{' '}KEY-----",
        "sig": "abc%2Fdef123%3D",
        "password": "S3cr3t!pass",
    }
    transcript = Transcript()
    transcript.prompt(f"my access id is {secrets['aws']} for the bucket")
    transcript.reply(
        f"curl -H 'Authorization: Bearer {secrets['bearer']}' works", f"the key:\n{secrets['pem']}\nis long"
    )
    transcript.prompt(f"see https://x.blob.core.windows.net/c/f?sv=1&sig={secrets['sig']}&se=2 please")
    transcript.prompt(f"Server=db;User Id=sa;Password={secrets['password']};Database=shop").write(tmp_path)

    events: list[Event] = []
    tally = Tally(events.append)
    found = harvest([ClaudeCodeSource(tmp_path, redact=redact, events=tally)], Query(), tally)
    out = found.model_dump_json() + "".join(event.model_dump_json() for event in events)
    for secret in (*secrets.values(), body[:50], json.dumps(secrets["pem"])[1:-1]):
        assert secret not in out
    assert found.masked == {
        "aws_access_key": 1,
        "authorization": 1,
        "private_key": 1,
        "signed_url": 1,
        "connection_password": 1,
    }
    for kept in (
        "my access id is ",
        " for the bucket",
        "Server=db;User Id=sa;",
        ";Database=shop",
        "&se=2 please",
        "is long",
    ):
        assert kept in out


def test_a_long_turn_is_clipped_after_redaction_with_a_visible_mark(tmp_path: Path) -> None:
    token = "gh" + "p_" + "a1B2c3" * 6
    Transcript().prompt("x" * 19_990 + " " + token + " y" * 50_000).write(tmp_path)
    session = only(tmp_path)
    (turn,) = session.turns
    assert len(turn.text) < 20_100
    assert turn.text.startswith("x" * 19_990)
    assert turn.text.endswith("more characters]")
    assert "ghp" not in turn.text
    assert session.masked == {"github_token": 1}


def test_a_subagents_transcripts_are_not_even_opened(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "p" / session_id(1) / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-1.jsonl").write_bytes(b"garbage")
    found = read(tmp_path)
    assert (found.skipped, found.skipped_lines) == ({"subagent": 1}, {})


def test_events_name_every_file_once(tmp_path: Path) -> None:
    for n in range(5):
        Transcript(session_id(n), entrypoint="cli" if n % 2 else "sdk-ts").prompt(f"p{n}").write(tmp_path)
    events: list[Event] = []
    list(ClaudeCodeSource(tmp_path, redact=redact, events=events.append).sessions(Query(limit=1)))
    accounts = Counter(event.path for event in events if isinstance(event, SessionFound | SessionSkipped))
    assert sorted(accounts.values()) == [1] * 5
