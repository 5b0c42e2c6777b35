"""Serves over HTTP, on this machine only.

Any web page that a person opens can send requests to a port on their machine. So a request needs a token, and must
carry a Host and, where a browser sent it, an Origin that name this very port.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
import sys
from typing import TYPE_CHECKING

from skillopt_sleep.domain.errors import UsageError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from skillopt_sleep.wiring import Environment

TOKEN_VARIABLE = "SKILLOPT_SLEEP_MCP_TOKEN"
_SHORTEST = 16
PATH = "/mcp"


def serve(environment: Environment, address: str) -> None:
    """Serve at `HOST:PORT` until interrupted. Port 0: one that is free. Raises `UsageError` for an unusable address."""
    import uvicorn

    host, port = parse(address)
    token = chosen_token(environment)
    listener = _listen(host, port)
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    sys.stderr.write(f"Serving MCP at http://{shown}:{port}{PATH}; each request needs the header\n")
    if token is None:
        token = secrets.token_urlsafe(24)
        sys.stderr.write(f"Authorization: Bearer {token}\n")
    else:
        sys.stderr.write(f"Authorization: Bearer, with what {TOKEN_VARIABLE} holds.\n")
    sys.stderr.flush()
    config = uvicorn.Config(application(environment, host, port, token), log_level="warning", lifespan="on")
    uvicorn.Server(config).run(sockets=[listener])


def application(environment: Environment, host: str, port: int, token: str) -> ASGIApp:
    """The server as an application: whoever has no token reaches nothing behind it."""
    from mcp.server.transport_security import TransportSecuritySettings

    from skillopt_sleep.mcp_server.server import build

    names = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]
    security = TransportSecuritySettings(allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names])
    served = build(environment).streamable_http_app(streamable_http_path=PATH, host=host, transport_security=security)
    return Guarded(served, token)


class Guarded:
    """Answers 401 to a request without the token, before anything else looks at it."""

    def __init__(self, served: ASGIApp, token: str) -> None:
        self._served = served
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._knows(scope):
            await self._served(scope, receive, send)
        elif scope["type"] == "http":
            head = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
            await send({"type": "http.response.start", "status": 401, "headers": head})
            await send({"type": "http.response.body", "body": b"This server needs its token."})
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _knows(self, scope: Scope) -> bool:
        given = [value for name, value in scope.get("headers", ()) if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], self._expected)


def parse(address: str) -> tuple[str, int]:
    """Host and port of a loopback address. Raises `UsageError` for anything else."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    example = 'For example "127.0.0.1:8765".'
    if not port.isascii() or not port.isdecimal() or int(port) > 65535 or not host:
        raise UsageError(f"{address!r} is no HOST:PORT.", hint=example)
    if host == "localhost":
        return "127.0.0.1", int(port)
    try:
        inside = ipaddress.ip_address(host).is_loopback
    except ValueError:
        inside = False
    if not inside:
        raise UsageError(f"{host} is not this machine alone, and the server is for nobody else.", hint=example)
    return host, int(port)


def chosen_token(environment: Environment) -> str | None:
    """The token of the environment; None where one is to be made. Raises `UsageError` for one that can be guessed."""
    token = environment.environ.get(TOKEN_VARIABLE)
    if token is None:
        return None
    if len(token) < _SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"{TOKEN_VARIABLE} must be at least {_SHORTEST} printable characters without spaces.",
            hint="Unset it, and a token is made and shown.",
        )
    return token


def _listen(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)  # whoever reads the address below may connect at once
    except OSError as error:
        listener.close()
        raise UsageError(
            f"{host}:{port} cannot be served: {error.strerror or error}.", hint="Choose another port."
        ) from error
    return listener
