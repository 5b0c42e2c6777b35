"""Prompt templates, as files with versions.

A template is `NAME.md` beside this module: Jinja2 text whose first line is `{# version: N #}`. The id "NAME@N" travels
with every prompt, into cache keys and reports. A changed template gets a new version, so that old replies are not
mistaken for answers to it.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.errors import UnknownName

if TYPE_CHECKING:
    import jinja2

_HEADER = re.compile(r"\A\{#\s*version:\s*(\d+)\s*#\}\r?\n")


class Rendered(Frozen):
    """A template with its values filled in."""

    text: str
    id: str


def names() -> tuple[str, ...]:
    """Names of all templates."""
    folder = resources.files(__name__)
    return tuple(sorted(entry.name.removesuffix(".md") for entry in folder.iterdir() if entry.name.endswith(".md")))


def render(name: str, **values: object) -> Rendered:
    """Fill in a template.

    Raises `UnknownName` for a template that does not exist, and `jinja2.UndefinedError` (a bug of ours) for a value
    that the template needs and did not get. Values are inserted as they are: Markdown is not HTML, nothing is escaped.
    """
    if name not in names():
        raise UnknownName("prompt template", name, names())
    template, version = _template(name)
    return Rendered(text=template.render(**values).strip() + "\n", id=f"{name}@{version}")


@cache
def _template(name: str) -> tuple[jinja2.Template, int]:
    import jinja2

    source = resources.files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    header = _HEADER.match(source)
    if header is None:
        raise ValueError(f"prompt template {name}.md does not begin with its version")
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True)
    return environment.from_string(source[header.end() :]), int(header.group(1))
