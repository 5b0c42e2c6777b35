"""Structured replies: the schema as services take it, and JSON text that fits it, or `ModelMalformed`."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ValidationError

from skillopt_sleep.domain.errors import ModelMalformed
from skillopt_sleep.domain.llm import Reply

_KEPT = frozenset({"type", "enum", "const", "description", "additionalProperties"})
_LIMITS = frozenset(
    "minLength maxLength pattern format minItems maxItems uniqueItems "
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()
)
"""What constrained decoding does not know, refuses, or pays for with enormous grammars. The model is told in words."""


def require(text: str, schema: type[BaseModel] | None, *, model: str) -> str:
    """The text itself, once it is known to fit `schema` (None: any text fits).

    Raises `ModelMalformed` that names the first place where it does not fit; never quotes the whole reply.
    """
    if schema is None:
        return text
    try:
        schema.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ModelMalformed(
            f"{model} did not answer with {schema.__name__}: {where + ': ' if where else ''}{first['msg']}."
        ) from error
    return text


def require_whole(reply: Reply, schema: type[BaseModel] | None) -> Reply:
    """The reply itself, once it is known to be one: whole, not empty, not withheld, and of the schema's shape.

    What ends early says nothing about the agent: a deployed one has no cap of ours, and a service that withholds a
    reply speaks for itself and not for the model. So these are failures of the call; they are not scored or cached.
    """
    if reply.stop == "max_tokens":
        raise ModelMalformed(f"The reply of {reply.model} was cut off after {reply.usage.output_tokens} tokens.")
    if reply.stop == "refusal":
        raise ModelMalformed(f"The service withheld the reply of {reply.model} (refusal).")
    if not reply.text.strip() and not reply.tool_calls:
        raise ModelMalformed(f"{reply.model} gave an empty reply.", retry="transient")
    require(reply.text, schema, model=reply.model)
    return reply


def wire_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """JSON Schema in the subset that services decode under: closed objects, every field required, no limits.

    Fields with a default are required too: a model that may leave out a union's tag leaves it out. Limits become part
    of the description; `require` holds the reply against the real schema.
    """
    return _closed(schema.model_json_schema(mode="serialization"))


def _closed(node: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in node:
        return {"$ref": node["$ref"]}
    closed = {key: value for key, value in node.items() if key in _KEPT}
    for key in ("properties", "$defs"):
        if key in node:
            closed[key] = {name: _closed(value) for name, value in node[key].items()}
    if isinstance(node.get("items"), dict):
        closed["items"] = _closed(node["items"])
    if choices := node.get("anyOf") or node.get("oneOf"):
        closed["anyOf"] = [_closed(choice) for choice in choices]
    if limits := ", ".join(f"{key} {node[key]}" for key in node if key in _LIMITS):
        closed["description"] = f"{closed.get('description', '')} ({limits})".strip()
    if "properties" in closed:
        closed |= {"required": list(closed["properties"]), "additionalProperties": False}
    return closed
