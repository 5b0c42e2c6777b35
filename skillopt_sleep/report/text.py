"""Foreign text made safe to show: names, replies and reasons come from transcripts and models.

Control and direction characters could repaint a terminal or reorder a line, so they become visible. Markdown is escaped
only where it would be read as Markdown, because people read the source as well.
"""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = frozenset({"Cc", "Cs", "Co"})
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")
_MARKS = re.compile(
    r"""[\\`*\[\]<|]                 # always mean something
    | (?<![^\W_])_ | _(?![^\W_])     # an underscore at the border of a word; snake_case is left alone
    | ~(?=~) | (?<=~)~
    | &(?=\#?\w+;)                   # a character reference
    | ^(?:[\#>+=-])(?=.)             # what begins a block
    | (?<=^\d)[.)] | (?<=^\d\d)[.)]
    """,
    re.VERBOSE,
)


def one_line(text: str) -> str:
    """The text on one line, white space collapsed, characters that cannot be seen shown as U+FFFD."""
    return " ".join(_visible(text).split())


def several_lines(text: str) -> str:
    """The text with its line breaks, tabs as spaces, without trailing white space."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4).split("\n")
    return "\n".join(_visible(line).rstrip() for line in lines).strip("\n")


def md(text: str) -> str:
    """One line of text that Markdown shows as it is: in a paragraph, a list item or a table cell."""
    return _MARKS.sub(lambda mark: f"\\{mark.group()}", one_line(text))


def code(text: str) -> str:
    """A code span, whatever the text holds. A bar is left alone, so this does not belong into a table."""
    line = one_line(text) or " "
    ticks = _fence_for(line, 1)
    gap = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{gap}{line}{gap}{ticks}"


def fenced(text: str, language: str = "text", indent: str = "") -> list[str]:
    """A fenced block, as lines."""
    body = several_lines(text)
    ticks = _fence_for(body, 3)
    return [f"{indent}{line}".rstrip() for line in (f"{ticks}{language}", *body.split("\n"), ticks)]


def count(number: int, noun: str) -> str:
    """A number with its noun: "1 task", "1,200 tasks"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def sentence(text: str) -> str:
    """The text beginning with a capital letter and ending in a full stop, where it has no other end."""
    line = one_line(text)
    return line[:1].upper() + line[1:] + ("" if not line or line[-1] in ".!?…:" else ".")


def _visible(text: str) -> str:
    return "".join("\ufffd" if _is_hidden(sign) else sign for sign in text)


def _is_hidden(sign: str) -> bool:
    return sign in _DIRECTIONS or (unicodedata.category(sign) in _INVISIBLE and sign not in "\n\t\r")


def _fence_for(text: str, at_least: int) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(at_least, longest + 1)
