"""Headings: real Markdown ones, and the looser sections of the gbrain-evals layout."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

_ATX = re.compile(r" {0,3}#{1,6}[ \t]+(?P<title>.*\S)\s*")
_BOLD_LINE = re.compile(r" {0,3}\*\*(?P<title>.*)\*\*:?\s*")
_LINE_END = re.compile(r"\r\n|\n|\r")


def headings(text: str) -> Iterator[str]:
    """The plain texts of the headings that CommonMark sees: ATX and setext, none in code, HTML or quotations.

    Emphasis and code marks are dropped ("## **Key** Risks ##" is "Key Risks"), white space is made single.
    """
    from markdown_it import MarkdownIt  # only replies that are judged by their headings pay for it

    quoted = 0
    tokens = MarkdownIt("commonmark").parse(text)
    for opening, content in pairwise(tokens):
        quoted += {"blockquote_open": 1, "blockquote_close": -1}.get(opening.type, 0)
        if opening.type == "heading_open" and not quoted:
            parts = content.children or []
            yield " ".join("".join(_plain(part.type, part.content) for part in parts).split())


def _plain(kind: str, content: str) -> str:
    return content if kind in ("text", "code_inline") else " " if kind in ("softbreak", "hardbreak") else ""


def has_section(text: str, name: str) -> bool:
    """`section_present` of the gbrain-evals layout; upper and lower case are the same.

    An ATX heading line that ends with the name, a bold line that holds it, or a line that begins with it and a colon.
    Lines are looked at as they are, in fenced code too: that is how the published results were scored.
    """
    folded = name.casefold()
    for line in _LINE_END.split(text):
        atx, bold = _ATX.fullmatch(line), _BOLD_LINE.fullmatch(line)
        if atx and atx["title"].casefold().endswith(folded):
            return True
        if (bold and folded in bold["title"].casefold()) or line.casefold().startswith(f"{folded}:"):
            return True
    return False


def heading_contains(text: str, name: str) -> bool:
    """`section_contains` of the gbrain-evals layout: an ATX heading line that holds the name anywhere."""
    found = (_ATX.fullmatch(line) for line in _LINE_END.split(text))
    return any(atx is not None and name.casefold() in atx["title"].casefold() for atx in found)
