"""`openai`: any service that speaks chat completions: llama.cpp, Ollama, vLLM, and those that are paid for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import anyio
from anyio.lowlevel import RunVar
from pydantic import BaseModel, ConfigDict, Field, ValidationError

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
from skillopt_sleep.domain.errors import ModelError, ModelMalformed, ModelUnavailable, UsageError
from skillopt_sleep.domain.llm import (
    AssistantMessage,
    Message,
    Prompt,
    Reply,
    StopReason,
    ToolCall,
    ToolMessage,
    Usage,
    estimate_tokens,
    prompt_tokens,
)

if TYPE_CHECKING:
    import httpx2

_OLLAMA = "http://127.0.0.1:11434/v1"
_LOGIN = "Set OPENAI_API_KEY to a key of this service."
_LIST_SECONDS = 10.0
_ABOUT_THE_FORM = re.compile(r"response_format|json[_ ]?schema|structured|grammar|\bschema\b", re.IGNORECASE)
_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n\s*```\s*", re.DOTALL)
_STOPS: Mapping[str, StopReason] = MappingProxyType(
    {
        "stop": "end",
        "tool_calls": "tool_use",
        "function_call": "tool_use",
        "length": "max_tokens",
        "content_filter": "refusal",
    }
)


class _Read(BaseModel):
    """The part of an answer that is looked at; services add to the rest as they like."""

    model_config = ConfigDict(extra="ignore")


class _Function(_Read):
    name: str
    arguments: str | dict[str, Any] = ""


class _Call(_Read):
    id: str | None = None
    function: _Function


class _Said(_Read):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(_Read):
    message: _Said
    finish_reason: str | None


class _Details(_Read):
    cached_tokens: int | None = None


class _Tokens(_Read):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _Details | None = None


class _Completion(_Read):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Tokens | None = None


class OpenAICompatibleModel:
    """One model of a service. The number of the sample is the seed, where the service knows seeds.

    A service that refuses `response_format` is asked in words from then on; its reply is validated all the same. May
    be used under several event loops, one after the other; `aclose` ends the connections of the running one.
    """

    def __init__(self, model: str, at: Endpoint, *, call_seconds: float = 180.0) -> None:
        self._model = model
        self._at = at
        self._seconds = call_seconds
        self._in_words = False
        self._client: RunVar[httpx2.AsyncClient | None] = RunVar("openai", None)

    @property
    def id(self) -> str:
        return f"openai:{self._model}"

    @property
    def service(self) -> str:
        return self._at.name

    @property
    def is_local(self) -> bool:
        return self._at.is_local

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        try:
            with anyio.fail_after(self._seconds):
                found, refused = await self._ask(prompt, schema)
        except TimeoutError as error:
            raise too_slow(self.service, self._seconds) from error
        reply = self._reply(found, prompt, schema)
        usage = reply.usage.model_copy(update={"extra_requests": int(refused)})
        return require_whole(reply.model_copy(update={"usage": usage}), schema)

    async def aclose(self) -> None:
        client = self._client.get()
        self._client.set(None)
        if client is not None:
            await client.aclose()

    async def _ask(self, prompt: Prompt, schema: type[BaseModel] | None) -> tuple[dict[str, Any], bool]:
        """An answer, and whether the service refused the form it was first asked for."""
        in_words = self._in_words
        said = await self._post(self._request(prompt, schema, in_words=in_words))
        refused = (
            isinstance(said, Trouble)
            and schema is not None
            and not in_words
            and said.meaning in (400, 422)
            and _ABOUT_THE_FORM.search(said.message) is not None
        )
        if refused:
            self._in_words = True
            said = await self._post(self._request(prompt, schema, in_words=True))
        if isinstance(said, Trouble):
            raise await self._error(said)
        return said, refused

    async def _post(self, body: dict[str, Any]) -> dict[str, Any] | Trouble:
        import httpx2

        try:
            response = await self._connected().post(f"{self._at.url}/chat/completions", json=body)
        except httpx2.HTTPError as error:
            raise unreachable(error, self.service) from error
        if not response.is_success:
            return trouble(response.status_code, response.headers, response.content, key=self._at.key)
        found = json_object(response.content, response.headers, self.service)
        if found.get("error"):
            return trouble(200, response.headers, response.content, key=self._at.key)
        return found

    async def _error(self, said: Trouble) -> ModelError:
        known = await self._models() if said.meaning == 404 else ()
        return unknown_model(said, self._model, self.service, known) or error_of(said, self.service, login=_LOGIN)

    async def _models(self) -> tuple[str, ...]:
        """Models of the service, to find the nearest one; empty where it does not say."""
        import httpx2

        try:
            with anyio.fail_after(_LIST_SECONDS):
                response = await self._connected().get(f"{self._at.url}/models")
            found = json_object(response.content, response.headers, self.service)
        except (httpx2.HTTPError, ModelUnavailable, TimeoutError):
            return ()
        rows = found.get("data")
        return tuple(str(row["id"]) for row in rows if "id" in row) if isinstance(rows, list) else ()

    def _connected(self) -> httpx2.AsyncClient:
        client = self._client.get()
        if client is None:
            client = self._at.client()
            if self._at.key is not None:
                client.headers["authorization"] = f"Bearer {self._at.key}"
            self._client.set(client)
        return client

    def _request(self, prompt: Prompt, schema: type[BaseModel] | None, *, in_words: bool) -> dict[str, Any]:
        system = prompt.system
        if schema is not None and in_words:
            system = f"{system}\n\n{_words_for(schema)}".strip()
        turns = [_turn(message) for message in prompt.messages]
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": "system", "content": system}, *turns] if system.strip() else turns,
            "seed": prompt.sample,
            self._cap_name: prompt.max_tokens,
        }
        if self._at.is_local:
            # A partly cached prefix changes llama.cpp's batches, and with them its replies, at temperature 0 even.
            body["cache_prompt"] = False
        if prompt.tools:
            body["tools"] = [{"type": "function", "function": tool.model_dump()} for tool in prompt.tools]
        if schema is not None and not in_words:
            form = {"name": schema.__name__, "schema": wire_schema(schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body

    @property
    def _cap_name(self) -> str:
        """The vendor's own newer models refuse the name that everybody else knows."""
        return "max_completion_tokens" if self._at.host == "api.openai.com" else "max_tokens"

    def _reply(self, found: dict[str, Any], prompt: Prompt, schema: type[BaseModel] | None) -> Reply:
        try:
            completion = _Completion.model_validate(found)
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors()[0]["loc"])
            raise ModelUnavailable(f"{self.service} sent no completion ({place}).", retry="transient") from error
        choice = completion.choices[0]
        stop = _STOPS.get(choice.finish_reason or "")
        if stop is None:
            raise ModelMalformed(f"The reply of {self.id} ended in an unknown way ({choice.finish_reason}).")
        calls = tuple(self._call(call, number) for number, call in enumerate(choice.message.tool_calls or ()))
        if stop in ("end", "tool_use"):
            stop = "tool_use" if calls else "end"
        text = choice.message.content or ""
        if schema is not None and (fenced := _FENCED.fullmatch(text)):
            text = fenced[1]
        return Reply(
            text=text,
            model=self.id,
            tool_calls=calls,
            stop="refusal" if choice.message.refusal else stop,
            usage=_usage(completion.usage, prompt, text),
        )

    def _call(self, call: _Call, number: int) -> ToolCall:
        given = call.function.arguments
        try:
            arguments = json.loads(given or "{}") if isinstance(given, str) else given
        except (ValueError, RecursionError) as error:
            raise ModelMalformed(
                f"{self.id} called {call.function.name!r} with arguments that are not JSON.", retry="transient"
            ) from error
        if not isinstance(arguments, dict):
            raise ModelMalformed(f"{self.id} called {call.function.name!r} without named arguments.", retry="transient")
        return ToolCall(id=call.id or f"call_{number}", name=call.function.name, arguments=arguments)


def from_name(model: str | None, options: Options) -> OpenAICompatibleModel:
    """The factory. Raises `UsageError` without a model or with an address that cannot be used."""
    if not model:
        raise UsageError("The openai backend needs the name of a model.", hint='For example "openai:llama3.2".')
    address = first_set(options.environ, "OPENAI_BASE_URL")
    setting = "openai-url" if options.openai_url else "OPENAI_BASE_URL"
    key = first_set(options.environ, "OPENAI_API_KEY")
    at = endpoint(
        options.openai_url or (address[1] if address else _OLLAMA),
        key[1] if key else None,
        setting=setting,
        key_setting="OPENAI_API_KEY",
    )
    return OpenAICompatibleModel(model, at, call_seconds=options.call_seconds)


def _words_for(schema: type[BaseModel]) -> str:
    form = json.dumps(wire_schema(schema), ensure_ascii=False)
    return f"Answer with one JSON object and nothing else. It must fit this JSON Schema:\n{form}"


def _turn(message: Message) -> dict[str, Any]:
    if isinstance(message, ToolMessage):
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if not isinstance(message, AssistantMessage):
        return {"role": "user", "content": message.text}
    turn: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if message.tool_calls:
        turn["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
            }
            for call in message.tool_calls
        ]
    return turn


def _usage(tokens: _Tokens | None, prompt: Prompt, text: str) -> Usage:
    if tokens is None or not tokens.prompt_tokens + tokens.completion_tokens:
        return Usage(input_tokens=prompt_tokens(prompt), output_tokens=estimate_tokens(text), estimated=True)
    details = tokens.prompt_tokens_details
    return Usage(
        input_tokens=tokens.prompt_tokens,
        cache_read_tokens=(details.cached_tokens if details else None) or 0,
        output_tokens=tokens.completion_tokens,
    )
