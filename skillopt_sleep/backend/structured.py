"""Structured replies: JSON text that fits a schema, or `ModelMalformed`."""

from __future__ import annotations

from pydantic import BaseModel, ValidationError

from skillopt_sleep.domain.errors import ModelMalformed


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
