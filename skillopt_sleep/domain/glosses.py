"""Patterns put into examples: what a regular expression asks for, said without showing it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, cycle
from typing import Any

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.patterns import found, parse

_LONGEST_FORM = 160
_MOST_FORMS = 4
_NEVER_MIND = 1.0  # seconds; a made-up form is short, so this is a guard and not a wait

_Item = tuple[Any, Any]
"""One step of a parsed pattern: (operator, argument)."""


class Gloss(Frozen):
    """What a pattern asks for, as made-up text that it really finds."""

    forms: tuple[str, ...]
    """Strings that match, one for each alternative the pattern offers; a handful at most."""
    fixed: bool
    """The forms are the only text the pattern finds, not examples of it."""
    opens: bool
    """Anchored at the start (of a line, with `lines`)."""
    closes: bool
    """Anchored at the end (of a line, with `lines`)."""
    lines: bool


def gloss(pattern: str) -> Gloss | None:
    """Put a pattern into examples; None where it uses something that this cannot walk through with certainty."""
    parsed = parse(pattern)
    if parsed is None:
        return None
    items = list(parsed)
    first, last = (_anchor(items[0]), _anchor(items[-1])) if items else ("", "")
    forms = tuple(_verified_forms(pattern, items))
    fixed = _plain(items) and not parsed.state.flags & re.IGNORECASE
    if not forms or (not fixed and all(set(form) <= {"."} for form in forms)):
        return None
    ends = {name for name in (first, last) if name}
    return Gloss(
        forms=forms,
        fixed=fixed,
        opens=first.startswith("AT_BEGINNING"),
        closes=last.startswith("AT_END"),
        lines=bool(parsed.state.flags & re.MULTILINE) and ends <= {"AT_BEGINNING", "AT_END"},
    )


def _name(item: _Item) -> str:
    return str(item[0])


def _plain(items: Sequence[_Item]) -> bool:
    return all(_name(item) in ("LITERAL", "AT") for item in items)


def _anchor(item: _Item) -> str:
    return str(item[1]) if _name(item) == "AT" else ""


def _verified_forms(pattern: str, items: Sequence[_Item]) -> Iterator[str]:
    seen: set[str] = set()
    alternatives, choice = 1, 0
    while choice < min(alternatives, _MOST_FORMS):
        walk = _Walk(choice)
        try:
            raw = walk.text(items)
        except _Unusual:
            return
        alternatives, choice = max(alternatives, walk.alternatives), choice + 1
        for form in (raw.strip(), raw):
            if form and form.casefold() not in seen and found(pattern, form, seconds=_NEVER_MIND):
                seen.add(form.casefold())
                yield form
                break


class _Unusual(Exception):
    """The pattern uses something that has no honest example."""


class _Walk:
    """One walk through a parsed pattern, making up text on the way; takes the `choice`-th way at each fork."""

    def __init__(self, choice: int) -> None:
        self.alternatives = 1
        self._choice = choice
        self._groups: dict[int, str] = {}
        self._digits = cycle("123456789")

    def text(self, items: Sequence[_Item]) -> str:
        made = ""
        for item in items:
            piece = self._one(_name(item), item[1])
            # Where white space is optional, people write it after a label and not before the colon.
            made += piece or (" " if made.endswith((":", "=", ",")) and _is_optional_space(item) else "")
        if len(made) > _LONGEST_FORM:
            raise _Unusual
        return made

    def _one(self, name: str, argument: Any) -> str:  # noqa: PLR0911 - one line per operator
        match name:
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                return self._character(name, argument)
            case "AT":
                return ""
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                return self._repeated(*argument)
            case "BRANCH":
                self.alternatives = max(self.alternatives, len(argument[1]))
                return self.text(argument[1][self._choice % len(argument[1])])
            case "SUBPATTERN":
                made = self.text(argument[-1])
                if argument[0] is not None:
                    self._groups[argument[0]] = made
                return made
            case "GROUPREF" if argument in self._groups:
                return self._groups[argument]
            case "ATOMIC_GROUP":
                return self.text(argument)
            case "ASSERT":
                return self.text(argument[1])
        raise _Unusual

    def _repeated(self, low: int, high: int, items: Sequence[_Item]) -> str:
        if low > _LONGEST_FORM:
            raise _Unusual
        item = next(iter(items)) if len(items) == 1 else None
        if item is not None and low <= 3 <= high and all(_accepts(item, char) for char in ".x1"):
            return "..."
        if item is not None and 1 <= low <= 4 <= high:
            for filler in ("word", "WORD"):
                if all(_accepts(item, char) for char in filler):
                    return filler
        return "".join(self.text(items) for _ in range(low))

    def _character(self, name: str, argument: Any) -> str:
        item = (name, argument)
        if _accepts(item, "1") and not any(_accepts(item, char) for char in "-x"):
            digit = next(self._digits)
            return digit if _accepts(item, digit) else "1"
        fitting = (char for char in chain(_written(item), "-x1X .\n") if _accepts(item, char))
        for char in fitting:
            return char
        raise _Unusual


def _is_optional_space(item: _Item) -> bool:
    if _name(item) not in ("MAX_REPEAT", "MIN_REPEAT") or len(item[1][2]) != 1:
        return False
    only = item[1][2][0]
    return _name(only) in ("LITERAL", "IN") and _accepts(only, " ") and not _accepts(only, "x")


def _written(item: _Item) -> Iterator[str]:
    """The characters that an item spells out, and the first of each of its ranges, in the order written."""
    members = item[1] if _name(item) == "IN" else [item]
    for operator, argument in members:
        if str(operator) in ("LITERAL", "RANGE"):
            yield chr(argument if str(operator) == "LITERAL" else argument[0])


def _accepts(item: _Item, char: str) -> bool:  # noqa: PLR0911 - one line per operator
    """Whether an item that finds one character finds this one."""
    name, argument = _name(item), item[1]
    match name:
        case "ANY":
            return char != "\n"
        case "LITERAL":
            return bool(argument == ord(char))
        case "NOT_LITERAL":
            return bool(argument != ord(char))
        case "RANGE":
            return bool(argument[0] <= ord(char) <= argument[1])
        case "CATEGORY":
            category = str(argument).removeprefix("CATEGORY_")
            return _in_category(category.removeprefix("NOT_"), char) != category.startswith("NOT_")
        case "IN":
            negated = _name(argument[0]) == "NEGATE"
            return any(_accepts(member, char) for member in argument[negated:]) != negated
    return False


def _in_category(category: str, char: str) -> bool:
    match category:
        case "DIGIT":
            return char.isdigit()
        case "SPACE":
            return char.isspace()
        case "WORD":
            return char.isalnum() or char == "_"
    raise _Unusual
