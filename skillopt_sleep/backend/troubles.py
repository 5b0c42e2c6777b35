"""What a service says instead of an answer, as our errors: the one table from HTTP to `ModelError`.

retry     408 409 425 429 5xx 529, broken connections, pages and torn JSON where an answer should be
missing   400 413 422: this request cannot be answered, another one can
stop      401 403 407 402, spent credit, an unknown model or address: every further call would end the same way
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from skillopt_sleep.domain.errors import ModelAuthError, ModelError, ModelUnavailable, UnknownName

_QUOTED = 200
"""Characters of a service's own words that a message repeats."""

_STATUS_OF_KIND = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "insufficient_quota": 402,
    "contract_spend_limit_reached": 402,
    "enforced_spend_limit_reached": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "context_length_exceeded": 413,
    "exceed_context_size_error": 413,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Kinds that say more than the status they come with, or that come inside a 200."""

_NO_CREDIT = re.compile(
    r"credit balance|insufficient[_ ](quota|credits?|funds)|exceeded your current quota|billing[_ ]hard[_ ]limit"
    r"|spend(ing)?[_ ]limit",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"prompt is too long|context[_ ](length|window|size)|maximum context|too many (input )?tokens", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Trouble:
    """What a service said. `kind` is its own word for the error ("overloaded_error")."""

    status: int
    kind: str = ""
    message: str = ""
    retry_after: float | None = None

    @property
    def meaning(self) -> int:
        """The status that the trouble deserves, whatever status it came with."""
        if self.kind.isdecimal() and 400 <= int(self.kind) <= 599:  # some gateways put the status there, under a 200
            return int(self.kind)
        inside_a_200 = 200 <= self.status < 300
        found = _STATUS_OF_KIND.get(self.kind, 500 if inside_a_200 else self.status)
        # "invalid request" and "API error" are said with statuses that know better
        return self.status if found in (400, 500) and not inside_a_200 else found


def trouble(status: int, headers: Mapping[str, str], body: bytes, *, key: str | None = None) -> Trouble:
    """Reads an error response, tolerantly. The key, should the service repeat it, is not repeated by us."""
    kind, message = _read(body)
    if key:
        message = message.replace(key, "***")
    return Trouble(status, kind, _one_line(message), retry_after(headers))


def error_of(said: Trouble, service: str, *, login: str) -> ModelError:  # noqa: PLR0911 - a table, a row each
    """The error that a trouble is. `service` names who said it; `login` says how a person gets in."""
    meaning, words = said.meaning, _words(said)
    broke = _NO_CREDIT.search(said.message) and meaning in (400, 403, 429) and said.retry_after is None
    if meaning == 402 or broke:
        return ModelAuthError(f"{service} asks for payment: {words}", hint="Add credit or raise the limit there.")
    if meaning in (401, 403, 407):
        return ModelAuthError(f"{service} refuses the login: {words}", hint=login)
    if meaning == 404:
        return ModelAuthError(f"{service} does not know what was asked for: {words}", hint="Check model and address.")
    if 300 <= meaning < 400:
        return ModelAuthError(f"{service} sends callers elsewhere: {words}", hint="Set the final address itself.")
    if meaning == 413 or (meaning in (400, 422) and _TOO_LONG.search(said.message)):
        return ModelError(f"The request does not fit into the model's context: {words}", billed=False)
    if meaning in (429, 529) or (meaning == 503 and said.retry_after is not None):
        return ModelUnavailable(
            f"{service} is busy: {words}", retry="rate_limit", retry_after=said.retry_after, billed=said.status < 300
        )
    if meaning in (408, 409, 425) or (meaning >= 500 and meaning not in (501, 505)):
        return ModelUnavailable(f"{service} failed: {words}", retry="transient", retry_after=said.retry_after)
    return ModelError(f"{service} does not accept the request: {words}", billed=False)


def unknown_model(said: Trouble, model: str, service: str, known: Iterable[str]) -> ModelAuthError | None:
    """The error for a model that the service does not have, with the nearest one it has; None where it is not that."""
    if said.meaning != 404 or (said.kind != "model_not_found" and model not in said.message):
        return None
    name = UnknownName("model", model, known)
    nearest = f" Did you mean {name.nearest!r}?" if name.nearest else ""
    return ModelAuthError(f"{service} has no model called {model!r}.{nearest}", hint=name.hint if name.known else "")


def json_object(body: bytes, headers: Mapping[str, str], service: str) -> dict[str, Any]:
    """The JSON object in a 200. Raises `ModelUnavailable` where there is none: then something else has answered."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if not body.strip():
            what = "answered with nothing"
        elif kind.endswith("json"):
            what = "sent an answer that breaks off"
        else:
            what = f"answered with {kind or 'something'} instead of JSON"
        raise ModelUnavailable(
            f"{service} {what}.",
            hint="Is the address right? Some networks want a sign-in first." if "html" in kind else "",
            retry="transient",
        ) from error
    if not isinstance(found, dict):
        raise ModelUnavailable(f"{service} sent JSON that is not an answer.", retry="transient")
    return found


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds a service asks to wait, from either header and either form; None where it says nothing sensible."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if (value := headers.get(name)) is None:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            seconds = _until(value)
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    return None


def unreachable(error: BaseException, service: str) -> ModelUnavailable:
    """A connection that failed, from what the HTTP library raised. What never connected was never billed."""
    import httpx2

    connecting = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
    what = "cannot be reached" if connecting else "broke the connection off"
    detail = _one_line(str(error)) or type(error).__name__
    return ModelUnavailable(f"{service} {what} ({detail}).", retry="transient", billed=not connecting)


def too_slow(service: str, seconds: float) -> ModelUnavailable:
    """A call that was not done in time, whether nothing came or too little."""
    return ModelUnavailable(f"{service} did not finish its answer in {seconds:g} s.", retry="transient")


def _until(value: str) -> float:
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return math.nan
    return (moment - datetime.now(UTC)).total_seconds() if moment.tzinfo else math.nan


def _read(body: bytes) -> tuple[str, str]:
    """Kind and message of an error body, in any of the shapes that services use."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        text = body.decode("utf-8", "replace")
        return "", "" if text.lstrip().startswith("<") else text
    error = found.get("error", found) if isinstance(found, dict) else found
    if not isinstance(error, dict):
        return "", str(error)
    details = error.get("details")
    named = details.get("error_code") if isinstance(details, dict) else None
    kinds = [str(kind) for kind in (named, error.get("code"), error.get("type")) if kind]
    kind = next((kind for kind in kinds if kind in _STATUS_OF_KIND), kinds[0] if kinds else "")
    return kind, str(error.get("message") or error.get("detail") or found.get("detail") or "")


def _words(said: Trouble) -> str:
    status = f"HTTP {said.status}" + (f", {said.kind}" if said.kind and not said.kind.isdecimal() else "")
    return f"{said.message.rstrip('.')} ({status})." if said.message else f"{status}."


def _one_line(text: str) -> str:
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= _QUOTED else line[:_QUOTED].rstrip() + "..."
