"""The text of a rule: its tidy form, what makes it unfit for a document, and when two rules are the same. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

# --- form -------------------------------------------------------------------------------------------------------------

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r"\s{0,3}(?:#{1,6}(?:\s|$)|(?:=+|-{2,}|\*{3,}|_{3,})\s*$)")
_HIDDEN = re.compile(r"[\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
"""Characters that reorder or hide text: a reviewer would not see what the agent reads."""


def tidy(text: str) -> str:
    """A rule's text with Unix line ends, no trailing blanks, and no list marker of its own."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")]
    lines[0] = re.sub(r"^[-*+]\s+", "", lines[0])
    return "\n".join(lines)


def why_unfit(text: str) -> str | None:
    """Why a text cannot stand as a rule in a document, in words; None where it can."""
    lines = tidy(text).split("\n")
    unindented = [line.lstrip() for line in lines]
    heads = [bool(_HEADING.match(line)) and not code for line, code in zip(lines, fenced(unindented), strict=True)]
    controls = (c for c in text if unicodedata.category(c) == "Cc" and c not in "\t\r\n")
    objections = (
        (lines[0] in ("", "-", "*", "+"), "it is empty, or begins with an empty list item"),
        (lines[0].startswith("---"), "it brings its own front matter"),
        ("<!--" in text or "-->" in text, "it holds an HTML comment, which could break the managed region"),
        (_HIDDEN.search(text) or any(controls), "it holds control characters"),
        (_FENCE.match(lines[0]), "it begins with a code block; a rule begins with a sentence"),
        (any(heads), "it brings a heading of its own"),
        (ends_in_fence(unindented), "a code block in it is never closed"),
    )
    return next((reason for applies, reason in objections if applies), None)


def fenced(lines: Iterable[str]) -> Iterator[bool]:
    """For each line, whether it belongs to a fenced code block (the fences themselves do).

    Follows CommonMark 0.31, section 4.5: a closing fence repeats the opening character at least as often and carries
    nothing else; the info string of a backtick fence holds no backtick.
    """
    opened: str | None = None
    for line in lines:
        opened, code = _step(opened, line)
        yield code


def ends_in_fence(lines: Iterable[str]) -> bool:
    """Whether a code block is still open after the last line."""
    opened: str | None = None
    for line in lines:
        opened, _ = _step(opened, line)
    return opened is not None


def _step(opened: str | None, line: str) -> tuple[str | None, bool]:
    mark = _FENCE.match(line.rstrip("\r\n"))
    if opened is None:
        if mark is None or (mark[1][0] == "`" and "`" in mark[2]):
            return None, False
        return mark[1], True
    closes = mark is not None and mark[1][0] == opened[0] and len(mark[1]) >= len(opened) and not mark[2].strip()
    return (None if closes else opened), True


# --- sameness ---------------------------------------------------------------------------------------------------------

_QUOTED = re.compile(
    r"“([^”\n]+)”|\"([^\"\n]+)\"|`([^`\n]+)`|«([^»\n]+)»|「([^」\n]+)」|『([^』\n]+)』|\*\*([^*\n]+)\*\*"
    r"|(?<!\w)'([^'\n]+)'(?!\w)|(?<!\w)‘([^’\n]+)’(?!\w)|„([^“”\n]+)[“”]"
)
_NAME_MARK = "\x00"
_CLAUSE_END = re.compile(r"(?<=[^\d])[.:;!](?:\s|$)|[。；！]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts whose words are not set apart by spaces (or carry endings, as in Korean): compared by pairs of letters."""

_NOT = r"(?:\b(?:never|not|cannot|no)\b|n['’]t\b)"
_AFFIRMED = re.compile(
    rf"{_NOT}\s+(?:\w+\s+){{0,2}}?(?:omit|skip|drop|exclud|remov|avoid|forget|fail|leav\w*\s+out)\w*"
    rf"|{_NOT}[^.;\n]*?\bwithout\b"
)
"""Two negations that cancel out: "never omit", "do not reply without"."""
_NEGATED = re.compile(
    rf"{_NOT}|\b(?:without|avoid|omit|refrain|stop|drop|skip|exclud|remov|forbid|leave\s+out)\w*"
    r"|\b(?:nicht|kein\w*|nie|niemals|ohne|vermeid\w*|pas|jamais|sans|évit\w*|nunca|jamás|sin|evit\w*|não|sem"
    r"|не|никогда|без|избега\w*)\b|不|别|勿|禁止|避|ない|ません|なし|않|없|마세요"
)
_AT_MOST = re.compile(
    rf"{_NOT}\s+(?:\w+\s+){{0,3}}?(?:more|longer|larger|over|exceed\w*)(?:\s+than)?\b|\bwithout\s+exceeding\b"
    r"|\b(?:at\s+most|up\s+to|(?:fewer|less|shorter|smaller)\s+than|under|below|within|max(?:imum)?|limit\w*\s+to"
    r"|or\s+(?:fewer|less))\b"
)
_AT_LEAST = re.compile(
    rf"{_NOT}\s+(?:\w+\s+){{0,3}}?(?:fewer|less|shorter|smaller|under|below)(?:\s+than)?\b"
    r"|\b(?:at\s+least|(?:more|longer|larger)\s+than|over|above|exceed\w*|min(?:imum)?|or\s+more)\b"
)
_PLACES = {
    "start": re.compile(r"\b(?:start|begin|open|first|top|prefix)\w*"),
    "end": re.compile(
        r"\b(?:end|ends|ending|finish|finishes|close|closes|closing|conclud\w*|last|bottom|final|finally)\b"
    ),
}
_SIDES = re.compile(r"\b(?:before|after|upper|lower|ascending|descending)")

_COUNTS = {
    word: str(n) for n, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)
}
_UNITS = frozenset("word character sentence line bullet item point paragraph step page section example token".split())
_SYNONYMS = {"brief": "short", "concise": "short", "terse": "short", "char": "character", "headline": "title"}
_FILLER = frozenset(
    "a an the and or of to in on at for with by from into is are be been it its this that these those there here as "
    "make made sure ensure always every each all any some only just also please must should shall will would can may "
    "need have has do does so if then when you your user we our they their own one single really explicitly clearly "
    "reply replies answer answers response responses output outputs text message result "
    "include includes included including contain contains containing add adds added put puts write writes written give "
    "gives provide provides use uses using insert state mention mentions keep keeps carry feature show head headed "
    "heading headings header entitled called titled named title label labelled labeled named "
    "never not no without avoid omit omits skip drop exclude remove leave out refrain cannot don't doesn't mustn't "
    "shouldn't can't won't forget fail at least most more than fewer less under over within up maximum minimum exceed "
    "longer shorter than limit limited".split()
)


def same_rule(one: str, other: str) -> bool:
    """Whether two rules ask for the same thing in other words.

    What a rule turns on must agree: whether it forbids, its quoted names, its numbers with their units and bounds, and
    the place it speaks of. What then remains of the wording, without filler and endings, must overlap. Only the first
    paragraph counts: an example does not make another rule, unless it is all that differs.

    A heuristic for English that degrades to letter pairs in unspaced scripts. It errs towards "different": a rule that
    slips through is judged by the gate again, a rule wrongly called the same is lost.
    """
    if tidy(one).casefold().split() == tidy(other).casefold().split():
        return True
    a, b = _gist(one), _gist(other)
    if not a.names or not b.names:
        a, b = _with_names(a, b.names), _with_names(b, a.names)
    if (a.negated, a.names, a.numbers, a.places) != (b.negated, b.names, b.numbers, b.places):
        return False
    if _torn(a.bounds, b.bounds) or _torn(a.units, b.units) or _torn(a.sides, b.sides):
        return False
    anchored = bool(a.names or a.numbers)
    if not anchored and a.code and b.code and a.code != b.code:
        return False
    if not a.words or not b.words:
        return anchored or a.words == b.words
    return len(a.words & b.words) / len(a.words | b.words) >= (0.5 if a.names else 0.6)


@dataclass(frozen=True, slots=True)
class _Gist:
    """What a rule comes down to."""

    prose: str
    code: str
    names: frozenset[str]
    numbers: frozenset[str] = frozenset()
    units: frozenset[str] = frozenset()
    bounds: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()
    sides: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    negated: bool = False


def _gist(text: str) -> _Gist:
    head, _, rest = unicodedata.normalize("NFKC", text).strip().partition("\n\n")
    head, _, example = head.partition("```")
    found = (next(group for group in match if group) for match in _QUOTED.findall(head))
    names = frozenset(name for raw in found if (name := _plain_name(raw)))
    return _read(_QUOTED.sub(f" {_NAME_MARK} ", head).casefold(), code=" ".join((example + rest).split()), names=names)


def _with_names(gist: _Gist, names: frozenset[str]) -> _Gist:
    """A rule that leaves its names unquoted, read with the names that the other rule quotes."""
    if gist.names or not names or not all(re.search(rf"(?<!\w){re.escape(n)}(?!\w)", gist.prose) for n in names):
        return gist
    prose = gist.prose
    for name in sorted(names, key=len, reverse=True):
        prose = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", f" {_NAME_MARK} ", prose)
    return replace(_read(prose, code=gist.code, names=names), prose=gist.prose)


def _read(prose: str, *, code: str, names: frozenset[str]) -> _Gist:
    """Take apart what is left when the quoted names are out. Bounds go first: "no more than" forbids nothing."""
    counted = re.sub(r"\b(?:one|single)\b(?=\s+\w*\s*(?:sentence|line|word|paragraph|bullet))", "1", prose)
    counted = re.sub(r"\b\w+\b", lambda match: _COUNTS.get(match[0], match[0]), counted)
    below, unbound = _AT_MOST.search(counted), _AT_MOST.sub(" ", counted)
    above, unbound = _AT_LEAST.search(unbound), _AT_LEAST.sub(" ", unbound)
    numbers = frozenset(_NUMBER.findall(counted))
    placed = {place for place, pattern in _PLACES.items() if pattern.search(counted)}
    words = frozenset(_stems(_PLACES["end"].sub(" ", _PLACES["start"].sub(" ", _core(counted)))))
    return _Gist(
        prose=prose,
        code=code,
        names=names,
        numbers=numbers,
        units=words & _UNITS if numbers else frozenset(),
        bounds=frozenset(name for name, hit in (("most", below), ("least", above)) if hit),
        places=frozenset(placed),
        sides=frozenset(_SIDES.findall(counted)),
        words=words,
        negated=bool(_NEGATED.search(_AFFIRMED.sub(" ", unbound))),
    )


def _core(prose: str) -> str:
    """The clauses that hold a number or a quoted name (its place is marked). Framing around them is no part of it."""
    clauses = [clause for clause in _CLAUSE_END.split(prose) if _NAME_MARK in clause or _NUMBER.search(clause)]
    return " ".join(clauses) or prose


def _torn(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether both say something, and not the same."""
    return bool(one and other and one != other)


def _plain_name(raw: str) -> str:
    """A quoted name without case, Markdown decoration and closing punctuation ("## Risks:" is "risks")."""
    return " ".join(raw.casefold().split()).strip("#*:.,; ")


def _stems(prose: str) -> Iterator[str]:
    for word in _WORD.findall(prose):
        if _UNSPACED.search(word):
            yield from (word[n : n + 2] for n in range(max(1, len(word) - 1)))
        elif word.replace("’", "'") not in _FILLER and (stem := _stem(word)) not in _FILLER:
            yield _SYNONYMS.get(stem, stem)


def _stem(word: str) -> str:
    """English endings off, roughly: enough to see that "headings" and "heading" are one word."""
    for ending in ("ings", "ing", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
