"""The `claude` backend against a pretended client: what it is given, and what its faults become."""

from __future__ import annotations

import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.lowlevel
import pytest
from pydantic import BaseModel

from skillopt_sleep.backend.claude_cli import ClaudeModel, claude
from skillopt_sleep.backend.registry import Options, build
from skillopt_sleep.backend.retrying import Retrying, RetryPolicy
from skillopt_sleep.domain.errors import ModelAuthError, ModelError, ModelUnavailable, UnknownName, UsageError
from skillopt_sleep.domain.llm import Prompt, Reply, UserMessage
from skillopt_sleep.domain.ports import Bounded, Closable, Model
from skillopt_sleep.domain.skills import EditList
from tests.backend.claude_client import Client, Habit
from tests.conformance.model import TOOL, ModelConformance, request

T = TypeVar("T")
Job = Callable[[ClaudeModel], Awaitable[T]]


def using(model: ClaudeModel, job: Job[T]) -> T:
    async def main() -> T:
        try:
            with anyio.fail_after(30):
                return await job(model)
        finally:
            await model.aclose()

    return anyio.run(main)


def asked(model: ClaudeModel, prompt: Prompt, schema: type[BaseModel] | None = None) -> Reply:
    return using(model, lambda model: model.generate(prompt, schema=schema))


def gone(pid: int) -> bool:
    """Whether there is no such process, or only its unreaped remains."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


async def until(condition: Callable[[], bool]) -> None:
    """Another process's doings can only be looked at again and again."""
    with anyio.fail_after(10):
        while not condition():  # noqa: ASYNC110
            await anyio.sleep(0.01)


async def all_gone(pids: list[int]) -> None:
    await until(lambda: all(gone(pid) for pid in pids))


class TestConformance(ModelConformance):
    samples_differ = False

    @pytest.fixture(autouse=True)
    def _client(self, tmp_path: Path) -> None:
        self.client = Client(tmp_path, "answers")

    def make(self) -> Model:
        return self.client.model()

    def test_tools_are_called_only_where_they_are_declared(self) -> None:
        with pytest.raises(ModelError, match="tools"):
            self._asked(request().model_copy(update={"tools": (TOOL,)}))
        assert self.client.started == 0


def test_a_long_prompt_arrives_byte_for_byte_and_stands_in_no_argument(tmp_path: Path) -> None:
    client = Client(tmp_path, "answers")
    text = ("Ünïcödé 🦜 日本語の文章 \r\n\ttabs and \u2028 separators\n" * 300)[:12_000] + "  \n"
    system = "A skill, 長い 🐙\r\n" * 20_000
    prompt = Prompt(role="target", system=system, messages=(UserMessage(text=text),))
    assert asked(client.model(), prompt).text == text
    assert client.said == [text]
    assert client.notes("system") == [system]
    (argv,) = client.notes("argv")
    assert not any("parrot" in word or "🦜" in word or "長い" in word for word in argv)
    assert len("".join(argv)) < 1000


def test_the_client_sees_an_empty_folder_and_of_the_environment_only_what_it_needs(tmp_path: Path) -> None:
    client = Client(tmp_path, "refuses_nested")
    environ = {
        "CLAUDECODE": "1",
        "CLAUDE_CODE_ENTRYPOINT": "cli",
        "CLAUDE_CODE_SESSION_ID": "outer",
        "OPENAI_API_KEY": "sk-openai-secret",
        "AWS_SECRET_ACCESS_KEY": "aws-secret",
        "ANTHROPIC_API_KEY": "sk-ant-key",
        "HOME": str(tmp_path / "home"),
    }
    assert asked(client.model(environ), request()).text
    (seen,) = client.notes("environ")
    assert (seen["ANTHROPIC_API_KEY"], seen["HOME"]) == ("sk-ant-key", str(tmp_path / "home"))
    assert not {"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "OPENAI_API_KEY"} & set(seen)
    assert "aws-secret" not in seen.values()
    assert seen["CLAUDE_CODE_MAX_RETRIES"] == "0"
    assert client.notes("files") == [[]]


def test_with_a_key_the_persons_own_client_folder_is_left_alone_and_without_one_it_is_used(tmp_path: Path) -> None:
    own = str(tmp_path / "own")
    for key, expected in (({"ANTHROPIC_API_KEY": "k"}, False), ({}, True)):
        client = Client(tmp_path / f"{expected}", "answers")
        asked(client.model({"CLAUDE_CONFIG_DIR": own, **key}), request())
        (seen,) = client.notes("environ")
        assert (seen["CLAUDE_CONFIG_DIR"] == own) is expected


def test_never_bare_which_would_ignore_a_subscription_login(tmp_path: Path) -> None:
    client = Client(tmp_path, "answers")
    asked(client.model(), request())
    assert "--bare" not in client.notes("argv")[0]


@pytest.mark.parametrize("habit", ["login_text", "login_result"])
def test_a_login_text_is_no_reply_even_with_exit_status_0(tmp_path: Path, habit: Habit) -> None:
    with pytest.raises(ModelAuthError, match="Not logged in") as caught:
        asked(Client(tmp_path, habit).model(), request())
    assert "/login" in caught.value.hint


def test_a_missing_program_is_named_before_anything_is_started(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"/no/such/claude does not exist"):
        build("claude:haiku", Options(claude_path="/no/such/claude"))
    with pytest.raises(UsageError, match="no `claude` on the PATH"):
        build("claude:haiku", Options(environ={"PATH": str(tmp_path)}))
    plain = tmp_path / "claude"
    plain.write_text("not a program", encoding="utf-8")
    with pytest.raises(UsageError, match="not a program that can be run"):
        build("claude:haiku", Options(claude_path=str(plain)))


def test_a_program_that_cannot_be_started_stops_the_run_and_is_named(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_bytes(b"\x7fELF, or nearly so")
    program.chmod(0o755)
    with pytest.raises(ModelAuthError, match="cannot be started"):
        asked(ClaudeModel("m", program, environ={}), request())


def test_model_names_are_resolved_and_wrong_ones_get_the_nearest() -> None:
    options = Options(claude_path="/bin/sh")
    assert claude("haiku", options).id == "claude:claude-haiku-5-5"
    assert claude("claude-sonnet-4-5", options).id == "claude:claude-sonnet-4-5"
    with pytest.raises(UnknownName, match="'sonnet'"):
        claude("sonet", options)
    with pytest.raises(UsageError, match="Which Claude model"):
        build("claude", options)


def test_one_process_answers_many_prompts_each_after_a_clear(tmp_path: Path) -> None:
    client = Client(tmp_path, "answers")

    async def three(model: ClaudeModel) -> list[str]:
        return [(await model.generate(request(f"Prompt {n}"))).text for n in range(3)]

    assert using(client.model(), three) == ["Prompt 0", "Prompt 1", "Prompt 2"]
    assert client.started == 1
    assert client.notes("said") == ["/clear", "Prompt 0", "/clear", "Prompt 1", "/clear", "Prompt 2"]


def test_processes_are_as_many_as_allowed_and_the_longest_idle_one_makes_room(tmp_path: Path) -> None:
    client = Client(tmp_path, "answers")

    async def versions(model: ClaudeModel) -> None:
        for system in ("A", "B", "A", "C", "A"):
            await model.generate(request().model_copy(update={"system": system}))
            assert sum(not gone(pid) for pid in {*client.notes("pid")}) <= 2

    using(client.model(workers=2), versions)
    assert client.notes("system") == ["A", "B", "C"]


def test_versions_that_are_asked_in_turns_keep_a_process_each(tmp_path: Path) -> None:
    client = Client(tmp_path, "answers")

    async def side_by_side(model: ClaudeModel) -> None:
        async with anyio.create_task_group() as group:
            for number in range(40):
                version = request(f"{number}").model_copy(update={"system": "AABB"[number % 4]})
                group.start_soon(model.generate, version)

    using(client.model(workers=2), side_by_side)
    assert sorted(client.said, key=int) == [str(number) for number in range(40)]
    assert client.started < 10


def test_a_call_that_was_cancelled_while_it_waited_does_not_keep_the_place(tmp_path: Path) -> None:
    client = Client(tmp_path, "answers")

    async def some_are_cancelled(model: ClaudeModel) -> Reply:
        async with anyio.create_task_group() as group:
            for number in range(6):
                group.start_soon(model.generate, request(f"{number}"))
            await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        return await model.generate(request("And now?"))

    assert using(client.model(workers=1), some_are_cancelled).text == "And now?"


def test_a_client_that_does_not_forget_is_never_given_a_prompt(tmp_path: Path) -> None:
    client = Client(tmp_path, "forgets_to_forget")
    with pytest.raises(ModelError, match="new conversation"):
        asked(client.model(), request())
    assert client.said == []


def test_what_begins_with_a_slash_is_said_and_not_run(tmp_path: Path) -> None:
    client = Client(tmp_path, "answers")
    asked(client.model(), request("/clear the table, then set it"))
    assert client.said == ["\n/clear the table, then set it"]


@pytest.mark.parametrize(
    ("habit", "message"),
    [("dies", r"exit code 3"), ("floods", "without end"), ("long_line", "without end"), ("fails_once", "exit code 1")],
)
def test_a_client_that_fails_ends_the_call_with_a_typed_error_and_leaves_nothing(
    tmp_path: Path, habit: Habit, message: str
) -> None:
    client = Client(tmp_path, habit)
    with pytest.raises(ModelUnavailable, match=message) as caught:
        asked(client.model(), request())
    assert caught.value.retry == "transient"
    anyio.run(all_gone, client.notes("pid"))


def test_a_client_that_failed_once_is_replaced_and_the_second_answer_counts(tmp_path: Path) -> None:
    client = Client(tmp_path, "fails_once")
    model = client.model()
    patient = Retrying(model, RetryPolicy(first_delay=0.0))
    assert using(model, lambda _: patient.generate(request("Still there?"))).text == "Still there?"
    assert client.started == 2


def test_an_outage_of_the_service_costs_no_process(tmp_path: Path) -> None:
    client = Client(tmp_path, "overloaded")
    model = client.model(workers=1)
    patient = Retrying(model, RetryPolicy(first_delay=0.0))
    assert using(model, lambda _: patient.generate(request("Again"))).text == "Again"
    assert client.started == 1


def test_an_old_client_is_told_from_an_outage(tmp_path: Path) -> None:
    with pytest.raises(ModelAuthError, match="too old"):
        asked(Client(tmp_path, "unknown_option").model(), request())


def test_noise_between_messages_is_passed_over(tmp_path: Path) -> None:
    assert asked(Client(tmp_path, "chatters").model(), request("Hello")).text == "Hello"


@pytest.mark.parametrize("habit", ["sleeps", "deaf"])
def test_a_late_client_is_killed_with_everything_it_started(tmp_path: Path, habit: Habit) -> None:
    client = Client(tmp_path, habit)
    text = "x" * (300_000 if habit == "deaf" else 10)  # more than a pipe holds
    with pytest.raises(ModelUnavailable, match=r"within 0\.5 s"):
        asked(client.model(seconds=0.5), request(text))
    anyio.run(all_gone, [*client.notes("pid"), *client.notes("child")])


def test_a_cancelled_call_leaves_no_process_and_no_folder(tmp_path: Path) -> None:
    client = Client(tmp_path, "sleeps")

    async def cancel(model: ClaudeModel) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(model.generate, request())
            await until(lambda: bool(client.notes("child")))
            group.cancel_scope.cancel()
        await all_gone([*client.notes("pid"), *client.notes("child")])
        assert not Path(client.notes("cwd")[0]).parent.exists()

    using(client.model(), cancel)


def test_closing_ends_idle_processes_and_a_later_call_starts_anew(tmp_path: Path) -> None:
    client = Client(tmp_path, "answers")

    async def twice(model: ClaudeModel) -> None:
        await model.generate(request())
        await model.aclose()
        await all_gone(client.notes("pid"))
        assert not Path(client.notes("cwd")[0]).parent.exists()
        await model.aclose()
        await model.generate(request())

    using(client.model(), twice)
    assert client.started == 2


def test_a_forgotten_model_takes_its_processes_with_it(tmp_path: Path) -> None:
    client = Client(tmp_path, "answers")

    def ask_and_forget() -> None:
        anyio.run(client.model().generate, request())

    ask_and_forget()
    anyio.run(all_gone, client.notes("pid"))


def test_a_process_serves_several_event_loops(tmp_path: Path) -> None:
    client = Client(tmp_path, "answers")
    model = client.model()
    for text in ("one", "two"):
        assert anyio.run(model.generate, request(text)).text == text
    anyio.run(model.aclose)
    assert client.started == 1


def test_json_in_a_code_fence_is_taken_out_of_it(tmp_path: Path) -> None:
    client = Client(tmp_path, "fenced")
    assert EditList.model_validate_json(asked(client.model(), request(), EditList).text).edits == ()
    assert '"edits"' in client.notes("system")[0]


def test_files_of_a_process_are_for_its_owner_only(tmp_path: Path) -> None:
    client = Client(tmp_path, "answers")

    async def look(model: ClaudeModel) -> None:
        await model.generate(request())
        folder = Path(client.notes("cwd")[0]).parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700

    using(client.model(), look)


def test_it_says_how_much_a_call_can_take_and_can_be_closed() -> None:
    model = claude("haiku", Options(claude_path="/bin/sh"))
    assert isinstance(model, Bounded)
    assert isinstance(model, Closable)
    given, written = model.most_tokens(request(), None)
    assert given > 4096
    assert written == 2 * request().max_tokens


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    client = Client(tmp_path, "answers")
    asked(client.model(), request())
    before = open_descriptors()
    for _ in range(5):
        asked(client.model(), request())
    assert open_descriptors() <= before
