"""Whatever a service does wrong ends as a retry, as a missing observation, or as a stop; never as a reply."""

from __future__ import annotations

from typing import get_args

import pytest

from skillopt_sleep.backend.cached import MemoryCache
from skillopt_sleep.domain.errors import ModelAuthError, ModelError, ModelMalformed, ModelUnavailable
from skillopt_sleep.domain.llm import Reply
from skillopt_sleep.domain.skills import EditList
from tests.backend.fakes import ask
from tests.backend.services import KEY, PROTOCOLS, Protocol, asked_patiently, model_at
from tests.loopback.server import Loopback
from tests.loopback.wire import Answer, Fault, FaultKind, Say, Script

SOON = 0.3
"""Deadline of a call where the service is made to be slow."""


class Kept(MemoryCache):
    """Remembers that it was written to."""

    def __init__(self) -> None:
        super().__init__()
        self.replies: list[Reply] = []

    def put(self, key: str, reply: Reply) -> None:
        self.replies.append(reply)
        super().put(key, reply)


PASSING: dict[str, Answer] = {
    **{f"HTTP {status}": Fault("status", status=status) for status in (408, 409, 425, 500, 502, 503, 504, 520)},
    "429": Fault("status", status=429, error="rate_limit_error", retry_after="3"),
    "429 without end": Fault("status", status=429, error="rate_limit_error", retry_after="86400"),
    "429 until a date": Fault(
        "status", status=429, error="rate_limit_error", retry_after="Wed, 21 Oct 2015 07:28:00 GMT"
    ),
    "429 in words": Fault("status", status=429, error="rate_limit_error", retry_after="soon"),
    "529": Fault("status", status=529, error="overloaded_error"),
    "reset": Fault("reset"),
    "dropped in the middle": Fault("drop"),
    "overload inside a 200": Fault("stream_error", error="overloaded_error"),
    "unknown error inside a 200": Fault("stream_error", error="gremlins"),
    "truncated JSON": Fault("truncated_json"),
    "a sign-in page": Fault("wrong_type"),
    "empty body": Fault("empty_body"),
    "hang": Fault("hang"),
    "slow drip": Fault("drip"),
    "empty text": Say(text=""),
    "blank text": Say(text=" \n"),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", PASSING)
def test_what_passes_is_tried_again_and_only_the_answer_is_kept(name: str, protocol: Protocol) -> None:
    cache = Kept()
    with Loopback(Script([PASSING[name]])) as service:
        reply = asked_patiently(
            model_at(service.url, protocol, call_seconds=SOON * 5 if name not in ("hang", "slow drip") else SOON),
            ask(),
            cache,
        )
        assert len(service.asked) == 2
    assert reply.text == "ECHO: Hello?"
    assert cache.replies == [reply]


def test_every_kind_of_fault_is_among_them() -> None:
    assert {fault.kind for fault in PASSING.values() if isinstance(fault, Fault)} == set(get_args(FaultKind))


MISSING: dict[str, tuple[Answer, Answer]] = {
    "cut off": (Say(text="Half an", stop="max_tokens"), Say(text="Half an", stop="length")),
    "withheld": (Say(text="", stop="refusal"), Say(text="", stop="content_filter")),
    "withheld half-way": (Say(text="Well", stop="refusal"), Say(text="Well", stop="content_filter")),
    "ended in an unknown way": (Say(text="Well", stop="shrug"), Say(text="Well", stop="shrug")),
    "bad request": (Fault("status", status=400, error="invalid_request_error"),) * 2,
    "too long": (Fault("status", status=400, error="invalid_request_error", message="prompt is too long: 9 > 8"),) * 2,
    "too large": (Fault("status", status=413, error="request_too_large"),) * 2,
    "not to be processed": (Fault("status", status=422, error="invalid_request_error"),) * 2,
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", MISSING)
def test_what_another_try_cannot_mend_is_a_missing_observation(name: str, protocol: Protocol) -> None:
    cache = Kept()
    answer = MISSING[name][PROTOCOLS.index(protocol)]
    with Loopback(lambda _: answer) as service:
        with pytest.raises(ModelError) as caught:
            asked_patiently(model_at(service.url, protocol), ask(), cache)
        assert len(service.asked) == 1
    assert not isinstance(caught.value, ModelAuthError | ModelUnavailable)
    assert cache.replies == []


STOPPING: dict[str, Fault] = {
    "bad key": Fault("status", status=401, error="authentication_error", message=f"invalid key {KEY}"),
    "forbidden": Fault("status", status=403, error="permission_error"),
    "no such model": Fault("status", status=404, error="not_found_error", message="model: claude-haiku-5-5 little"),
    "no such address": Fault("status", status=404, error="not_found_error", message="no route"),
    "redirected": Fault("status", status=307),
    "payment": Fault("status", status=402, error="billing_error"),
    "no credit": Fault(
        "status", status=400, error="invalid_request_error", message="Your credit balance is too low to access the API."
    ),
    "no quota": Fault("status", status=429, error="insufficient_quota", message="You exceeded your current quota."),
    "spend limit": Fault("status", status=429, error="enforced_spend_limit_reached", retry_after="5"),
    "bad key inside a 200": Fault("stream_error", error="authentication_error"),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", STOPPING)
def test_what_every_call_would_meet_stops_at_the_first(name: str, protocol: Protocol) -> None:
    cache = Kept()
    with Loopback(lambda _: STOPPING[name]) as service:
        with pytest.raises(ModelAuthError) as caught:
            asked_patiently(model_at(service.url, protocol), ask(), cache)
        assert len(service.asked) == 1
        assert service.url.removeprefix("http://") in caught.value.message
    assert caught.value.hint
    assert KEY not in str(caught.value)
    assert cache.replies == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_fault_that_does_not_pass_is_a_missing_observation(protocol: Protocol) -> None:
    cache = Kept()
    with Loopback(lambda _: Fault("status", status=500)) as service:
        with pytest.raises(ModelUnavailable, match="HTTP 500"):
            asked_patiently(model_at(service.url, protocol), ask(), cache)
        assert len(service.asked) == 4
    assert cache.replies == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_port_where_nobody_listens_is_an_outage_that_cost_nothing(protocol: Protocol) -> None:
    with Loopback() as service:
        gone = service.url
    with pytest.raises(ModelUnavailable, match="cannot be reached") as caught:
        asked_patiently(model_at(gone, protocol), ask(), MemoryCache())
    assert not caught.value.billed


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_rate_limit_says_how_long_and_costs_nothing(protocol: Protocol) -> None:
    with Loopback(lambda _: PASSING["429"]) as service, pytest.raises(ModelUnavailable) as caught:
        asked_patiently(model_at(service.url, protocol), ask(), MemoryCache())
    assert (caught.value.retry, caught.value.retry_after, caught.value.billed) == ("rate_limit", 3.0, False)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("text", ["Sure! {}", '{"edits": [', '{"edits": [{"kind": "paint"}]}', "[]"])
def test_a_structured_reply_of_another_shape_is_malformed(text: str, protocol: Protocol) -> None:
    cache = Kept()
    with Loopback(lambda _: Say(text=text)) as service, pytest.raises(ModelMalformed, match="EditList"):
        asked_patiently(model_at(service.url, protocol), ask(role="optimizer"), cache, EditList)
    assert cache.replies == []
