"""Replies that have to be JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from skillopt_sleep.domain.patterns import found

_FENCED = re.compile(r"(?P<fence>`{3,}|~{3,})[^\n`~]*\n(?P<body>.*?)\n?[ \t]*(?P=fence)", re.DOTALL)


class NotJson(ValueError):
    """The reply is not one JSON value."""


def read_json(text: str) -> Any:
    """The JSON value that is the whole reply, or the whole content of the one fenced block that is the whole reply.

    Raises `NotJson`; also for a key that stands twice in an object and for NaN and infinities, which `json` lets pass
    and other readers do not.
    """
    body = text.strip().removeprefix("\ufeff").strip()
    fenced = _FENCED.fullmatch(body)
    try:
        return json.loads(fenced["body"] if fenced else body, object_pairs_hook=_no_twins, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from error


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise NotJson("a key stands twice in one object")
    return value


def _no_constant(name: str) -> Any:
    raise NotJson(f"{name} is not JSON")


def fits(value: Any, schema: dict[str, Any], *, seconds: float) -> bool:
    """Whether a value fits a JSON Schema (draft 2020-12).

    Nothing is fetched: a reference to another document raises `referencing.exceptions.Unresolvable`. Patterns in the
    schema run with a time limit and raise `TimeoutError` beyond it.
    """
    import jsonschema  # only tasks that use this operator pay for it
    import referencing

    def pattern(_validator: Any, source: str, instance: Any, _schema: Any) -> Iterator[jsonschema.ValidationError]:
        if isinstance(instance, str) and not found(source, instance, seconds=seconds):
            yield jsonschema.ValidationError("does not match the pattern")

    timed = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"pattern": pattern})  # type: ignore[no-untyped-call]
    return bool(timed(schema, registry=referencing.Registry()).is_valid(value))
