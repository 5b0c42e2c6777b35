"""The account of alpha over nights: tests on the same families share one alpha, so that ten nights are no ten chances.

Use belongs to families, not to nights or to slices. A family that was looked at in a test ties all families of that
test together, and everything tied together is one account. So a slice whose families changed a little still draws on
the old account, and a new one begins only with families that no test has looked at.

Under eight families an account pays for one test, at full alpha: half of it could hardly accept anything. From eight
on the first test gets five eighths (at 5 % that is one in 32), and every later one half of what is left. The sum never
passes alpha, so whatever is tested and in however many nights, a false adoption happens in at most alpha of all
accounts (the union bound; it needs no independence between nights).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillopt_sleep.domain.gate_tests import GateTest
from skillopt_sleep.domain.verdicts import Account, GatePolicy
from skillopt_sleep.stats import testable_by_looks

SEVERAL_TESTS_FROM = 8
"""Families from which on one account pays for several tests."""
FIRST_SHARE = 5 / 8
LATER_SHARE = 1 / 2

Families = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Grant:
    """Leave to test: on which families, at which level. Or none, where nothing could be accepted."""

    families: dict[str, tuple[str, ...]]
    number: int
    level: float | None
    """None: used up."""


def grant(families: Families, past: Sequence[GateTest], policy: GatePolicy) -> Grant:
    """Leave for the next test on these families, given all tests so far.

    Where their common account is used up, the families among them that no test has looked at may have one of their own.
    """
    whole = _grant(families, past, policy)
    if whole.level is not None:
        return whole
    return grant_unused(families, past, policy) or whole


def grant_unused(families: Families, past: Sequence[GateTest], policy: GatePolicy) -> Grant | None:
    """Leave to test on those families alone that no test has looked at; None where they are too few."""
    fresh = _unused(families, past)
    granted = _grant(fresh, past, policy)
    return granted if len(fresh) >= policy.min_families and granted.level is not None else None


def standing(
    tested: Families, families: Families, tests: Sequence[GateTest], policy: GatePolicy, *, number: int
) -> Account:
    """What is left for the families `tested`. `families`: the whole slice; `policy`: the night's, with all of alpha."""
    return Account(
        test=number,
        left=_left(tied(tested, tests), policy),
        next_level=_grant(tested, tests, policy).level,
        unused_needed=max(0, policy.min_families - len(_unused(families, tests))),
    )


def _grant(families: Families, past: Sequence[GateTest], policy: GatePolicy) -> Grant:
    linked = tied(families, past)
    level = _level(len(families), linked, policy)
    kept = {family: tuple(tasks) for family, tasks in families.items()}
    return Grant(kept, len(linked) + 1, level if level and testable_by_looks(len(families), level) else None)


def _level(families: int, linked: Sequence[GateTest], policy: GatePolicy) -> float:
    if families < SEVERAL_TESTS_FROM:
        return 0.0 if linked else policy.alpha
    return policy.alpha * FIRST_SHARE if not linked else _left(linked, policy) * LATER_SHARE


def _left(linked: Sequence[GateTest], policy: GatePolicy) -> float:
    return max(0.0, policy.alpha - sum(test.policy.alpha for test in linked))


def tied(families: Families, past: Sequence[GateTest]) -> list[GateTest]:
    """The tests that share a family with these, or with a test that does, and so on. No look, no use."""
    waiting = [test for test in past if test.looks]
    reached, found = set(families), []
    while joined := [test for test in waiting if reached & test.families.keys()]:
        found += joined
        waiting = [test for test in waiting if test not in joined]
        reached.update(*(test.families for test in joined))
    return found


def _unused(families: Families, past: Sequence[GateTest]) -> dict[str, Sequence[str]]:
    used = {family for test in past if test.looks for family in test.families}
    return {family: tasks for family, tasks in families.items() if family not in used}
