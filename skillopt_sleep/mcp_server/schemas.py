"""Writes what `tools/list` answers into files: `python -m skillopt_sleep.mcp_server.schemas`.

The server reads the one beside this module, so that it starts without building a model. The plugin's launcher answers
from the other one while its environment is being made. A test compares both with what the models say.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import sys
import textwrap
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.mcp_server.takes import SOURCES
from skillopt_sleep.mcp_server.tools import TOOLS, Tool

FILE = Path(__file__).with_name("tools.json")
_PAGE = {
    "type": "object",
    "description": "Where a list that was too long goes on.",
    "properties": {
        "of": {"type": "string", "description": "Which list."},
        "offset": {"type": "integer"},
        "shown": {"type": "integer"},
        "total": {"type": "integer"},
        "next_offset": {"type": ["integer", "null"], "description": "Give this as `offset`; null: that was all."},
    },
    "required": ["of", "offset", "shown", "total", "next_offset"],
    "additionalProperties": False,
}


def listing() -> str:
    """All tools as the wire has them."""
    return json.dumps({"tools": [_tool(tool) for tool in TOOLS]}, indent=1, ensure_ascii=False) + "\n"


def _tool(tool: Tool) -> dict[str, Any]:
    gives = _schema(tool.gives, "serialization")
    gives["properties"]["page"] = _PAGE
    row: dict[str, Any] = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": _schema(tool.takes, "validation"),
        "outputSchema": gives,
        "annotations": {
            "readOnlyHint": tool.reads_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent,
            "openWorldHint": tool.open_world,
        },
    }
    if tool.always_loaded:
        row["_meta"] = {"anthropic/alwaysLoad": True}
    return row


def _schema(model: type[BaseModel], mode: Any) -> dict[str, Any]:
    whole = model.model_json_schema(mode=mode)
    known = {kind.__name__: kind for kind in _all_models()}
    for name, schema in whole.get("$defs", {}).items():
        if name in known:
            _describe(schema, known[name].__mro__)
    _describe(whole, (*model.__mro__, *(base for source in SOURCES for base in source.__mro__)))
    tidied: dict[str, Any] = _tidy(whole)
    tidied.pop("description", None)
    if mode == "validation":
        tidied.setdefault("properties", {})
        for field in tidied["properties"].values():
            _plain_option(field)
    return tidied


def _describe(schema: dict[str, Any], classes: Iterable[type]) -> None:
    """Give every property the words that stand below its field."""
    for kind in classes:
        for name, words in _words(kind).items():
            if name in schema.get("properties", {}):
                schema["properties"][name].setdefault("description", words)


@cache
def _words(kind: type) -> dict[str, str]:
    """Field -> the string below it in the source of a class."""
    if not issubclass(kind, Frozen) or kind.__module__.startswith("pydantic"):
        return {}
    try:
        source = textwrap.dedent(inspect.getsource(kind))
    except (OSError, TypeError):  # a model that was made of others has no source
        return {}
    (body,) = [node.body for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    found = {}
    for node, below in itertools.pairwise(body):
        match node, below:
            case ast.AnnAssign(target=ast.Name(id=field)), ast.Expr(value=ast.Constant(value=str(words))):
                found[field] = " ".join(words.split())
    return found


def _all_models(root: type[Frozen] = Frozen) -> list[type[Frozen]]:
    return [found for kind in root.__subclasses__() for found in (kind, *_all_models(kind))]


def _tidy(value: Any) -> Any:
    """The schema without titles, which only repeat names."""
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _tidy(item) for key, item in value.items() if not (key == "title" and isinstance(item, str))}
    if isinstance(kept.get("properties"), dict):
        kept["properties"] = {name: _tidy(field) for name, field in value["properties"].items()}
    return kept


def _plain_option(field: dict[str, Any]) -> None:
    """An optional argument is left out rather than null: half as long to say."""
    kinds = [kind for kind in field.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) == 1:
        del field["anyOf"]
        field.update(kinds[0])
    if field.get("default", "") is None:
        del field["default"]


def main() -> int:
    """Write the files; in a checkout also the plugin's."""
    text = listing()
    FILE.write_text(text, encoding="utf-8")
    plugin = FILE.parents[2] / "plugin"
    if plugin.is_dir():
        (plugin / "tools.json").write_text(text, encoding="utf-8")
    sys.stdout.write(f"{FILE}: {len(text):,} characters\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
