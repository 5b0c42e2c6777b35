"""Checks: what a program can verify about a reply, as data.

The operators and their arguments follow the gbrain-evals `skillopt-v1` layout ({"op": ..., "arg": ...}); the ones it
lacks (words, starts/ends, heading, JSON) are ours. Evaluation lives in `judges.rules`; parsing lives here because both
mining and judging need it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, TypeAdapter, ValidationError, field_validator

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.errors import InputError, UnknownName

Author = Literal["person", "model"]
"""Who stated a check: a person (written, reviewed, or typed as a correction) or a model (mined)."""

NonNegative = Annotated[int, Field(ge=0)]
Text = Annotated[str, Field(min_length=1)]


class _Check(Frozen):
    author: Author = "person"
    shape_only: ClassVar[bool] = False
    """True where the check constrains only the form of a reply, so that an empty-headed reply can satisfy it."""


class Contains(_Check):
    """The reply contains `arg`, ignoring case."""

    op: Literal["contains"] = "contains"
    arg: Text


class NotContains(_Check):
    """The reply does not contain `arg`, ignoring case."""

    op: Literal["not_contains"] = "not_contains"
    arg: Text


class Regex(_Check):
    """The pattern is found anywhere in the reply, exactly as written (no flags added)."""

    op: Literal["regex"] = "regex"
    arg: Text

    @field_validator("arg")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        import regex  # only tasks that use this operator pay for it

        # `re` decides what is legal (it refuses, for instance, inline flags in the middle, which `regex` accepts);
        # `regex` must agree, because it is what runs: it can be given a time limit.
        try:
            re.compile(pattern)
            regex.compile(pattern)
        except (re.error, regex.error, RecursionError, OverflowError) as error:
            raise ValueError(f"the pattern does not compile: {error}") from error
        return pattern


class MaxChars(_Check):
    op: Literal["max_chars"] = "max_chars"
    arg: NonNegative
    shape_only: ClassVar[bool] = True


class MinChars(_Check):
    op: Literal["min_chars"] = "min_chars"
    arg: NonNegative
    shape_only: ClassVar[bool] = True


class MaxWords(_Check):
    op: Literal["max_words"] = "max_words"
    arg: NonNegative
    shape_only: ClassVar[bool] = True


class MinWords(_Check):
    op: Literal["min_words"] = "min_words"
    arg: NonNegative
    shape_only: ClassVar[bool] = True


class StartsWith(_Check):
    """The reply, without leading white space, begins with `arg`, as written."""

    op: Literal["starts_with"] = "starts_with"
    arg: Text
    shape_only: ClassVar[bool] = True


class EndsWith(_Check):
    """The reply, without trailing white space, ends with `arg`, as written."""

    op: Literal["ends_with"] = "ends_with"
    arg: Text
    shape_only: ClassVar[bool] = True


class Heading(_Check):
    """A real Markdown heading (ATX or setext, outside fenced code) whose text is `arg`, ignoring case."""

    op: Literal["heading"] = "heading"
    arg: Text
    shape_only: ClassVar[bool] = True


class SectionPresent(_Check):
    """gbrain: an ATX heading that ends with `arg`, a bold line holding it, or a line that begins with `arg:`."""

    op: Literal["section_present"] = "section_present"
    arg: Text
    shape_only: ClassVar[bool] = True


class SectionContains(_Check):
    """gbrain: an ATX heading that contains `arg` anywhere, and nothing else counts."""

    op: Literal["section_contains"] = "section_contains"
    arg: Text
    shape_only: ClassVar[bool] = True


class ToolCalled(_Check):
    """The tool called `arg` was really invoked; saying so does not count."""

    op: Literal["tool_called"] = "tool_called"
    arg: Text


class NoRefusal(_Check):
    """The reply is not a bare refusal."""

    op: Literal["no_refusal"] = "no_refusal"
    arg: None = None
    shape_only: ClassVar[bool] = True


class JsonValid(_Check):
    """The whole reply (or its single fenced block) is one JSON value."""

    op: Literal["json_valid"] = "json_valid"
    arg: None = None
    shape_only: ClassVar[bool] = True


class JsonSchema(_Check):
    """The reply is JSON, as for `json_valid`, and fits the JSON Schema in `arg`."""

    op: Literal["json_schema"] = "json_schema"
    arg: dict[str, Any]

    @field_validator("arg")
    @classmethod
    def _is_a_schema(cls, schema: dict[str, Any]) -> dict[str, Any]:
        import jsonschema  # only tasks that use this operator pay for it

        try:
            jsonschema.Draft202012Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            raise ValueError(f"not a valid JSON Schema: {error.message}") from error
        if "patternProperties" in json.dumps(schema):  # the library gives these patterns no time limit
            raise ValueError("patternProperties is not supported: a pattern on names could run without end")
        return schema


Check = Annotated[
    Contains
    | NotContains
    | Regex
    | MaxChars
    | MinChars
    | MaxWords
    | MinWords
    | StartsWith
    | EndsWith
    | Heading
    | SectionPresent
    | SectionContains
    | ToolCalled
    | NoRefusal
    | JsonValid
    | JsonSchema,
    Field(discriminator="op"),
]

_ADAPTER: TypeAdapter[Check] = TypeAdapter(Check)

OPERATORS: tuple[str, ...] = (
    "contains",
    "not_contains",
    "regex",
    "max_chars",
    "min_chars",
    "max_words",
    "min_words",
    "starts_with",
    "ends_with",
    "heading",
    "section_present",
    "section_contains",
    "tool_called",
    "no_refusal",
    "json_valid",
    "json_schema",
)


def parse_check(raw: object, *, where: str, author: Author = "person") -> Check:
    """One check from its file form {"op": ..., "arg": ...}.

    `where` names the task and the check's place for the error message, for example "task 'bm-001', check 2".
    Raises `UnknownName` for an unknown operator and `InputError` for anything else that is wrong.
    """
    if not isinstance(raw, Mapping):
        raise InputError(f"{where}: a check is a mapping with 'op' and 'arg', not {json.dumps(raw, default=str)[:80]}.")
    op = raw.get("op")
    if not isinstance(op, str) or op not in OPERATORS:
        raise UnknownName(f"check operator ({where})", str(op), OPERATORS)
    try:
        return _ADAPTER.validate_python({"author": author, **raw})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"] if part != op) or "check"
        raise InputError(
            f"{where}: {op}: {field}: {first['msg'].removeprefix('Value error, ')}.",
            hint="Correct the check and load the file again.",
        ) from error
