"""What the HTTP backends send, and what they make of an answer."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import anyio
import pytest
from pydantic import BaseModel, ConfigDict, Field

from skillopt_sleep.backend.anthropic_api import resolve
from skillopt_sleep.backend.cached import cache_key
from skillopt_sleep.backend.claude_models import ALIASES
from skillopt_sleep.backend.endpoint import endpoint
from skillopt_sleep.backend.registry import Options, build
from skillopt_sleep.backend.structured import wire_schema
from skillopt_sleep.domain.errors import ModelAuthError, ModelMalformed, SleepError, UnknownName, UsageError
from skillopt_sleep.domain.llm import AssistantMessage, Prompt, ToolCall, ToolMessage, UserMessage
from skillopt_sleep.domain.ports import Served
from skillopt_sleep.domain.skills import EditList
from tests.backend.fakes import ask
from tests.backend.services import KEY, PROTOCOLS, Protocol, asked, asked_patiently, model_at
from tests.conformance.model import TOOL
from tests.loopback.server import Loopback
from tests.loopback.wire import Answer, Asked, Fault, Say

TALK = Prompt(
    role="target",
    system="# Tides\n\nLook things up.",
    messages=(
        UserMessage(text="When is high tide?"),
        AssistantMessage(
            text="",
            tool_calls=(
                ToolCall(id="a", name="lookup", arguments={"query": "tide"}),
                ToolCall(id="b", name="lookup", arguments={"query": "höher"}),
            ),
        ),
        ToolMessage(call_id="a", text="At noon."),
        ToolMessage(call_id="b", text="No notes match."),
    ),
    tools=(TOOL,),
    max_tokens=77,
    sample=5,
)


def body_of(protocol: Protocol, prompt: Prompt, schema: type[BaseModel] | None = None) -> dict[str, Any]:
    with Loopback(lambda _: Say(text='{"edits": []}')) as service:
        asked(model_at(service.url, protocol), prompt, schema)
        return service.asked[0].body


def test_a_talk_with_tools_reaches_the_messages_api_in_its_form() -> None:
    assert body_of("anthropic", TALK) == {
        "model": ALIASES["haiku"],
        "max_tokens": 77,
        "system": [{"type": "text", "text": TALK.system, "cache_control": {"type": "ephemeral"}}],
        "tools": [{"name": "lookup", "description": TOOL.description, "input_schema": TOOL.parameters}],
        "messages": [
            {"role": "user", "content": "When is high tide?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "a", "name": "lookup", "input": {"query": "tide"}},
                    {"type": "tool_use", "id": "b", "name": "lookup", "input": {"query": "höher"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "At noon."},
                    {"type": "tool_result", "tool_use_id": "b", "content": "No notes match."},
                ],
            },
        ],
    }


def test_a_talk_with_tools_reaches_chat_completions_in_their_form() -> None:
    body = body_of("openai", TALK)
    assert [turn["role"] for turn in body["messages"]] == ["system", "user", "assistant", "tool", "tool"]
    assert body["messages"][2]["tool_calls"][1] == {
        "id": "b",
        "type": "function",
        "function": {"name": "lookup", "arguments": '{"query": "höher"}'},
    }
    assert body["messages"][3] == {"role": "tool", "tool_call_id": "a", "content": "At noon."}
    assert (body["seed"], body["max_tokens"], body["cache_prompt"]) == (5, 77, False)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_tool_call_comes_back_as_one(protocol: Protocol) -> None:
    with Loopback(lambda _: Say(text="Let me see.", tools=(("lookup", {"query": "tide"}),))) as service:
        reply = asked(model_at(service.url, protocol), TALK)
    assert (reply.text, reply.stop) == ("Let me see.", "tool_use")
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("lookup", {"query": "tide"})]


def test_all_input_is_counted_whatever_the_prompt_cache_did() -> None:
    said = Say(text="ok", input_tokens=10, output_tokens=3, cache_read=200, cache_write=50)
    with Loopback(lambda _: said) as service:
        usage = asked(model_at(service.url, "anthropic"), ask()).usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (260, 200, 50)
    assert (usage.output_tokens, usage.estimated) == (3, False)


def test_usage_that_a_service_does_not_count_is_estimated_and_says_so() -> None:
    with Loopback(lambda _: Say(text="four words of it", counted=False)) as service:
        usage = asked(model_at(service.url, "openai"), ask()).usage
    assert usage.estimated
    assert usage.input_tokens > 0
    assert usage.output_tokens == 4


# ---- structured replies


class Grade(BaseModel):
    model_config = ConfigDict(extra="forbid")
    points: int = Field(ge=0, le=10, description="How many.")
    reason: str | None = None


def test_the_schema_on_the_wire_is_closed_whole_and_without_limits() -> None:
    schema = wire_schema(Grade)
    assert schema["required"] == ["points", "reason"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["points"] == {"type": "integer", "description": "How many. (maximum 10, minimum 0)"}
    assert schema["properties"]["reason"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}


def test_every_object_of_the_schema_for_edits_is_closed_and_names_its_kind() -> None:
    schema = wire_schema(EditList)
    for definition in schema["$defs"].values():
        assert definition["additionalProperties"] is False
        assert "kind" in definition["required"]
    assert not {"oneOf", "discriminator", "maxLength", "default"} & set(str(schema).replace("'", " ").split())


def test_both_protocols_ask_for_the_schema() -> None:
    anthropic, openai = (body_of(protocol, ask(role="optimizer"), EditList) for protocol in PROTOCOLS)
    assert anthropic["output_config"] == {"format": {"type": "json_schema", "schema": wire_schema(EditList)}}
    assert openai["response_format"]["json_schema"]["schema"] == wire_schema(EditList)


def _refuses_the_form(asked: Asked) -> Answer:
    if asked.schema is not None:
        return Fault("status", status=400, message="response_format is not supported", error="invalid_request_error")
    assert "JSON Schema" in asked.system
    return Say(text='```json\n{"edits": []}\n```')


def test_a_service_that_refuses_the_form_is_asked_in_words_from_then_on() -> None:
    with Loopback(_refuses_the_form) as service:
        model = model_at(service.url, "openai")
        replies = [asked(model, ask(role="optimizer", sample=sample), EditList) for sample in range(2)]
        assert len(service.asked) == 3
    assert [reply.text for reply in replies] == ['{"edits": []}'] * 2
    assert [reply.usage.extra_requests for reply in replies] == [1, 0]


def test_tool_arguments_that_are_no_json_are_no_call() -> None:
    def garbled(asked: Asked) -> Answer:
        return Say(tools=(("lookup", "tide"),))  # type: ignore[arg-type] # what a confused service sends

    with Loopback(garbled) as service, pytest.raises(ModelMalformed, match="named arguments"):
        asked(model_at(service.url, "openai"), TALK)


# ---- names, keys, addresses


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_is_resolved_to_a_whole_id(alias: str) -> None:
    model = build(f"anthropic:{alias}", Options(environ={"ANTHROPIC_API_KEY": KEY}))
    assert model.id == f"anthropic:{ALIASES[alias]}"
    assert isinstance(model, Served)
    assert model.service == "api.anthropic.com"


def test_an_id_of_claude_is_passed_on_and_anything_else_gets_the_nearest_name() -> None:
    assert resolve("claude-next-9") == "claude-next-9"
    with pytest.raises(UnknownName, match="Did you mean 'sonnet'"):
        resolve("sonet")
    with pytest.raises(UnknownName):
        resolve(None)


def test_a_model_that_the_service_does_not_have_stops_with_the_nearest_it_has() -> None:
    fault = Fault("status", status=404, error="not_found_error", message="model 'lopback' not found")
    for protocol, name in (("anthropic", "claude-lopback"), ("openai", "lopback")):
        gone = Fault(**{**vars_of(fault), "message": f"model {name!r} not found"})
        with Loopback(lambda _, gone=gone: gone) as service, pytest.raises(ModelAuthError, match="'loopback'"):  # type: ignore[misc]
            asked(model_at(service.url, protocol, model=name), ask())  # type: ignore[arg-type]


def vars_of(fault: Fault) -> dict[str, Any]:
    return {name: getattr(fault, name) for name in fault.__slots__}


def test_without_a_key_nothing_is_built_and_the_message_says_what_to_do() -> None:
    with pytest.raises(ModelAuthError, match="ANTHROPIC_API_KEY"):
        build("anthropic:haiku", Options(environ={"ANTHROPIC_API_KEY": " "}))


def test_the_key_comes_from_the_options_and_never_from_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-process")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    with Loopback() as service:
        asked(model_at(service.url, "anthropic"), ask())
        assert KEY in str(service.asked[0].headers)
        assert "sk-of-the-process" not in str(service.asked[0].headers)


def test_a_login_token_travels_as_a_bearer() -> None:
    with Loopback() as service:
        environ = {"ANTHROPIC_AUTH_TOKEN": "tok-1", "ANTHROPIC_BASE_URL": service.url}
        asked(build("anthropic:opus", Options(environ=environ)), ask())
        assert service.asked[0].headers["authorization"] == "Bearer tok-1"


@pytest.mark.parametrize(
    "url",
    [
        "http://models.example.com/v1",
        "http://192.168.1.7:11434/v1",
        "http://127.0.0.1.example.com",
        "http://localhost.example.com",
        "http://0.0.0.0:8080",
        "http://[2001:db8::1]/v1",
        "HTTP://EXAMPLE.COM",
    ],
)
def test_a_key_never_travels_in_plain_text_but_to_this_machine(url: str) -> None:
    with pytest.raises(UsageError, match="in plain text"):
        build("openai:m", Options(environ={"OPENAI_API_KEY": KEY}, openai_url=url))
    with pytest.raises(UsageError, match="in plain text"):
        build("anthropic:haiku", Options(environ={"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url}))


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1", "http://[::1]:1", "http://localhost:1", "https://x.example"])
def test_a_key_may_travel_encrypted_or_within_this_machine(url: str) -> None:
    build("openai:m", Options(environ={"OPENAI_API_KEY": KEY}, openai_url=url))


def test_without_a_key_a_server_in_the_same_network_may_be_asked() -> None:
    build("openai:m", Options(openai_url="http://192.168.1.7:11434/v1"))


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1",
        "127.0.0.1:8080",
        "http://",
        "http://127.0.0.1:port",
        "http://127.0.0.1\\@example.com",
        "http://user:secret@127.0.0.1",
        "http://127.0.0.1/v1?key=1",
        "http://127.0.0.1 /v1",
    ],
)
def test_an_address_that_is_none_or_holds_more_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(UsageError, match="openai-url") as caught:
        build("openai:m", Options(openai_url=url))
    assert "secret" not in str(caught.value)


def test_a_key_with_a_line_break_is_refused_without_showing_it() -> None:
    with pytest.raises(ModelAuthError) as caught:
        build("openai:m", Options(environ={"OPENAI_API_KEY": f"{KEY}\nx"}))
    assert KEY not in str(caught.value)
    assert KEY not in repr(endpoint("https://x.example", KEY, setting="a", key_setting="b"))


def test_the_address_falls_back_from_flag_to_environment_to_ollama() -> None:
    def service(options: Options) -> str:
        model = build("openai:m:1b", options)
        assert model.id == "openai:m:1b"
        assert isinstance(model, Served)
        return model.service

    environ = {"OPENAI_BASE_URL": "https://gateway.example/v1/"}
    assert service(Options(environ=environ, openai_url="http://localhost:1/v1")) == "localhost:1/v1"
    assert service(Options(environ=environ)) == "gateway.example/v1"
    assert service(Options()) == "127.0.0.1:11434/v1"
    with pytest.raises(UsageError, match="name of a model"):
        build("openai")


def test_the_same_name_at_another_address_is_another_model_for_the_cache() -> None:
    from skillopt_sleep.backend.cached import MemoryCache

    cache = MemoryCache()
    texts = []
    for text in ("first", "second"):
        with Loopback(lambda _, text=text: Say(text=text)) as service:  # type: ignore[misc]
            texts += [asked_patiently(model_at(service.url, "openai"), ask(), cache).text for _ in range(2)]
    assert texts == ["first", "first", "second", "second"]
    assert cache_key("a", ask(), None, "x") != cache_key("a", ask(), None, "y")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_proxy_of_the_environment_does_not_see_what_goes_to_this_machine(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Loopback() as service, Loopback() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        asked(model_at(service.url, protocol), ask())
        assert (len(service.asked), len(proxy.asked)) == (1, 0)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_one_model_serves_several_event_loops_and_may_be_closed_twice(protocol: Protocol) -> None:
    with Loopback() as service:
        model = model_at(service.url, protocol)
        assert [asked(model, ask(str(number))).text for number in range(3)] == ["ECHO: 0", "ECHO: 1", "ECHO: 2"]
        anyio.run(model.aclose)  # type: ignore[attr-defined]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_hundred_calls_at_once_each_get_their_own_answer(protocol: Protocol) -> None:
    answers: dict[int, str] = {}

    async def main(model: Any) -> None:
        async def one(number: int) -> None:
            answers[number] = (await model.generate(ask(str(number)))).text

        async with anyio.create_task_group() as group:
            for number in range(100):
                group.start_soon(one, number)
        await model.aclose()

    with Loopback() as service:
        anyio.run(main, model_at(service.url, protocol))
    assert answers == {number: f"ECHO: {number}" for number in range(100)}


def test_building_a_model_loads_no_sdk() -> None:
    code = (
        "import sys; from skillopt_sleep.backend.registry import Options, build;"
        "build('anthropic:haiku', Options(environ={'ANTHROPIC_API_KEY': 'k'})); build('openai:m');"
        "assert not {'anthropic', 'httpx2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- models that other people wrote


class Clumsy:
    id = "clumsy"

    def __init__(self, outcome: object) -> None:
        self._outcome = outcome

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Any:
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


def raises(_model: str | None, _options: Options) -> Any:
    return Clumsy(KeyError("choices"))


def says_a_text(_model: str | None, _options: Options) -> Any:
    return Clumsy("hello")


def cannot_be_built(_model: str | None, _options: Options) -> Any:
    raise RuntimeError("no GPU")


def is_no_model(_model: str | None, _options: Options) -> Any:
    return object()


@pytest.mark.parametrize(
    ("name", "said"), [("raises", "KeyError: 'choices'"), ("says_a_text", "str instead of a Reply")]
)
def test_a_bug_in_a_persons_own_model_is_a_failed_call_that_names_its_class(name: str, said: str) -> None:
    with pytest.raises(SleepError, match=said) as caught:
        asked(build(f"tests.backend.test_http_backends:{name}", trusted=True), ask())
    assert caught.value.code == "model"


@pytest.mark.parametrize(
    ("name", "said"), [("cannot_be_built", "RuntimeError: no GPU"), ("is_no_model", "AttributeError")]
)
def test_a_persons_own_model_that_cannot_be_built_is_a_usage_error(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        build(f"tests.backend.test_http_backends:{name}", trusted=True)
