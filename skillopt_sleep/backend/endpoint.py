"""Where a model service is, and the key that may travel there."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from skillopt_sleep.domain.errors import ModelAuthError, UsageError

if TYPE_CHECKING:
    import httpx2

_CONNECT_SECONDS = 10.0
_PRINTABLE = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a service, checked, and its key (not part of the repr: tracebacks are shown around)."""

    url: str
    key: str | None = field(default=None, repr=False)

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def name(self) -> str:
        """The address as a person reads it: host, port and path, without the scheme."""
        parts = urlsplit(self.url)
        return f"{parts.netloc}{parts.path}".rstrip("/")

    @property
    def is_loopback(self) -> bool:
        return _is_loopback(self.host)

    @property
    def is_local(self) -> bool:
        """On this machine or in the same network: a server of one's own, not somebody's product."""
        address = _address(self.host)
        if address is None:
            return "." not in self.host or self.host.endswith((".local", ".localhost", ".internal", ".lan"))
        return address.is_private

    def client(self) -> httpx2.AsyncClient:
        """A client without deadlines of its own (whoever calls sets one for the whole call) and without redirects.

        A redirect would carry the key and the prompt to an address that nobody chose. Loopback is reached directly,
        whatever proxies the environment names: through one, the key would leave the machine in plain text.
        """
        import httpx2

        return httpx2.AsyncClient(
            timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64),
            follow_redirects=False,
            trust_env=not self.is_loopback,
        )


def endpoint(url: str, key: str | None, *, setting: str, key_setting: str) -> Endpoint:
    """A checked endpoint. `setting` and `key_setting` say in messages where the values came from.

    Raises `UsageError` for an address that is none, that holds a password, or to which the key would travel in plain
    text, and `ModelAuthError` for a key that cannot be one.
    """
    url = url.strip()
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reading it checks it
    except ValueError as error:
        raise UsageError(f"{setting} is not an address: {error}.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or not _PRINTABLE.fullmatch(url) or "\\" in url:
        raise UsageError(f"{setting} is not an http or https address.", hint='For example "http://127.0.0.1:8080/v1".')
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError(
            f"{setting} holds more than an address.", hint=f"Give the key in {key_setting}, and the address alone."
        )
    if key is not None and not _PRINTABLE.fullmatch(key):
        raise ModelAuthError(f"{key_setting} holds characters that no key has.", hint="Copy it again.")
    if key is not None and parts.scheme == "http" and not _is_loopback(parts.hostname):
        raise UsageError(
            f"The key in {key_setting} would travel to {parts.hostname} in plain text.",
            hint=f"Use an https address in {setting}, or unset {key_setting} for this command.",
        )
    return Endpoint(url.rstrip("/"), key)


def first_set(environ: Mapping[str, str], *names: str) -> tuple[str, str] | None:
    """Name and value of the first of these variables that holds something."""
    return next(((name, value) for name in names if (value := environ.get(name, "").strip())), None)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback
