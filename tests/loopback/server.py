"""One HTTP server for the Messages API (`/v1/messages`) and for chat completions (`/v1/chat/completions`).

    with Loopback(brain) as service:
        ...  # service.url, service.asked

Plain and streamed answers, token counts, errors in the shape of each protocol. It listens on 127.0.0.1 only.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.loopback import chat, messages
from tests.loopback.wire import Answer, Asked, Brain, Fault, Say, echo

_DRIP_PAUSE = 0.2
"""Seconds between two bytes of a dripping answer."""


class Loopback:
    """A service that answers with what `brain` says and remembers what it was asked."""

    def __init__(self, brain: Brain = echo) -> None:
        self.brain = brain
        self.asked: list[Asked] = []
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        service = self

        class Handler(_Handler):
            loopback = service

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Address without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, asked: Asked) -> Answer:
        with self._lock:
            self.asked.append(asked)
            return self.brain(asked)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    loopback: Loopback
    protocol_version = "HTTP/1.1"
    wbufsize = 0
    disable_nagle_algorithm = True  # else each answer waits 40 ms for the acknowledgement of its own head

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_HEAD(self) -> None:
        self._send(200, b"")

    def do_GET(self) -> None:
        if self.path.startswith("/v1/models"):
            self._json(200, {"data": [{"id": "loopback", "type": "model", "object": "model"}], "has_more": False})
        else:
            self._json(404, {"error": {"type": "not_found_error", "message": self.path}})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        protocol = messages if path.endswith("/messages") else chat if path.endswith("/chat/completions") else None
        if protocol is None:
            self._json(404, {"type": "error", "error": {"type": "not_found_error", "message": path}})
            return
        body = json.loads(raw)
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = protocol.read(path, headers, body, raw)
        answer = self.loopback.answer(asked)
        if answer.delay and self.loopback.stopping.wait(answer.delay):
            return
        streamed = body.get("stream") is True
        if isinstance(answer, Say):
            events = protocol.stream(asked, answer) if streamed else None
            self._stream(events) if events else self._json(200, protocol.whole(asked, answer))
        else:
            self._fail(protocol, asked, answer, streamed=streamed)

    def _fail(  # noqa: PLR0912 - one case for each kind of fault reads best as one table
        self, protocol: Any, asked: Asked, fault: Fault, *, streamed: bool
    ) -> None:
        match fault.kind:
            case "status":
                headers = {"retry-after": fault.retry_after} if fault.retry_after else {}
                self._json(fault.status, protocol.error(fault), headers)
            case "reset":
                linger = struct.pack("ii", 1, 0)  # close at once, with a reset
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.close_connection = True
                self.connection.close()
            case "drop" if streamed:
                self._stream(_first(protocol.stream(asked, Say(text="Half an ans")), 3), finish=False)
            case "drop":
                body = json.dumps(protocol.whole(asked, Say(text="Half an answer"))).encode()
                self._head(200, "application/json", len(body))
                self.wfile.write(body[: len(body) // 2])
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
            case "stream_error" if streamed:
                self._stream((*_first(protocol.stream(asked, Say(text="Half")), 2), protocol.error_event(fault)))
            case "stream_error":
                self._json(200, protocol.error(fault))
            case "truncated_json":
                self._send(200, json.dumps(protocol.whole(asked, Say(text="Half an answer"))).encode()[:-25])
            case "wrong_type":
                self._send(200, b"<!doctype html><title>Sign in</title><p>Please sign in.", "text/html")
            case "empty_body":
                self._send(200, b"")
            case "hang":
                self.loopback.stopping.wait()
                self.close_connection = True
            case "drip":
                body = json.dumps(protocol.whole(asked, Say(text="x" * 400))).encode()
                self._head(200, "application/json", len(body))
                for byte in body:
                    self.wfile.write(bytes([byte]))
                    if self.loopback.stopping.wait(_DRIP_PAUSE):
                        break
                self.close_connection = True

    def _stream(self, events: Iterator[bytes] | tuple[bytes, ...], *, finish: bool = True) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        if finish:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    def _json(self, status: int, body: object, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(body, ensure_ascii=False).encode(), "application/json", headers)

    def _send(
        self, status: int, body: bytes, kind: str = "application/json", headers: dict[str, str] | None = None
    ) -> None:
        self._head(status, kind, len(body), headers)
        self.wfile.write(body)

    def _head(self, status: int, kind: str, length: int, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()


def _first(events: Iterator[bytes], count: int) -> tuple[bytes, ...]:
    return tuple(event for _, event in zip(range(count), events, strict=False))
