"""`anthropic`: Claude models through the Messages API.

The SDK signs and sends; what comes back is read here, because its own reader takes half an answer for a whole one.
Its retries are off: they sleep as long as a service asks for. `Retrying` owns the policy. Of the process's environment
the SDK reads one thing by itself, ANTHROPIC_CUSTOM_HEADERS, which is how people get through gateways.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import anyio
from anyio.lowlevel import RunVar
from pydantic import BaseModel, ConfigDict, ValidationError

from skillopt_sleep.backend.claude_models import ALIASES
from skillopt_sleep.backend.endpoint import Endpoint, endpoint, first_set
from skillopt_sleep.backend.registry import Options
from skillopt_sleep.backend.structured import require_whole, wire_schema
from skillopt_sleep.backend.troubles import (
    Trouble,
    error_of,
    json_object,
    too_slow,
    trouble,
    unknown_model,
    unreachable,
)
from skillopt_sleep.domain.errors import ModelAuthError, ModelError, ModelMalformed, ModelUnavailable, UnknownName
from skillopt_sleep.domain.llm import AssistantMessage, Prompt, Reply, StopReason, ToolCall, ToolMessage, Usage

if TYPE_CHECKING:
    import anthropic

_ADDRESS = "https://api.anthropic.com"
_LOGIN = 'Set ANTHROPIC_API_KEY to a key of the service, or use "claude" for a Claude Code login.'
_LIST_SECONDS = 10.0
_STOPS: Mapping[str, StopReason] = MappingProxyType(
    {
        "end_turn": "end",
        "stop_sequence": "end",
        "tool_use": "tool_use",
        "max_tokens": "max_tokens",
        "model_context_window_exceeded": "max_tokens",
        "refusal": "refusal",
    }
)


class _Read(BaseModel):
    """The part of an answer that is looked at; services add to the rest as they like."""

    model_config = ConfigDict(extra="ignore")


class _Block(_Read):
    type: str
    text: str = ""
    id: str = ""
    name: str = ""
    input: dict[str, Any] = {}


class _Tokens(_Read):
    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Message(_Read):
    type: Literal["message"]
    content: list[_Block]
    stop_reason: str | None
    usage: _Tokens


class AnthropicModel:
    """One Claude model. There is no sampling parameter: repeats of a prompt differ by themselves.

    The key and the address are fixed when it is built; nothing is imported, connected or called before the first
    prompt. May be used under several event loops, one after the other; `aclose` ends the connections of the running
    one.
    """

    def __init__(self, model: str, at: Endpoint, *, bearer: bool = False, call_seconds: float = 180.0) -> None:
        self._model = model
        self._at = at
        self._bearer = bearer
        self._seconds = call_seconds
        self._client: RunVar[anthropic.AsyncAnthropic | None] = RunVar("anthropic", None)

    @property
    def id(self) -> str:
        return f"anthropic:{self._model}"

    @property
    def service(self) -> str:
        return self._at.name

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        try:
            with anyio.fail_after(self._seconds):
                found = await self._ask(prompt, schema)
        except TimeoutError as error:
            raise too_slow(self.service, self._seconds) from error
        return require_whole(self._reply(found), schema)

    async def aclose(self) -> None:
        client = self._client.get()
        self._client.set(None)
        if client is not None:
            await client.close()

    async def _ask(self, prompt: Prompt, schema: type[BaseModel] | None) -> dict[str, Any]:
        import anthropic

        sent = self._connected()
        try:
            raw = await sent.messages.with_raw_response.create(**request(self._model, prompt, schema))
        except anthropic.APIStatusError as error:
            said = trouble(error.status_code, error.response.headers, error.response.content, key=self._at.key)
            raise await self._error(said) from error
        except anthropic.APIConnectionError as error:
            raise unreachable(error.__cause__ or error, self.service) from error
        response = raw.http_response
        found = json_object(response.content, response.headers, self.service)
        if "error" in found:
            raise await self._error(trouble(200, response.headers, response.content, key=self._at.key))
        return found

    async def _error(self, said: Trouble) -> ModelError:
        known = await self._models() if said.meaning == 404 else ()
        return unknown_model(said, self._model, self.service, known) or error_of(said, self.service, login=_LOGIN)

    async def _models(self) -> tuple[str, ...]:
        """Models of the service, to find the nearest one; empty where it does not say."""
        import anthropic

        try:
            with anyio.fail_after(_LIST_SECONDS):
                raw = await self._connected().models.with_raw_response.list(limit=100)
            found = json_object(raw.http_response.content, raw.http_response.headers, self.service)
        except (anthropic.APIError, ModelUnavailable, TimeoutError):
            return ()
        rows = found.get("data")
        return tuple(str(row["id"]) for row in rows if "id" in row) if isinstance(rows, list) else ()

    def _connected(self) -> anthropic.AsyncAnthropic:
        import anthropic

        client = self._client.get()
        if client is None:
            client = anthropic.AsyncAnthropic(
                api_key=None if self._bearer else self._at.key,
                auth_token=self._at.key if self._bearer else None,
                base_url=self._at.url,
                http_client=(http := self._at.client()),
                timeout=http.timeout,
                max_retries=0,
                open_telemetry=False,  # spans could carry prompts to wherever the machine sends its traces
            )
            self._client.set(client)
        return client

    def _reply(self, found: dict[str, Any]) -> Reply:
        try:
            message = _Message.model_validate(found)
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors()[0]["loc"])
            raise ModelUnavailable(f"{self.service} sent no message ({place}).", retry="transient") from error
        stop = _STOPS.get(message.stop_reason or "")
        if stop is None:
            raise ModelMalformed(f"The reply of {self.id} ended in an unknown way ({message.stop_reason}).")
        calls = tuple(
            ToolCall(id=block.id, name=block.name, arguments=block.input)
            for block in message.content
            if block.type == "tool_use"
        )
        if stop in ("end", "tool_use"):
            stop = "tool_use" if calls else "end"
        return Reply(
            text="".join(block.text for block in message.content if block.type == "text"),
            model=self.id,
            tool_calls=calls,
            stop=stop,
            usage=_usage(message.usage),
        )


def from_name(model: str | None, options: Options) -> AnthropicModel:
    """The factory. Raises `ModelAuthError` without a key, and `UnknownName` for what no Claude model is called."""
    name = resolve(model)
    key, token = first_set(options.environ, "ANTHROPIC_API_KEY"), first_set(options.environ, "ANTHROPIC_AUTH_TOKEN")
    found = key or token
    if found is None:
        raise ModelAuthError("There is no key for the Messages API.", hint=_LOGIN)
    address = first_set(options.environ, "ANTHROPIC_BASE_URL")
    at = endpoint(
        address[1] if address else _ADDRESS,
        found[1],
        setting="ANTHROPIC_BASE_URL",
        key_setting=found[0],
    )
    return AnthropicModel(name, at, bearer=key is None, call_seconds=options.call_seconds)


def resolve(name: str | None) -> str:
    """The id behind a name: an alias, or any id of the form "claude-...", which the service itself knows best."""
    wanted = (name or "").strip().lower()
    if wanted.startswith("claude-"):
        return wanted
    if wanted not in ALIASES:
        raise UnknownName(
            "Claude model",
            name or "",
            (*ALIASES, *ALIASES.values()),
            hint=f'Known: {", ".join(ALIASES)}, or a whole id ("anthropic:{ALIASES["haiku"]}").',
        )
    return ALIASES[wanted]


def request(model: str, prompt: Prompt, schema: type[BaseModel] | None) -> dict[str, Any]:
    """The body of a call. The system prompt, which holds the skill, is the stable prefix that the service may cache."""
    body: dict[str, Any] = {"model": model, "max_tokens": prompt.max_tokens, "messages": _turns(prompt)}
    if prompt.system.strip():
        body["system"] = [{"type": "text", "text": prompt.system, "cache_control": {"type": "ephemeral"}}]
    if prompt.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in prompt.tools
        ]
    if schema is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": wire_schema(schema)}}
    return body


def _turns(prompt: Prompt) -> list[dict[str, Any]]:
    """Turns in the protocol's form: results of tools stand in one user turn, all of them together."""
    turns: list[dict[str, Any]] = []
    for message in prompt.messages:
        if isinstance(message, ToolMessage):
            result = {"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}
            if turns and turns[-1]["role"] == "user" and isinstance(turns[-1]["content"], list):
                turns[-1]["content"].append(result)
            else:
                turns.append({"role": "user", "content": [result]})
        elif isinstance(message, AssistantMessage):
            said = [{"type": "text", "text": message.text}] if message.text.strip() else []
            calls = [
                {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
                for call in message.tool_calls
            ]
            turns.append({"role": "assistant", "content": [*said, *calls]})
        else:
            turns.append({"role": "user", "content": message.text})
    return turns


def _usage(tokens: _Tokens) -> Usage:
    """The service counts what its cache read and wrote apart from the rest of the input; we count all input as one."""
    read, written = tokens.cache_read_input_tokens or 0, tokens.cache_creation_input_tokens or 0
    return Usage(
        input_tokens=tokens.input_tokens + read + written,
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=tokens.output_tokens,
    )
