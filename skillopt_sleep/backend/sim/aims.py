"""What an instruction can ask for, as far as the simulated model understands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Section:
    """A section under a heading of this name."""

    name: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of its own, often "Label: value"."""

    text: str

    @property
    def label(self) -> str:
        """What stands before the colon, lower case; the whole line where there is none."""
        return self.text.partition(":")[0].strip().casefold()


@dataclass(frozen=True, slots=True)
class Opening:
    """The reply begins with this text."""

    text: str


@dataclass(frozen=True, slots=True)
class Closing:
    """The reply ends with this text."""

    text: str


@dataclass(frozen=True, slots=True)
class Mention:
    """The reply holds this text somewhere."""

    text: str


@dataclass(frozen=True, slots=True)
class Topic:
    """The reply says something on this."""

    name: str


@dataclass(frozen=True, slots=True)
class Length:
    """The reply has at most or at least so many characters or words."""

    bound: Literal["max", "min"]
    count: int
    unit: Literal["characters", "words"]

    @property
    def characters(self) -> int:
        """The bound in characters, roughly where it counts words."""
        return self.count if self.unit == "characters" else self.count * 6


@dataclass(frozen=True, slots=True)
class Whole:
    """The reply is this text and nothing else."""

    text: str


@dataclass(frozen=True, slots=True)
class Json:
    """The whole reply is one JSON value: like `sample` where there is one, else an object with these keys."""

    sample: str | None = None
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UseTool:
    """The tool of this name is called; None stands for whichever tool there is."""

    name: str | None


@dataclass(frozen=True, slots=True)
class Shape:
    """Part of the reply is a bullet list or a table."""

    kind: Literal["bullets", "table"]


@dataclass(frozen=True, slots=True)
class Tone:
    """How much is said."""

    kind: Literal["thorough", "concise"]


Aim: TypeAlias = Section | Line | Opening | Closing | Mention | Topic | Length | Whole | Json | UseTool | Shape | Tone


@dataclass(frozen=True, slots=True)
class Instruction:
    """One thing that the prompt asks for (`wanted`) or forbids."""

    aim: Aim
    wanted: bool = True
    concrete: bool = True
    """Names, quotes or counts what it wants."""
    example: bool = False
    insistent: bool = False
    """Says that it holds always or before others."""


SHORT = 1500
"""Characters: a limit up to here contradicts being thorough."""


def contradict(one: Instruction, other: Instruction) -> bool:
    """Whether obeying both is impossible or nearly so. Symmetric."""
    return _contradicts(one, other) or _contradicts(other, one)


def _contradicts(one: Instruction, other: Instruction) -> bool:
    a, b = one.aim, other.aim
    if isinstance(a, UseTool) and isinstance(b, UseTool):
        return one.wanted != other.wanted and (a.name == b.name or None in (a.name, b.name))
    if one.wanted != other.wanted:
        return _same_thing(a, b)
    return one.wanted and _exclude(a, b)


def _exclude(a: Aim, b: Aim) -> bool:
    match a, b:
        case Tone(kind="thorough"), Length(bound="max"):
            return b.characters <= SHORT
        case Length(bound="min"), Length(bound="max"):
            return a.characters > b.characters
        case (Opening(), Opening()) | (Closing(), Closing()) | (Whole(), Whole()) | (Tone(), Tone()):
            return a != b
        case ((Json() | Whole()), (Section() | Line() | Opening() | Closing() | Mention() | Shape())):
            return True
        case Json(), Whole():
            return True
    return False


def _same_thing(a: Aim, b: Aim) -> bool:
    names = _name(a), _name(b)
    return names[0] == names[1] if all(names) else a == b


def _name(aim: Aim) -> str:
    match aim:
        case Section(name=text) | Topic(name=text) | Mention(text=text) | Opening(text=text) | Closing(text=text):
            return text.rstrip(":").casefold()
        case Line():
            return aim.label
    return ""
