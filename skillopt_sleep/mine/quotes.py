"""Names in quotation marks, taken out of a sentence so that the grammar sees one sign where a name stood."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FIRST = 0xE000  # a private-use character stands for each name: it is no word, no mark and no space
_LIMIT = 200
NAME = f"[{chr(_FIRST)}-{chr(_FIRST + _LIMIT)}]"
"""Regular expression of the sign that stands for one name."""

_QUOTED = re.compile(
    r"`{1,3}\s*([^`\n]{1,200}?)\s*`{1,3}"
    r"|\"([^\"\n]{1,200})\"|＂([^＂\n]{1,200})＂|“([^“”\n]{1,200})”|„([^“”„\"\n]{1,200})[“”\"]|”([^“”\n]{1,200})”"
    r"|«\s*([^«»\n]{1,200}?)\s*»|»([^«»\n]{1,200})«|‹\s*([^‹›\n]{1,200}?)\s*›"
    r"|「([^「」\n]{1,200})」|『([^『』\n]{1,200})』|《([^《》\n]{1,200})》"
    r"|‘([^‘\n]{1,120}?)’(?!\w)|‚([^‘‚\n]{1,120})‘|(?<![\w'])'([^'\n]{1,120})'(?![\w'])"
)
_UNQUOTED = re.compile(
    # "headed Known issues", "called Risks": capitalised words after a naming word
    r"(?:(?<=\bheaded )|(?<=\bcalled )|(?<=\btitled ))(?:#{1,6} )?[A-Z][\w&/-]*(?: (?:and |of |for |to "
    r"|the )?[A-Z][\w&/-]*| [a-z]\w+(?=[.!?]?\s*$))*"
    r"|(?<=\bnamed )[A-Z][\w&/-]*(?: [A-Z][\w&/-]*)*"
    r"|(?<=\bwith )[A-Z]\w*(?: \w+)?:(?=[\s.!]|$)"  # "start with Summary:"
    r"|#{1,6} [A-Z][\w&-]*(?: [A-Z][\w&-]*)*"  # "add ## Risks"
    r"|\b[A-Z]{2,}-\d[\w-]*\b"  # "mention ACC-4471"
)


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with a private-use sign in place of each name, and the names."""

    text: str
    names: tuple[str, ...]
    """As written; `closing` of them ends the text, so that its last full stop may be the sentence's own."""
    closing: int | None = None

    def name(self, sign: str) -> str:
        return self.names[ord(sign) - _FIRST]

    def stem(self, sign: str) -> str:
        """The name without a full stop or comma that American typesetting put inside the marks ('mention "X."')."""
        name = self.name(sign)
        own_stop = ord(sign) - _FIRST == self.closing and len(name) > 1 and name[-1] in ".," and name[-2] != "."
        return name[:-1] if own_stop else name


def mask_names(text: str) -> Masked:
    """Take quoted names, then a few unmistakable unquoted ones, out of a text."""
    clean = re.sub(NAME, " ", text)
    names: list[str] = []

    def take(match: re.Match[str]) -> str:
        name = next((group for group in match.groups() if group is not None), match.group()).strip()
        if not name or len(names) >= _LIMIT:
            return match.group()
        names.append(name)
        return chr(_FIRST + len(names) - 1)

    masked = _QUOTED.sub(take, clean)
    masked = re.sub(_UNQUOTED, take, masked)
    last = masked.rstrip()[-1:]
    closing = ord(last) - _FIRST if re.match(NAME, last) else None
    return Masked(text=masked, names=tuple(names), closing=closing)
