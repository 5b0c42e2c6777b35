"""What Claude Code's lines mean. The lines are those of 2.1.332, shortened."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skillopt_sleep.backend.claude_stream import Turn
from skillopt_sleep.domain.errors import ModelAuthError, ModelError, ModelUnavailable


def heard(*events: dict[str, Any]) -> Turn:
    turn = Turn()
    for event in events:
        turn.hear(json.dumps(event).encode())
    return turn


def result(text: str, **more: Any) -> dict[str, Any]:
    models = {"claude-haiku-5-5": {"outputTokens": 7, "costBasis": "list"}}
    usage = {"input_tokens": 10, "output_tokens": 7, "server_tool_use": {"web_search_requests": 0}}
    return {
        **{"type": "result", "subtype": "success", "is_error": False, "result": text, "num_turns": 1},
        **{"total_cost_usd": 0.25, "usage": usage, "modelUsage": models, "api_error_status": None, **more},
    }


def failed(text: str, **more: Any) -> dict[str, Any]:
    return result(text, is_error=True, total_cost_usd=0, usage={}, modelUsage={}, **more)


def streamed(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "stream_event", "event": {"type": kind, **more}, "parent_tool_use_id": None}


def test_a_subscription_at_its_limit_stops_the_run_and_says_until_when() -> None:
    info = {"status": "rejected", "resetsAt": 1796108612, "rateLimitType": "five_hour", "isUsingOverage": False}
    turn = heard(
        {"type": "rate_limit_event", "rate_limit_info": info},
        failed("You've hit your 5-hour limit · resets 7:03am (UTC)", api_error_status=429),
    )
    with pytest.raises(ModelAuthError, match="5-hour limit") as caught:
        turn.reply()
    assert caught.value.hint == "Run again after 2026-12-01 07:03 UTC."


@pytest.mark.parametrize(
    "text", ["You've hit your weekly limit · resets 7:03am (UTC)", "Claude AI usage limit reached"]
)
def test_older_words_for_a_limit_stop_the_run_too(text: str) -> None:
    with pytest.raises(ModelAuthError, match="limit"):
        heard(failed(text, api_error_status=429)).reply()


def test_a_limit_that_is_only_near_says_nothing() -> None:
    near = {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning", "resetsAt": 1796108612}}
    assert heard(near, result("Fine")).reply().text == "Fine"


def test_a_rate_limit_of_a_key_is_waited_for() -> None:
    with pytest.raises(ModelUnavailable) as caught:
        heard(failed("API Error: Request rejected (429) · per-minute rate limit", api_error_status=429)).reply()
    assert caught.value.retry == "rate_limit"


def test_a_reply_that_only_talks_about_logging_in_is_a_reply() -> None:
    text = "Not logged in? Please run /login. Your usage limit reached its end, and the credit balance is too low."
    reply = heard(result(text)).reply()
    assert reply.text == text
    assert reply.usage.usd == 0.25


def test_a_success_that_is_none_is_told_by_is_error_and_not_by_its_subtype() -> None:
    with pytest.raises(ModelError, match="400"):
        heard(failed("API Error: 400 no", api_error_status=400)).reply()


def test_an_answer_for_which_no_model_was_asked_is_no_reply() -> None:
    with pytest.raises(ModelError, match="without asking"):
        heard(result("Total cost: $0.00", usage={}, modelUsage={})).reply()


def test_further_requests_of_the_client_are_counted() -> None:
    assert heard(result("Long", num_turns=3)).reply().usage.extra_requests == 2


def test_a_reply_that_was_cut_is_over_before_the_client_asks_again() -> None:
    turn = heard(
        streamed("message_start", message={"model": "claude-haiku-5-5", "usage": {"input_tokens": 9}}),
        streamed("content_block_delta", delta={"type": "text_delta", "text": "Half a "}),
    )
    assert not turn.over
    turn.hear(
        json.dumps(streamed("message_delta", delta={"stop_reason": "max_tokens"}, usage={"output_tokens": 30})).encode()
    )
    assert turn.over
    reply = turn.reply()
    assert (reply.text, reply.stop, reply.model) == ("Half a ", "max_tokens", "claude:claude-haiku-5-5")
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.usd) == (9, 30, None)


def test_a_result_of_another_shape_is_an_error_and_no_crash() -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        heard(result("Hello", usage="none"))


@pytest.mark.parametrize("line", [b"\xff\xfe", b"[1]", b"null", b"{}", b'{"type": 3}', b"[" * 100_000, b"plain words"])
def test_what_is_no_message_is_noise(line: bytes) -> None:
    turn = Turn()
    turn.hear(line)
    assert turn.noise_bytes == len(line)
    assert not turn.over
