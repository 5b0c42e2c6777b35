"""What a clause asks for without quoting anything: counts, tools, JSON, shapes, tone, and topics named in passing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from skillopt_sleep.backend.sim.aims import Aim, Instruction, Json, Length, Section, Shape, Tone, Topic, UseTool
from skillopt_sleep.backend.sim.negation import wanted

_BELOW = (
    r"(?:at or )?under|(?:at or )?below|at most|within|up to|(?:no|not) (?:more|longer) than"
    r"|(?:fewer|less|shorter) than|max(?:imum)?(?: of)?|limit(?:ed)?\b(?:\s\w+){0,4}? to"
    r"|(?:keep|stay)\b(?:\s\w+){0,4}? (?:to|at)|capp?(?:ed)? at|(?:not|never) exceed"
)
_ABOVE = (
    r"at least|over|above|(?:more|longer) than|exceed(?:ing)?|min(?:imum)?(?: of)?"
    r"|(?:no|not) (?:fewer|less) than|beyond"
)
_NUMBER_OF = r"(?P<n>\d[\d,]*)[\s-]+(?P<unit>char|word)\w*"
_COUNTS = (
    re.compile(
        rf"\b(?:(?P<below>{_BELOW})|(?P<above>{_ABOVE}))\s+(?:about |roughly |a total of )?{_NUMBER_OF}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_NUMBER_OF}\s*,?\s*(?:(?P<below>or (?:less|fewer)|at most|max\w*|limit|cap\b)"
        r"|(?P<above>or more|at least|min\w*))",
        re.IGNORECASE,
    ),
)
_BETWEEN = re.compile(rf"\bbetween (?P<low>\d[\d,]*) and {_NUMBER_OF}", re.IGNORECASE)


def counted(clause: str) -> Iterator[Instruction]:
    """Bounds on the length of the reply, in characters or words."""
    for match in _BETWEEN.finditer(clause):
        yield Instruction(Length("min", _number(match["low"]), _unit(match)))
        yield Instruction(Length("max", _number(match["n"]), _unit(match)))
    for pattern in _COUNTS:
        for match in pattern.finditer(clause):
            # "not more than" bounds from above as "less than" does.
            is_max = (match["below"] is not None) == wanted(clause[: match.start()])
            yield Instruction(Length("max" if is_max else "min", _number(match["n"]), _unit(match)))


def _number(digits: str) -> int:
    return int(digits.replace(",", ""))


def _unit(match: re.Match[str]) -> Literal["characters", "words"]:
    return "characters" if match["unit"].lower() == "char" else "words"


_TOPIC = (
    r"(?:the |any |an? |its |your |possible |main |all |how )*"
    r"(?P<topic>[a-z][\w-]+(?: (?!and\b|or\b|in\b|of\b)[a-z][\w-]+)?)"
)
_TOPIC_SECTION = re.compile(rf"\b(?:sections?|paragraphs?|parts?)\s+(?:on|about|for|covering|discussing)\s+{_TOPIC}")
_TOPIC_MENTION = re.compile(rf"\b(?:mention|discuss|cover|consider|point out)\s+{_TOPIC}", re.IGNORECASE)
_NAMED_TOOL = re.compile(
    r"\b(?:call|use|invoke|run|query|consult|using|calling)\s+(?:the|your|a)\s+(?P<name>\w+)\s+tool\b", re.IGNORECASE
)
_ANY_TOOL = re.compile(
    r"\b(?:use|call|consult|invoke|run|using|calling|try)\b[^.⟦]{0,30}\btools?\b|\blook(?:ing)? (?:\w+ ){0,2}up\b",
    re.IGNORECASE,
)
_PLAIN: tuple[tuple[re.Pattern[str], Aim], ...] = (
    (re.compile(r"\bJSON\b"), Json()),
    (re.compile(r"\bbullet(?:ed|s)?\b", re.IGNORECASE), Shape("bullets")),
    (re.compile(r"\btables?\b", re.IGNORECASE), Shape("table")),
    (
        re.compile(
            r"\b(?:exhaustive|thorough|comprehensive|detailed|in (?:full |great )?detail|in[- ]depth|every angle"
            r"|at (?:great )?length|multiple paragraphs)(?:ly)?\b",
            re.IGNORECASE,
        ),
        Tone("thorough"),
    ),
    (
        re.compile(
            r"\b(?:concise|succinct|terse|to the point|briefly|(?:be|it|stay|very|as) (?:brief|short)"
            r"|short(?=,| (?:and|repl|answers?)))(?:ly)?\b",
            re.IGNORECASE,
        ),
        Tone("concise"),
    ),
)


def unquoted(clause: str, *, is_quoting: bool) -> Iterator[Instruction]:
    """Shapes, tone and JSON; in a clause that quotes nothing also tools and topics."""

    def at(match: re.Match[str], aim: Aim, *, concrete: bool = False) -> Instruction:
        return Instruction(aim, wanted(clause[: match.start()]), concrete)

    for pattern, aim in _PLAIN:
        if match := pattern.search(clause):
            yield at(match, aim, concrete=isinstance(aim, Json | Shape))
    if is_quoting:
        return
    if match := _NAMED_TOOL.search(clause):
        yield at(match, UseTool(match["name"]), concrete=True)
    elif match := _ANY_TOOL.search(clause):
        yield at(match, UseTool(None))
    if match := _TOPIC_SECTION.search(clause):
        topic = match["topic"]
        yield at(match, Section(topic[0].upper() + topic[1:]))
    elif match := _TOPIC_MENTION.search(clause):
        yield at(match, Topic(match["topic"]))
