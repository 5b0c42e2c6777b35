"""What Claude Code says in `stream-json`, and what that means: a reply, or a typed error.

Success is judged by `is_error` and by whether the model was asked at all; `subtype` says "success" for a refused key as
well. An answer without a request is the client talking (a login text, a command of its own), never a reply.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from skillopt_sleep.domain.errors import ModelAuthError, ModelError, ModelUnavailable
from skillopt_sleep.domain.llm import Reply, StopReason, Usage

MOST_NOISE = 1024 * 1024
"""Bytes that are not its protocol before a client is given up."""

_CUT: dict[str, StopReason] = {
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}
"""Reasons to stop after which the client would ask again by itself, up to three times (measured)."""
_LOG_IN = "Run `claude` once and log in with /login, or set ANTHROPIC_API_KEY."
_LOGIN = re.compile(
    r"not logged in|please run /login|invalid api key|failed to authenticate|authentication[_ ](failed|error)"
    r"|oauth token (has )?(expired|been revoked)|/login",
    re.IGNORECASE,
)
_LIMIT = re.compile(r"\b(hit|reached) your\b.*\blimit\b|usage limit reached|out of .*usage", re.IGNORECASE)
_BILLING = re.compile(r"credit balance|spend limit|billing", re.IGNORECASE)
_OLD = re.compile(r"unknown option|unrecognized option|unknown argument", re.IGNORECASE)


class _Tokens(BaseModel):
    input_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    output_tokens: int = 0

    def usage(self, **more: Any) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + self.cache_read_input_tokens + self.cache_creation_input_tokens,
            cache_read_tokens=self.cache_read_input_tokens,
            cache_write_tokens=self.cache_creation_input_tokens,
            output_tokens=self.output_tokens,
            **more,
        )


class _OfModel(BaseModel):
    output_tokens: int = Field(0, alias="outputTokens")
    basis: str = Field("list", alias="costBasis")


class _Result(BaseModel):
    """The last word of a turn. Fields that nobody reads are let through."""

    is_error: bool = False
    result: str | None = None
    num_turns: int = 1
    total_cost_usd: float | None = None
    usage: _Tokens = _Tokens()
    models: dict[str, _OfModel] = Field({}, alias="modelUsage")
    api_error_status: int | None = None
    errors: list[str] = []

    @property
    def said(self) -> str:
        return self.result or "; ".join(self.errors)


@dataclass(slots=True)
class Turn:
    """One exchange as it is heard, line by line, until it is `over`."""

    text: str = ""
    model: str = ""
    requests: int = 0
    """Requests to the service that the client has begun."""
    tokens: _Tokens = field(default_factory=_Tokens)
    stop: str | None = None
    was_reset: bool = False
    """The client has said that it began a new conversation."""
    limited: bool = False
    resets_at: datetime | None = None
    """When the subscription's limit, which is reached, is lifted."""
    result: _Result | None = None
    noise: str = ""
    """The end of what was no message at all."""
    noise_bytes: int = 0

    @property
    def over(self) -> bool:
        """Nothing more is wanted. A reply that was cut, declined or left empty is one; the client would ask again."""
        return self.result is not None or self.stop in _CUT or (self.stop == "end_turn" and not self.text.strip())

    def hear(self, line: bytes) -> None:
        """One line of the client's output."""
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
        match event:
            case {"type": "stream_event", "event": {"type": str()} as inner} if event.get("parent_tool_use_id") is None:
                self._stream(inner)
            case {"type": "result"}:
                self._finish(event)
            case {"type": "conversation_reset"}:
                self.was_reset = True
            case {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", **info}}:
                self.limited = True
                self.resets_at = _moment(info.get("resetsAt"))
            case {"type": str()}:
                pass
            case _:
                self.noise = (self.noise + line.decode("utf-8", "replace"))[-2000:]
                self.noise_bytes += len(line)

    def _stream(self, event: dict[str, Any]) -> None:
        match event:
            case {"type": "message_start", "message": {"usage": dict() as usage, "model": str() as model}}:
                self.requests += 1
                self.text, self.stop, self.model = "", None, model
                self.tokens = _lenient(usage)
            case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": str() as text}}:
                self.text += text
            case {"type": "message_delta", "delta": {"stop_reason": str() as stop}, "usage": dict() as usage}:
                self.stop = stop
                self.tokens = self.tokens.model_copy(update=_lenient(usage).model_dump(exclude_unset=True))

    def _finish(self, event: dict[str, Any]) -> None:
        try:
            self.result = _Result.model_validate(event)
        except ValidationError as error:
            raise ModelError("`claude` ended with a result that cannot be read; is it a newer version?") from error

    def reply(self) -> Reply:
        """The reply of a turn that is over, or the error that it is."""
        if self.result is None:
            return self._cut()
        result = self.result
        if result.is_error:
            raise self._problem(result)
        if not result.models and not result.usage.usage().total:
            raise _without_the_model(result.said)
        model = max(result.models, key=lambda name: result.models[name].output_tokens, default=self.model)
        priced = all(part.basis != "unknown" for part in result.models.values())
        usage = result.usage.usage(
            usd=result.total_cost_usd if priced else None,
            extra_requests=max(result.num_turns, self.requests, 1) - 1,
        )
        return Reply(text=result.said, model=f"claude:{model}", usage=usage)

    def _cut(self) -> Reply:
        """A reply that ended early. The client may have begun to ask again before it was stopped."""
        return Reply(
            text=self.text,
            model=f"claude:{self.model}",
            stop=_CUT.get(self.stop or "", "end"),
            usage=self.tokens.usage(extra_requests=1),
        )

    def _problem(self, result: _Result) -> ModelError:
        said, status = _short(result.said), result.api_error_status
        if self.limited or _LIMIT.search(said):
            when = f"{self.resets_at:%Y-%m-%d %H:%M} UTC" if self.resets_at else "the time it names"
            return ModelAuthError(f"Claude's usage limit is reached: {said}.", hint=f"Run again after {when}.")
        if status in (401, 403) or (status is None and _LOGIN.search(said)):
            return ModelAuthError(f"Claude Code is not let in: {said}.", hint=_LOG_IN)
        if status in (402, 404) or _BILLING.search(said):
            return ModelAuthError(f"Claude Code cannot use this model: {said}.")
        if status == 429:
            return ModelUnavailable(f"Claude's service limits the rate: {said}.", retry="rate_limit")
        if status is not None and status < 500 and status not in (408, 409):
            return ModelError(f"Claude's service refused the request ({status}): {said}.", billed=False)
        begun = status is None or self.requests > 0  # an error of the connection, or in the middle of an answer
        return ModelUnavailable(
            f"Claude's service failed ({status or 'connection'}): {said}.", retry="transient", billed=begun
        )


def broken_off(turn: Turn, exit_code: int | None, complaint: str, *, asked: bool) -> ModelError:
    """The error of a client that left without a last word; `asked` when it had the prompt already."""
    said = _short(complaint or turn.noise)
    if _OLD.search(said):
        return ModelAuthError(f"This `claude` is too old: {said}.", hint="Update it: `claude update`.")
    if not turn.requests and _LOGIN.search(f"{turn.noise}\n{complaint}"):
        return ModelAuthError(f"Claude Code is not let in: {said}.", hint=_LOG_IN)
    code = "" if exit_code is None else f" (exit code {exit_code})"
    return ModelUnavailable(
        f"`claude` ended{code} before it answered{': ' + said if said else ''}.",
        retry="transient",
        billed=asked,
    )


def _without_the_model(said: str) -> ModelError:
    if _LOGIN.search(said):
        return ModelAuthError(f"Claude Code is not let in: {_short(said)}.", hint=_LOG_IN)
    return ModelError(f"`claude` answered without asking the model: {_short(said) or 'nothing'}.", billed=False)


def _moment(seconds: object) -> datetime | None:
    """Seconds since 1970, as far as they are a time."""
    if not isinstance(seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _lenient(usage: dict[str, Any]) -> _Tokens:
    return _Tokens.model_validate({name: value for name, value in usage.items() if isinstance(value, int)})


def _short(text: str, most: int = 300) -> str:
    """One line, without the full stop that the sentence around it brings."""
    line = " ".join(text.split())
    return (line if len(line) <= most else line[: most - 1] + "…").rstrip(".")
