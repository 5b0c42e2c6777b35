"""What makes two rules the same, and what makes a text unfit to be a rule. Pure."""

from __future__ import annotations

import re

_QUOTED = re.compile(r"“([^”]+)”|\"([^\"]+)\"|`([^`]+)`|«([^»]+)»|(?<!\w)'([^']+)'(?!\w)|(?<!\w)‘([^’]+)’(?!\w)")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_NEGATION = re.compile(
    r"\b(?:never|not|no|without|avoid|omit|refrain|cannot|stop|drop|skip|exclude|(?:do|does|must|should|ca|wo)n['’]t)\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_FILLER = frozenset(
    "a an the and or of to in on at for with is are be it its this that there make sure always every each all any "
    "please must should shall will do does reply replies answer answers response responses include includes included "
    "including contain contains containing add adds have has headed called titled named use uses using your you when "
    "never not no without avoid omit".split()
)


def same_rule(one: str, other: str) -> bool:
    """Whether two rules ask for the same thing in other words.

    The same polarity, the same quoted names and the same numbers are required; what remains of the wording, without
    filler and endings, must be close. Only the first paragraph counts: an example does not make another rule.
    """
    from rapidfuzz import fuzz

    a, b = _Gist(one), _Gist(other)
    if (a.negated, a.names, a.numbers) != (b.negated, b.names, b.numbers):
        return False
    if not a.words or not b.words:
        return bool(a.names or a.numbers) or a.words == b.words
    alike = fuzz.token_set_ratio(" ".join(sorted(a.words)), " ".join(sorted(b.words)))
    return alike >= (60 if a.names else 85)


def why_unfit(text: str) -> str | None:
    """Why a text cannot stand as a rule in a document, in words; None where it can."""
    if not text.strip():
        return "it is empty"
    if text.lstrip().startswith("---"):
        return "it brings its own front matter"
    if "<!--" in text or "-->" in text:
        return "it holds an HTML comment, which could break the markers of the managed region"
    if any(ord(char) < 32 and char not in "\n\t" for char in text) or "\x7f" in text:
        return "it holds control characters"
    fence: str | None = None
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and fence is None:
            fence = mark[1][0]
        elif mark and mark[1][0] == fence:
            fence = None
        elif fence is None and re.match(r"\s{0,3}#{1,6}\s", line):
            return "it brings a heading of its own"
    return "a code block in it is never closed" if fence else None


def tidy(text: str) -> str:
    """A rule's text with Unix line ends, no trailing blanks, and no list marker of its own."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")]
    lines[0] = re.sub(r"^[-*+]\s+", "", lines[0])
    return "\n".join(lines)


class _Gist:
    """What a rule comes down to."""

    def __init__(self, text: str) -> None:
        first = text.strip().split("\n\n")[0].split("```")[0]
        self.names = frozenset(
            " ".join(next(group for group in match if group).casefold().split()).strip(":. ")
            for match in _QUOTED.findall(first)
        )
        bare = _QUOTED.sub(" ", first)
        self.numbers = frozenset(_NUMBER.findall(bare))
        self.negated = bool(_NEGATION.search(bare))
        words = (word.casefold() for word in _WORD.findall(bare))
        self.words = frozenset(_stem(word) for word in words if word not in _FILLER)


def _stem(word: str) -> str:
    """English endings off, roughly: enough to see that "headings" and "heading" are one word."""
    for ending in ("ings", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
