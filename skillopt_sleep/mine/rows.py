"""Files of rows (YAML, JSON, JSON lines) read strictly: every fault is an `InputError` that names the place.

Strict means: UTF-8, no duplicate keys, no NaN, and nothing that a person meant as text silently read as a date, a
number or a truth value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, NoReturn

import yaml

from skillopt_sleep.domain.errors import InputError, UnknownName

_KNOWN_SUFFIXES = (".yaml", ".yml", ".json", ".jsonl")
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?P<yaml>.*?)(?<=\n)---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_LARGEST = 64 * 1024 * 1024
_QUOTE_IT = "Put it in quotation marks if it is meant as text."


def read_text(path: Path) -> str:
    """A file's text exactly as it stands: line ends and a byte-order mark are kept. `InputError` names the file."""
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(f"{path} is larger than {_LARGEST // 2**20} MB.", hint="Split it into several files.")
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError as error:
        raise InputError(f"There is no file {path}.") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 (byte {error.start + 1}).", hint="Save it as UTF-8.") from error


def read_document(path: Path) -> object:
    """The content of a YAML, JSON or JSON-lines file as plain values; a JSON-lines file is a list of its rows."""
    suffix = path.suffix.casefold()
    if suffix not in _KNOWN_SUFFIXES:
        raise InputError(
            f"{path}: the kind of file is told from its ending, and {suffix or 'none'!r} is not known.",
            hint=f"Known: {', '.join(_KNOWN_SUFFIXES)}.",
        )
    text = read_text(path).removeprefix("\ufeff")
    if not text.strip():
        raise InputError(f"{path} is empty.")
    if suffix == ".jsonl":
        lines = enumerate(text.split("\n"), start=1)  # splitlines() would also split inside of a string
        return [_json(line, f"{path}, line {number}") for number, line in lines if line.strip()]
    return _json(text, str(path)) if suffix == ".json" else read_yaml(text, path)


def _json(text: str, where: str) -> object:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for key, value in pairs:
            if key in seen:
                raise InputError(f"{where}: the key {key!r} stands twice in one object.")
            seen[key] = value
        return seen

    def not_a_number(name: str) -> NoReturn:
        raise InputError(f"{where}: {name} is not a value of JSON.")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=not_a_number)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{where}: not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not usable JSON: {error}.") from error


class _StrictLoader(yaml.SafeLoader):
    """Safe YAML that refuses a key given twice, of which plain YAML readers keep only the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = key_node.value
            if isinstance(key_node, yaml.ScalarNode) and key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands twice in one mapping", key_node.start_mark
                )
            seen.add(key if isinstance(key_node, yaml.ScalarNode) else id(key_node))
        return super().construct_mapping(node, deep=deep)


def read_yaml(text: str, path: Path) -> object:
    """The value of a YAML text that stands in `path`."""
    try:
        return yaml.load(text, Loader=_StrictLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        tab = "\\t" in problem
        hint = "YAML is indented with spaces; replace the tab." if tab else "Correct the file and load it again."
        raise InputError(f"{path}{place}: not valid YAML: {problem}.", hint=hint) from error
    except (ValueError, RecursionError) as error:  # an impossible date, an endless nesting
        raise InputError(f"{path}: not usable YAML: {error}.") from error


def read_front_matter(path: Path) -> tuple[dict[str, Any], str]:
    """The YAML between `---` lines that a Markdown file may begin with, and the text below it."""
    text = read_text(path).removeprefix("\ufeff")
    split = _FRONT_MATTER.match(text)
    if split is None:
        return {}, text
    values = read_yaml(split["yaml"], path)
    if values is not None and not isinstance(values, Mapping):
        raise InputError(f"{path}: expected a mapping between the `---` lines, not {kind(values)}.")
    return dict(values or {}), text[split.end() :]


def fields(row: object, known: tuple[str, ...], where: str) -> dict[str, Any]:
    """A row as a mapping whose keys are all known; otherwise `InputError`, or `UnknownName` with the nearest one."""
    if not isinstance(row, Mapping):
        raise InputError(f"{where}: expected a mapping of fields, not {kind(row)}.")
    for key in row:
        if not isinstance(key, str):
            raise InputError(f"{where}: the field name {key!r} was read as {kind(key)}. {_QUOTE_IT}")
        if key not in known:
            raise UnknownName(f"field ({where})", key, known)
    return dict(row)


def text_field(row: Mapping[str, Any], name: str, where: str) -> str | None:
    """A field of text; None where it is absent or null. Anything else is refused, never converted."""
    value = row.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        shown = "" if isinstance(value, list | dict) else f" ({value})"
        raise InputError(f"{where}: {name!r} must be text, but was read as {kind(value)}{shown}.", hint=_QUOTE_IT)
    if not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
        raise InputError(f"{where}: {name!r} holds half of a surrogate pair, which is no text.")
    return value


def list_field(row: Mapping[str, Any], name: str, where: str) -> list[Any] | None:
    """A field that holds a list; None where it is absent or null."""
    value = row.get(name)
    if value is not None and not isinstance(value, list):
        raise InputError(f"{where}: {name!r} must be a list, not {kind(value)}.")
    return value


def kind(value: object) -> str:
    """What a value is, in the words of someone who writes YAML."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true/false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, date):
        return "a date"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "a mapping"
