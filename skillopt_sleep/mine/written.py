"""What a mining model wrote, and how much of it may be used.

A model that has read a hostile conversation may write anything. So nothing it wrote is taken as it stands: checks pass
the same parser as a person's file and are marked as a model's; a check that any reply passes, a criterion with a
command, an address or a permission that no person typed, a number of something that was not asked about, a skill that
the conversations did not use: all that is left out and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.checks import (
    Check,
    MaxChars,
    MaxWords,
    MinChars,
    MinWords,
    NotContains,
    Regex,
    parse_check,
)
from skillopt_sleep.domain.errors import UsageError
from skillopt_sleep.domain.patterns import found
from skillopt_sleep.domain.powers import Allowed
from skillopt_sleep.domain.slices import SLICES, Slice
from skillopt_sleep.mine.batches import OFFERED, Batch, Kind
from skillopt_sleep.mine.clipping import clip

_MOST_CHECKS, _MOST_LINES = 6, 6
_LINE_CHARS, _INTENT_CHARS, _REASON_CHARS, _ARGUMENT_CHARS = 300, 80, 200, 400
_HUGE = 20_000
"""Characters or words that no reply reaches."""


class WrittenCheck(Frozen):
    op: str
    arg: str | int | None = None


class WrittenRequest(Frozen):
    """What holds for one request alone."""

    request: int
    rubric: tuple[str, ...] = ()
    checks: tuple[WrittenCheck, ...] = ()
    not_evaluable: str | None = None


class WrittenKind(Frozen):
    """What holds for every request of a kind."""

    kind: int
    intent: str = ""
    skill: str | None = None
    rubric: tuple[str, ...] = ()
    checks: tuple[WrittenCheck, ...] = ()
    requests: tuple[WrittenRequest, ...] = ()


class WrittenKinds(Frozen):
    """What a mining model answers: the schema of its structured reply."""

    kinds: tuple[WrittenKind, ...]


@dataclass(frozen=True, slots=True)
class Criteria:
    """Criteria of a model, fit for use."""

    checks: tuple[Check, ...] = ()
    rubric: tuple[str, ...] = ()


@dataclass(slots=True)
class Written:
    """Everything that models wrote about the requests of a night; empty where none was asked."""

    intents: dict[str, str] = field(default_factory=dict)
    """By group: the intent in words. Groups with the same intent are one."""
    skills: dict[str, str] = field(default_factory=dict)
    """By group."""
    general: dict[tuple[str, Slice], Criteria] = field(default_factory=dict)
    """By group and the slice whose conversations they were written from."""
    own: dict[str, Criteria] = field(default_factory=dict)
    """By family."""
    not_evaluable: dict[str, str] = field(default_factory=dict)
    """By family: the reason."""
    dropped: Counter[str] = field(default_factory=Counter)

    def add(self, batch: Batch, answer: WrittenKinds) -> None:
        """Take over what may be used of the answer to one batch."""
        numbered = batch.numbered
        for row in answer.kinds:
            kind, asked = numbered.pop(row.kind, (None, {}))
            if kind is None:
                self.dropped["a model wrote about something that was not asked"] += 1
                continue
            allowed = Allowed(kind.typed)
            intent = " ".join(row.intent.split())
            if 0 < len(intent) <= _INTENT_CHARS:
                self._name(kind, intent)
            if row.skill is not None:
                self._attribute(kind, row.skill)
            self.general[kind.group, kind.slice] = self._fit(row.rubric, row.checks, allowed, kind.group)
            for own in row.requests:
                one = asked.get(own.request)
                if one is None:
                    self.dropped["a model wrote about something that was not asked"] += 1
                    continue
                self.own[one.family] = self._fit(own.rubric, own.checks, allowed, kind.group)
                if own.not_evaluable and own.not_evaluable.strip():
                    self.not_evaluable[one.family] = clip(" ".join(own.not_evaluable.split()), _REASON_CHARS)

    def general_by_slice(self, groups: Iterable[str]) -> dict[Slice, Criteria]:
        """The general criteria of some groups together, by the slice whose conversations they were written from."""
        found: dict[Slice, Criteria] = {}
        for slice_ in SLICES:
            parts = [self.general.get((group, slice_), Criteria()) for group in sorted(groups)]
            found[slice_] = Criteria(
                tuple(dict.fromkeys(check for part in parts for check in part.checks)),
                tuple(dict.fromkeys(line for part in parts for line in part.rubric)),
            )
        return found

    def _name(self, kind: Kind, intent: str) -> None:
        """Training conversations name a group if they can, so that gate ones have no say in what is trained on."""
        if kind.slice == "train" or kind.group not in self.intents:
            self.intents[kind.group] = intent

    def _attribute(self, kind: Kind, skill: str) -> None:
        if skill in kind.skills:
            self.skills.setdefault(kind.group, skill)
        else:
            self.dropped["a model named a skill that was not used"] += 1

    def _fit(self, rubric: Iterable[str], checks: Iterable[WrittenCheck], allowed: Allowed, group: str) -> Criteria:
        lines = [clip(" ".join(line.split()), _LINE_CHARS) for line in rubric if line.strip()]
        kept = [line for line in dict.fromkeys(lines) if self._harmless(line, allowed)]
        parsed = [check for row in checks if (check := self._parse(row, group)) is not None]
        fit = [check for check in dict.fromkeys(parsed) if self._harmless(str(check.arg), allowed)]
        return Criteria(tuple(fit[:_MOST_CHECKS]), tuple(kept[:_MOST_LINES]))

    def _harmless(self, text: str, allowed: Allowed) -> bool:
        if allowed.missing(text):
            self.dropped["a model's criterion with a command, an address or a permission that nobody typed"] += 1
            return False
        return True

    def _parse(self, row: WrittenCheck, group: str) -> Check | None:
        if row.op not in OFFERED or len(str(row.arg)) > _ARGUMENT_CHARS:
            self.dropped["a model's check that cannot be used"] += 1
            return None
        try:
            check = parse_check({"op": row.op, "arg": row.arg}, where=group, author="model")
        except UsageError:
            self.dropped["a model's check that cannot be used"] += 1
            return None
        if passes_anything(check):
            self.dropped["a model's check that any reply passes"] += 1
            return None
        return check


def passes_anything(check: Check) -> bool:
    """Whether a check says nothing: a reply of one plain word, or of none, is as good as any."""
    match check:
        case Regex():
            try:
                return found(check.arg, "", seconds=0.2) and found(check.arg, "Tea.\nMore tea.", seconds=0.2)
            except TimeoutError:
                return True  # what cannot be evaluated in time on so short a text is of no use either
        case MinChars() | MinWords():
            return check.arg <= 1
        case MaxChars() | MaxWords():
            return check.arg >= _HUGE
        case NotContains():
            return len(check.arg) > _LINE_CHARS
    return False
