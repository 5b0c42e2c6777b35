"""The loopback services themselves, through a plain HTTP client."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

from tests.loopback.server import Loopback
from tests.loopback.wire import Fault, Say, Script


def _post(url: str, path: str, body: dict[str, object]) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
    connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
    response = connection.getresponse()
    data = response.read()
    connection.close()
    return response.status, data


_QUESTION: list[dict[str, str]] = [{"role": "user", "content": "hello"}]


def test_a_message_is_answered_whole_and_remembered() -> None:
    with Loopback() as service:
        status, data = _post(service.url, "/v1/messages", {"model": "m", "system": "S", "messages": _QUESTION})
    assert status == 200
    assert json.loads(data)["content"] == [{"type": "text", "text": "ECHO: hello"}]
    assert (service.asked[0].system, service.asked[0].last) == ("S", "hello")


def test_a_streamed_message_ends_with_message_stop() -> None:
    with Loopback(Script([Say(text="hi")])) as service:
        _, data = _post(service.url, "/v1/messages", {"model": "m", "messages": _QUESTION, "stream": True})
    assert data.decode().strip().splitlines()[-2] == "event: message_stop"
    assert '"text": "hi"' in data.decode()


def test_a_chat_completion_is_answered_in_its_own_shape() -> None:
    with Loopback(Script([Say(text="hi", input_tokens=7)])) as service:
        _, data = _post(service.url, "/v1/chat/completions", {"model": "m", "messages": _QUESTION})
    reply = json.loads(data)
    assert reply["choices"][0]["message"]["content"] == "hi"
    assert reply["usage"]["prompt_tokens"] == 7


def test_a_fault_is_answered_once_and_then_the_service_recovers() -> None:
    with Loopback(Script([Fault("status", status=529, error="overloaded_error")])) as service:
        first = _post(service.url, "/v1/messages", {"model": "m", "messages": _QUESTION})
        second = _post(service.url, "/v1/messages", {"model": "m", "messages": _QUESTION})
    assert (first[0], second[0]) == (529, 200)
    assert json.loads(first[1])["error"]["type"] == "overloaded_error"
