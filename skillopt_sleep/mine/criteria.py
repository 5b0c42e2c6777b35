"""From dated checks to criteria: which checks are the same, which contradict each other, which are house rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.checks import Check

_CASELESS = frozenset({"contains", "not_contains", "heading", "section_present", "section_contains"})
_NAMED = frozenset({"contains", "heading", "section_present", "section_contains", "starts_with", "ends_with"})
_NOT_IN_JSON = frozenset({"starts_with", "ends_with", "heading", "section_present", "section_contains"})
_SINGLE = frozenset({"max_words", "min_words", "max_chars", "min_chars", "starts_with", "ends_with"})
HOUSE_RULE_SESSIONS = 2


@dataclass(frozen=True, slots=True)
class Stated:
    """A check, when it was last stated, and where."""

    check: Check
    at: datetime
    session: str
    family: str


class HouseRule(Frozen):
    """A check that a person stated in several sessions for training requests of one group."""

    check: Check
    sessions: int
    """Distinct sessions of training families in which it was stated."""
    families: tuple[str, ...]
    """The training families it comes from."""


def check_key(check: Check) -> tuple[str, str]:
    """Equal for checks that ask for the same thing."""
    argument = str(check.arg)
    return check.op, argument.casefold() if check.op in _CASELESS else argument


def contradict(one: Check, other: Check) -> bool:
    """Whether no reply, or no sensible one, can satisfy both checks."""
    if check_key(one) == check_key(other):
        return False
    if one.op == other.op and one.op in _SINGLE:
        return True
    return _rules_out(one, other) or _rules_out(other, one)


def _rules_out(one: Check, other: Check) -> bool:
    if one.op == "not_contains":
        return other.op in _NAMED and one.arg.casefold() in str(other.arg).casefold()
    if one.op == "json_valid":
        return other.op in _NOT_IN_JSON
    if one.op == "max_words":
        return other.op == "min_words" and one.arg < other.arg
    return one.op == "max_chars" and other.op == "min_chars" and one.arg < other.arg


def settle(stated: Iterable[Stated]) -> tuple[Stated, ...]:
    """Each check once; of two that contradict each other the newest. Oldest first; the order given does not matter."""
    kept: list[Stated] = []
    for candidate in sorted(stated, key=lambda one: (one.at, check_key(one.check), one.session), reverse=True):
        if all(
            check_key(candidate.check) != check_key(s.check) and not contradict(candidate.check, s.check) for s in kept
        ):
            kept.append(candidate)
    return tuple(reversed(kept))


def house_rules(stated: Iterable[Stated]) -> tuple[tuple[HouseRule, Stated], ...]:
    """Rules of one group, each with its newest statement. `stated` must come from training families only."""
    by_key: defaultdict[tuple[str, str], list[Stated]] = defaultdict(list)
    for one in stated:
        by_key[check_key(one.check)].append(one)
    recurring = {key: rows for key, rows in by_key.items() if len({row.session for row in rows}) >= HOUSE_RULE_SESSIONS}
    settled = settle(row for rows in recurring.values() for row in rows)
    return tuple((_house_rule(newest, recurring[check_key(newest.check)]), newest) for newest in settled)


def _house_rule(newest: Stated, rows: list[Stated]) -> HouseRule:
    return HouseRule(
        check=newest.check,
        sessions=len({row.session for row in rows}),
        families=tuple(sorted({row.family for row in rows})),
    )
