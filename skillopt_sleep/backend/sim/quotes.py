"""Quotations in a sentence, and what each is wanted *as*: a heading, a line, an opening, a tool, ...

That is decided by the words around it, so quotations are replaced by numbered marks first: words inside them must not
be taken for the sentence's own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from skillopt_sleep.backend.sim.aims import (
    Aim,
    Closing,
    Instruction,
    Json,
    Line,
    Mention,
    Opening,
    Section,
    UseTool,
    Whole,
)
from skillopt_sleep.backend.sim.negation import wanted
from skillopt_sleep.backend.sim.statements import QUOTED, quotation

_MARK = re.compile(r"⟦(\d+)⟧")
_NEARBY = 300
"""Characters around a quotation that can say what it is. Keeps a clause without end from being read again and again."""
_NO_MARKS = str.maketrans("⟦⟧", "()")
_TITLE = r"[A-Z][\w/&-]*(?:\s+(?:[A-Z][\w/&-]*|(?:and|of|for|the|to)(?=\s+[A-Z])))*"
_NAKED_NAMES = (
    re.compile(rf"\b(?:called|named|titled|headed|entitled|labell?ed)\s+(?P<name>{_TITLE})"),
    re.compile(rf"(?<![#`\"\w])(?P<name>#{{1,6}}\s+{_TITLE})"),
)


@dataclass(frozen=True, slots=True)
class Quote:
    """A quotation without its marks."""

    text: str
    bold: bool = False


def mask(sentence: str) -> tuple[str, list[Quote]]:
    """The sentence with each quotation replaced by a numbered mark, and the quotations.

    A name that is not quoted but plainly one ("a section called Next Steps", "## Next Steps") counts as quoted.
    """
    quotes: list[Quote] = []
    sentence = sentence.translate(_NO_MARKS)

    def remember(match: re.Match[str]) -> str:
        quotes.append(Quote(quotation(match), bold=match["bold"] is not None))
        return f"⟦{len(quotes) - 1}⟧"

    def remember_name(match: re.Match[str]) -> str:
        quotes.append(Quote(match["name"].strip()))
        return match[0].removesuffix(match["name"]) + f"⟦{len(quotes) - 1}⟧"

    masked = QUOTED.sub(remember, sentence)
    for pattern in _NAKED_NAMES:
        masked = pattern.sub(remember_name, masked)
    return masked, quotes


@dataclass(frozen=True, slots=True)
class _Run:
    """Quotations that are listed together and so are wanted as the same thing."""

    quotes: tuple[Quote, ...]
    before: str
    """The clause up to the run, as far as it is near."""
    nearest: str
    """The words between the quotation before the run and the run."""
    after: str
    is_choice: bool
    """Joined by "or": one of them is enough."""


_JOINED = re.compile(r"\s*(?:\(\w+\))?\s*(?:,|,?\s*(?:and|then|&|(?P<choice>or)))\s*(?:an?\s+|the\s+)?", re.IGNORECASE)


def read_quotes(clause: str, quotes: Sequence[Quote]) -> tuple[list[Instruction], str | None]:
    """The instructions that a clause's quotations stand for, and the quotation that is an example, if one is."""
    found: list[Instruction] = []
    example: str | None = None
    for run in _runs(clause, quotes):
        kind = _kind(run)
        if kind == "example":
            example = example or run.quotes[0].text
            continue
        is_wanted = wanted(run.before)
        # Of what is offered as a choice the first is as good as any; of what is forbidden, all of it is.
        chosen = run.quotes[:1] if run.is_choice and is_wanted else run.quotes
        found += [Instruction(aim, is_wanted) for quote in chosen if (aim := _aim(kind, quote)) is not None]
    return found, example


def _runs(clause: str, quotes: Sequence[Quote]) -> list[_Run]:
    marks = list(_MARK.finditer(clause))
    groups: list[list[re.Match[str]]] = [[mark] for mark in marks[:1]]
    choices = [False]
    for one, following in pairwise(marks):
        joined = _JOINED.fullmatch(clause, one.end(), following.start())
        if joined:
            groups[-1].append(following)
            choices[-1] = choices[-1] or joined["choice"] is not None
        else:
            groups.append([following])
            choices.append(False)
    runs, end = [], 0
    for group, is_choice in zip(groups, choices, strict=False):
        first, last = group[0].start(), group[-1].end()
        members = tuple(quotes[int(mark[1])] for mark in group)
        before, after = clause[max(0, first - _NEARBY) : first], clause[last : last + _NEARBY]
        runs.append(_Run(members, before, clause[end:first][-_NEARBY:], after, is_choice))
        end = last
    return runs


_CUES = re.compile(
    r"(?:\b(?P<example>for example|for instance|such as|example)|(?P<eg>e\.g\.)"
    r"|\b(?:(?P<tool>(?:call|run|invoke|query|consult)(?:s|ing)?|tools?)"
    r"|(?P<whole>(?:whole|entire) (?:reply|answer|response)|exactly|only with|nothing but)"
    r"|(?P<section>(?:sub)?sections?|headings?|headlines?|headers?|headed|titled|entitled)"
    r"|(?P<line>lines?|labels?|labell?ed|fields?|of the form|format|marked)"
    r"|(?P<opening>beg[iu]n\w*|start\w*|open\w*|first)"
    r"|(?P<closing>end|ends|ending|clos(?:e|es|ing)|finish\w*|conclud\w*|last)"
    r"|(?P<keys>keys?|properties|object with)"
    r"|(?P<mention>includ\w*|mention\w*|contain\w*|says?|stat(?:e|es|ing)|us(?:e|es|ing)|add|adding|writ(?:e|ing)|put"
    r"|cit(?:e|ing)|nam(?:e|ing)|giv(?:e|ing)|show|words?|phrases?|text|terms?|expressions?|strings?|avoid\w*"
    r"|omit\w*|instead of|rather than))\b)",
    re.IGNORECASE,
)
_CUES_AFTER = re.compile(
    r"\s*(?:as (?:the|an?) )?(?:(?P<section>sections?|headings?|headers?)|(?P<tool>tool|function)|(?P<keys>keys?)"
    r"|(?P<line>lines?|labels?|on (?:a line of )?its own)"
    r"|(?:[oi]n|as|at) the (?:very )?"
    r"(?:(?P<opening>first line|start|top|beginning)|(?P<closing>last line|end|bottom)))\b",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"[^\s:][^:\n]{0,40}:(?!//)")
_HEADING = re.compile(r"#{1,6}\s+(?P<name>.+)")


def _kind(run: _Run) -> str:
    """What a run is wanted as; "" where nothing around it says so. The nearest word decides, with one exception."""
    after = _CUES_AFTER.match(run.after)
    if after and after.lastgroup:
        return after.lastgroup
    cues = [cue.lastgroup or "" for cue in _CUES.finditer(run.nearest)]
    if not cues:
        return ""
    if cues[-1] in ("example", "eg"):
        return "example"
    edge = next((cue for cue in cues if cue in ("opening", "closing")), None)
    if edge and cues[-1] in ("line", "mention", edge):
        # "begin with a line X" is about the beginning, "a line beginning with X" is about a line.
        return "line" if "line" in cues and cues.index("line") < cues.index(edge) else edge
    return cues[-1]


def _aim(kind: str, quote: Quote) -> Aim | None:
    text = quote.text
    if quote.bold and kind not in ("section", "line"):
        return None  # just loud
    if heading := _HEADING.fullmatch(text):
        return Section(heading["name"].strip())
    if kind == "line" or (kind == "mention" and _LABELLED.match(text)):
        return Line(filled(text))
    aims: dict[str, Aim] = {
        "section": Section(text.rstrip(":")),
        "opening": Opening(filled(text, label="")),
        "closing": Closing(filled(text, label="")),
        "mention": Mention(text),
        "tool": UseTool(text.removesuffix("()")),
        "keys": Json(keys=(text,)),
        "whole": Whole(filled(text)),
    }
    return aims.get(kind)


_PLACEHOLDER = re.compile(r"<([^<>\n]+)>|\[([^\[\]\n]+)\]|\{([^{}\n]+)\}|(?<=[\s:])(?:…|\.\.\.|_{2,})")
_NUMERIC = re.compile(r"\bn\b|number|percent|\d", re.IGNORECASE)


def filled(text: str, *, label: str = " moderate") -> str:
    """A form with its blanks filled in: "Label: <low|high>" -> "Label: low". `label` follows a label without value."""

    def fill(match: re.Match[str]) -> str:
        blank = next((group for group in match.groups() if group), "")
        options = [option.strip() for option in re.split(r"\||/|,| or ", blank) if option.strip()]
        if len(options) > 1:
            return options[0]
        return "7" if _NUMERIC.search(blank) else "moderate"

    whole = _PLACEHOLDER.sub(fill, text).strip()
    return whole + label if whole.endswith(":") else whole


def shown_by(example: str) -> Aim:
    """What an example asks for where the sentence that it illustrates names nothing."""
    first = example.strip().split("\n")[0].strip()
    if first[:1] in ("{", "["):
        return Json(sample=example)
    if heading := _HEADING.fullmatch(first):
        return Section(heading["name"])
    return Line(filled(first)) if _LABELLED.match(first) else Mention(first)


def illustrated(aim: Aim, example: str) -> Aim:
    """The aim in the words of the example, where the example shows the same line."""
    if not isinstance(aim, Line):
        return aim
    lines = [Line(filled(line.strip().strip("*"))) for line in example.split("\n")]
    return next((line for line in lines if line.label == aim.label), aim)
