"""Checks in plain words: what reports show and what an optimiser may know about a judge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, assert_never

from skillopt_sleep.domain.briefing import Requirement
from skillopt_sleep.domain.checks import (
    Check,
    Contains,
    EndsWith,
    Heading,
    JsonSchema,
    JsonValid,
    MaxChars,
    MaxWords,
    MinChars,
    MinWords,
    NoRefusal,
    NotContains,
    Regex,
    SectionContains,
    SectionPresent,
    StartsWith,
    ToolCalled,
)
from skillopt_sleep.domain.glosses import Gloss, gloss
from skillopt_sleep.domain.patterns import found, repeats

_NO_WORDS = Requirement(text="Use the fixed wording or layout that this kind of reply calls for.")


def describe(check: Check) -> Requirement:  # noqa: PLR0911, PLR0912 - one line per operator reads best as one table
    """The check as an imperative sentence, and a short example that meets it where one can be made up.

    Of a regular expression or a JSON Schema only a gloss is given, never its source.
    """
    match check:
        case Contains():
            return Requirement(text=f"Include the text {_quoted(check.arg)}.", example=check.arg)
        case NotContains():
            return Requirement(text=f"Do not include the text {_quoted(check.arg)}.")
        case Regex():
            return _describe_pattern(check.arg)
        case MaxChars():
            return Requirement(text=f"Keep the reply at or under {_count(check.arg, 'character')}.")
        case MinChars():
            return Requirement(text=f"Make the reply at least {_count(check.arg, 'character')} long.")
        case MaxWords():
            return Requirement(text=f"Keep the reply at or under {_count(check.arg, 'word')}.")
        case MinWords():
            return Requirement(text=f"Make the reply at least {_count(check.arg, 'word')} long.")
        case StartsWith():
            return Requirement(text=f"Begin the reply with {_quoted(check.arg)}.", example=check.arg)
        case EndsWith():
            return Requirement(text=f"End the reply with {_quoted(check.arg)}.", example=check.arg)
        case Heading() | SectionPresent() | SectionContains():
            return Requirement(text=f"Include a section headed {_quoted(check.arg)}.", example=f"## {check.arg}")
        case ToolCalled():
            return Requirement(text=f"Call the `{check.arg}` tool before answering.")
        case NoRefusal():
            return Requirement(text="Answer the request itself instead of refusing it.")
        case JsonValid():
            return Requirement(text="Reply with valid JSON and nothing else.", example='{"answer": "..."}')
        case JsonSchema():
            return _describe_schema(check.arg)
    assert_never(check)


def leaks(check: Check, text: str) -> bool:
    """Whether `text` repeats a raw pattern that only the judge should know.

    White space, case and doubled backslashes do not matter. A pattern that finds just its own text is no secret.
    """
    return isinstance(check, Regex) and repeats(check.arg, text)


def _describe_pattern(pattern: str) -> Requirement:
    known = gloss(pattern)
    if known is None:
        return _NO_WORDS
    requirement = Requirement(text=_sentence(known), example=_example(pattern, known))
    if repeats(pattern, f"{requirement.text}\n{requirement.example}"):
        return _NO_WORDS
    return requirement


def _sentence(known: Gloss) -> str:
    forms = _either([_quoted(form) for form in known.forms])
    shape = forms if known.fixed else f"text of the form {forms}"
    if known.opens and known.closes:
        if known.lines:
            return f"Include a line of the form {forms}."
        whole = "Make the whole reply" if known.fixed else "Give the whole reply the form"
        return f"{whole} {forms}, with nothing before or after it."
    if known.opens:
        return f"{'Include a line that begins' if known.lines else 'Begin the reply'} with {shape}."
    if known.closes:
        return f"{'Include a line that ends' if known.lines else 'End the reply'} with {shape}."
    return f"Include the text {forms}." if known.fixed else f"Include {shape}."


def _example(pattern: str, known: Gloss) -> str:
    """The first form; a label gets a place-holder for its value, so that it reads as a line of a real reply."""
    form = known.forms[0]
    labelled = f"{form} ..."
    if form.endswith((":", "=")) and not known.closes and found(pattern, labelled, seconds=1.0):
        return labelled
    return form


def _describe_schema(schema: Mapping[str, Any]) -> Requirement:
    import jsonschema  # only tasks that use this operator pay for it

    text = "Reply with valid JSON and nothing else"
    fields = _fields(schema)
    if fields:
        named = [f"{_quoted(name)} ({_type(part)})" if _type(part) else _quoted(name) for name, part in fields.items()]
        text += f": an object with {_listed(named)}"
    elif _type(schema):
        text += f": one value of type {_type(schema)}"
    example = _value(schema)
    # A reference might point outside the schema; nothing is fetched for the sake of an example.
    self_contained = not any(f'"{word}":' in json.dumps(schema) for word in ("$ref", "$dynamicRef"))
    fits = self_contained and jsonschema.Draft202012Validator(schema).is_valid(example)
    return Requirement(text=text + ".", example=json.dumps(example, ensure_ascii=False) if fits else None)


def _fields(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The fields a reply must have; where none is demanded, all that are described."""
    described = schema.get("properties", {})
    required = schema.get("required", [])
    return {name: described.get(name, {}) for name in required or described}


def _type(schema: object) -> str:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return kind if isinstance(kind, str) else ""


def _value(schema: object) -> Any:  # noqa: PLR0911 - one line per JSON type
    """A small value of the schema's kind. It may not fit; the caller looks."""
    if not isinstance(schema, Mapping):
        return "..."
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    match _type(schema) or ("object" if _fields(schema) else ""):
        case "object":
            return {name: _value(part) for name, part in _fields(schema).items()}
        case "array":
            return [_value(schema.get("items")) for _ in range(min(max(schema.get("minItems", 1), 1), 5))]
        case "integer" | "number":
            return schema.get("minimum", min(1, schema.get("maximum", 1)))
        case "boolean":
            return True
        case "null":
            return None
    known = gloss(schema["pattern"]) if isinstance(schema.get("pattern"), str) else None
    return known.forms[0] if known else "...".ljust(min(schema.get("minLength", 0), 40), ".")


def _quoted(text: str) -> str:
    """The text between marks that do not occur in it; control characters and mixed marks are written as in JSON."""
    if text.isprintable() and '"' not in text:
        return f'"{text}"'
    if text.isprintable() and "`" not in text:
        return f"`{text}`"
    return json.dumps(text, ensure_ascii=False)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _either(options: list[str]) -> str:
    return options[0] if len(options) == 1 else f"{', '.join(options[:-1])} or {options[-1]}"


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
