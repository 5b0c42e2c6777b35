"""Where things stand in a document: its lines, its front matter, the managed region and the rules in it. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillopt_sleep.domain.base import short_hash
from skillopt_sleep.domain.errors import InputError
from skillopt_sleep.domain.skills import Rule
from skillopt_sleep.ruletext import ends_in_fence, fenced

BOM = "\ufeff"
_LONGEST_RULE = 1200  # the limit of `domain.skills.RuleText`
_MARK = re.compile(r" {0,3}<!--\s*skillopt-sleep:(?P<word>begin|end)(?:\s+lead=(?P<lead>[0-2]))?\s*-->\s*$")
_LIKE_A_MARK = re.compile(r" {0,3}(?![ \t]).*<!--\s*skillopt-sleep:")
_CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_ITEM = re.compile(r"[-*+] +(?P<text>.*?)\s*(?P<comment><!--\s*rule:(?P<id>[\w-]{1,40})\s*-->\s*)?$")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$")
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Span:
    """Lines [start, stop) of one rule, counted from the beginning of the document."""

    rule: Rule
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Region:
    """Numbers of the marker lines, and the line ends that were added before the first."""

    begin: int
    end: int
    lead: int


def split_lines(data: bytes, path: Path) -> list[str]:
    """The lines of a document with their own line ends. Raises `InputError` for bytes that are not UTF-8."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (byte {error.start}).", hint="Save it as UTF-8, then try again."
        ) from error
    return _LINE.findall(text)


def line_end(lines: Sequence[str]) -> str:
    """The line end that most lines have."""
    counts = Counter(_LINE_END.findall("".join(lines)))
    return counts.most_common(1)[0][0] if counts else "\n"


def front_matter(lines: Sequence[str]) -> dict[str, str]:
    """The texts of the front matter. Tolerant: many hand-written descriptions are not quite YAML."""
    stop = _front_matter_stop(lines)
    if not stop:
        return {}
    import yaml

    source = "\n".join(line.rstrip("\r\n") for line in lines[1 : stop - 1])
    try:
        found: object = yaml.load(source, Loader=yaml.BaseLoader)  # reads every scalar as text, runs nothing
    except (yaml.YAMLError, RecursionError):
        found = dict(re.findall(r"^([\w-]+):[ \t]*(\S.*?)[ \t]*$", source, re.MULTILINE))
    pairs = found.items() if isinstance(found, dict) else ()
    return {key: " ".join(text.split()) for key, text in pairs if isinstance(text, str) and text.strip()}


def ends_in_code(lines: Sequence[str]) -> bool:
    """Whether the document ends inside a fenced code block that nobody closed."""
    return ends_in_fence(line for _, line, _ in _body(lines))


def _front_matter_stop(lines: Sequence[str]) -> int:
    """How many lines the front matter takes, fences included; 0 where there is none."""
    if not lines or lines[0].removeprefix(BOM).rstrip() != "---":
        return 0
    return next((number + 1 for number, line in enumerate(lines) if number and line.rstrip() == "---"), 0)


def _body(lines: Sequence[str]) -> Iterator[tuple[int, str, bool]]:
    """Every line after the front matter: its number from 0, its text, and whether it is code in a fence."""
    start = _front_matter_stop(lines)
    body = [line if number else line.removeprefix(BOM) for number, line in enumerate(lines)][start:]
    yield from zip(range(start, len(lines)), body, fenced(body), strict=True)


def find_region(lines: Sequence[str], path: Path) -> Region | None:
    """The managed region. Markers inside fenced code are text about markers, not markers."""
    marks: list[tuple[str, int, int]] = []
    for number, line, code in _body(lines):
        if code or "skillopt-sleep:" not in line:
            continue
        if mark := _MARK.match(line):
            marks.append((mark["word"], number, int(mark["lead"] or 0)))
        elif _LIKE_A_MARK.match(_CODE_SPAN.sub("", line)):
            marks.append(("damaged", number, 0))
    if not marks:
        return None
    if [word for word, _, _ in marks] == ["begin", "end"]:
        (_, begin, lead), (_, end, _) = marks
        return Region(begin=begin, end=end, lead=lead)
    raise InputError(
        f"{path}: the markers of the managed region are damaged "
        f"(line{'s' if len(marks) > 1 else ''} {', '.join(str(number + 1) for _, number, _ in marks)}).",
        hint="There must be one `skillopt-sleep:begin` line and, after it, one `skillopt-sleep:end` line, or neither.",
    )


def find_rules(lines: Sequence[str], region: Region | None) -> tuple[Span, ...]:
    if region is None:
        return ()
    inside = range(region.begin + 1, region.end)
    code = list(fenced(lines[number] for number in inside))
    spans: list[Span] = []
    number = inside.start
    while number < inside.stop:
        start = number
        number += 1
        item = _ITEM.match(lines[start].rstrip("\r\n"))
        if item is None or code[start - inside.start]:
            continue
        while number < inside.stop and (_indented(lines[number]) or _blank_inside(lines, number, inside.stop)):
            number += 1
        more = [re.sub(r"^(?:  |\t)", "", line).rstrip() for line in lines[start + 1 : number]]
        text = "\n".join([item["text"], *more])
        if item["text"] and len(text) <= _LONGEST_RULE:  # anything else stands there untouched, as a person wrote it
            taken = {span.rule.id for span in spans}
            id_ = item["id"] if item["id"] and item["id"] not in taken else free_id(text, taken)
            spans.append(Span(Rule(id=id_, text=text), start, number))
    return tuple(spans)


def _indented(line: str) -> bool:
    return line.startswith(("  ", "\t")) and bool(line.strip())


def _blank_inside(lines: Sequence[str], number: int, end: int) -> bool:
    """A blank line belongs to a rule when an indented line of the same rule follows."""
    rest = (line for line in lines[number:end] if line.strip())
    return not lines[number].strip() and _indented(next(rest, ""))


def free_id(text: str, taken: set[str]) -> str:
    """A rule's id: the hash of its text at birth, numbered where that is taken."""
    birth = short_hash(text)
    return next(id_ for id_ in (birth, *(f"{birth}-{n}" for n in range(2, len(taken) + 3))) if id_ not in taken)


def plain_lines(lines: Iterable[str]) -> list[str]:
    """Lines for comparison: no markers, ids, list marks, case or closing full stops; empty ones left out."""
    bare = (re.sub(r"<!--\s*rule:[\w-]+\s*-->", "", line) for line in lines if not _MARK.match(line))
    found = (" ".join(re.sub(r"^\s*[-*+]\s+", "", line).split()).casefold().rstrip(".") for line in bare)
    return [line for line in found if line]


def without_lead(before: str, lead: int, following: Sequence[str]) -> str:
    """What stood before a region, without the line ends that were added there.

    They are recognised as ours only while they still set the region apart: where a person has written around it since,
    taking them away could join two paragraphs or eat the end of a line.
    """
    ends = [match.start() for match in _LINE_END.finditer(before)]
    blank_before = len(ends) > 1 and _LINE_END.sub("", before[ends[-2] :]) == ""
    if following:
        lead = min(lead, 1) if not following[0].strip() else 0
    return before[: ends[-lead]] if lead and blank_before else before
