"""Regular expressions of judges: searched with a time limit, and kept from those who must not see them.

A pattern is read the way Python's `re` reads it. It is run by `regex`, because only that can be given a time limit.
"""

from __future__ import annotations

import re
from typing import Any

import regex

# `regex` reads "x{e}" as "x, with errors allowed"; to `re` such braces are plain characters.
_LOOSE_BRACE = re.compile(r"\\N\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(?!\d*(?:,\d*)?\})", re.DOTALL)

_OUTER = re.compile(r"\A(?:\(\?[a-zA-Z]+\)|\^|\\[Ab])+|(?:(?<!\\)\$|\\[Zb])+\Z")
_PROSE = re.compile(r"[\w\s.,;:!?'\"-]+")


def found(pattern: str, text: str, *, seconds: float) -> bool:
    """Whether `pattern` is found anywhere in `text`. Raises `TimeoutError` when that takes longer than `seconds`."""
    strict = _LOOSE_BRACE.sub(lambda match: r"\{" if match[0] == "{" else match[0], pattern)
    return regex.search(strict, text, timeout=seconds) is not None


def is_literal(pattern: str) -> bool:
    """Whether the pattern finds exactly its own text, so that it says nothing a plain quotation would not say."""
    parsed = parse(pattern)
    return parsed is not None and "".join(chr(arg) for op, arg in parsed if str(op) == "LITERAL") == pattern


def repeats(pattern: str, text: str) -> bool:
    """Whether `text` holds the pattern's source, whatever the white space, case, and number of backslashes.

    Also without its outer anchors and flags: what is between them is the judge's secret all the same. A source that
    is its own text or that looks like ordinary words ("Done.") does not count: anybody would write it.
    """
    core = _OUTER.sub("", pattern)
    return any(_stands_in(source, text) for source in {pattern, core} if not _ordinary(source))


def _ordinary(source: str) -> bool:
    return len("".join(source.split())) < 2 or _PROSE.fullmatch(source) is not None or is_literal(source)


def _stands_in(source: str, text: str) -> bool:
    characters = "".join(source.split())
    spelled = r"\s*".join(r"\\+" if char == "\\" else re.escape(char) for char in re.sub(r"\\+", r"\\", characters))
    # A short source must not be "found" across the middle of a longer word.
    before = r"(?<!\w)" if re.match(r"\w", characters) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", characters) else ""
    return re.search(before + spelled + after, text, re.IGNORECASE) is not None


def parse(pattern: str) -> Any:
    """The pattern as `re` has parsed it, a sequence of (operator, argument); None where that cannot be had."""
    try:
        from re import _parser  # type: ignore[attr-defined]  # private, hence guarded: without it there is no gloss

        return _parser.parse(pattern)
    except (ImportError, re.error, RecursionError, OverflowError):
        return None
