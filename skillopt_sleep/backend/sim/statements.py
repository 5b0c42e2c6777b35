"""A prompt's text -> the single statements in it, each with the example that illustrates it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

QUOTED = re.compile(
    r"(?P<fence>`{1,2})(?P<code>[^`\n]+)(?P=fence)"
    r"|\"(?P<double>[^\"\n]+)\"|“(?P<curly>[^”\n]+)”"
    r"|\*\*(?P<bold>[^*\n]+)\*\*|(?<!\w)'(?P<single>[^'\n]+)'(?!\w)"
)
"""Quotations. What is bold may be one, or may just be loud; the reader decides from what stands around it."""

_FRONT_MATTER = re.compile(r"(?:\A|(?<=<skill>\n))\s*---[ \t]*\n.*?\n---[ \t]*$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"</?[a-z_]+>")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_SENTENCE_END = re.compile(r"[.!?][\"”'`)\]]*\s+(?=[\"“'`*(\[A-Z])")
_ABBREVIATION = re.compile(r"(?:\be\.g|\bi\.e|\betc|\bvs|\bcf)\.\Z", re.IGNORECASE)
_EXAMPLE = re.compile(r"\(?\s*(?:for example|for instance|example|e\.g\.)\s*[:,]?\s*", re.IGNORECASE)


@dataclass(slots=True)
class Statement:
    """One sentence, and the text of an example that follows it."""

    text: str
    example: str | None = None


@dataclass(slots=True)
class _Paragraph:
    lines: list[str] = field(default_factory=list)
    fenced: list[str] | None = None


def statements(text: str) -> tuple[Statement, ...]:
    """All statements in order. Front matter, comments, tags and headings state nothing."""
    plain = _COMMENT.sub("", _FRONT_MATTER.sub("", text.replace("\r\n", "\n")))
    found: list[Statement] = []
    for paragraph in _paragraphs(plain):
        sentences = _with_examples(_sentences(" ".join(paragraph.lines)))
        if paragraph.fenced is not None:
            # A block after a colon, or after a blank line, belongs to what was said last.
            last = sentences[-1] if sentences else (found[-1] if found else None)
            if last is not None and last.example is None:
                last.example = "\n".join(paragraph.fenced)
        found += sentences
    return tuple(found)


def _paragraphs(text: str) -> Iterator[_Paragraph]:
    current = _Paragraph()
    fenced: list[str] | None = None
    for line in text.split("\n"):
        if fenced is not None:
            if _FENCE.match(line):
                current.fenced, fenced = fenced, None
                yield current
                current = _Paragraph()
            else:
                fenced.append(line.strip())
        elif _FENCE.match(line):
            fenced = []
        elif not line.strip() or _TAG.fullmatch(line.strip()) or re.match(r"\s*#{1,6}\s", line):
            yield current
            current = _Paragraph()
        elif item := _ITEM.match(line):
            yield current
            current = _Paragraph([line[item.end() :].strip()])
        else:
            current.lines.append(line.strip())
    yield current


def _sentences(paragraph: str) -> list[str]:
    quotations = [match.span() for match in QUOTED.finditer(paragraph)]
    pieces, start = [], 0
    for end in _SENTENCE_END.finditer(paragraph):
        inside = any(begin < end.start() and end.end() <= stop for begin, stop in quotations)
        if inside or _ABBREVIATION.search(paragraph[max(0, end.start() - 5) : end.start() + 1]):
            continue
        pieces.append(paragraph[start : end.end()].strip())
        start = end.end()
    pieces.append(paragraph[start:].strip())
    return [piece for piece in pieces if piece]


def _with_examples(sentences: list[str]) -> list[Statement]:
    found: list[Statement] = []
    for sentence in sentences:
        lead = _EXAMPLE.match(sentence)
        if lead and found:
            found[-1].example = unquoted(sentence[lead.end() :])
        else:
            found.append(Statement(sentence))
    return found


def unquoted(text: str) -> str:
    """The first quotation in a text, without its marks; the text itself where it quotes nothing."""
    match = QUOTED.search(text)
    return quotation(match) if match else text.strip().rstrip(".)")


def quotation(match: re.Match[str]) -> str:
    """What stands between the marks."""
    groups = match.groupdict()
    return next(
        groups[name] for name in ("code", "double", "curly", "bold", "single") if groups[name] is not None
    ).strip()
