"""What a mining model is shown: requests by kind, packed into prompts under a bound of tokens.

A *kind* is a group within one slice, and a prompt holds kinds of one slice only. So what a model writes about training
requests was written without a word of a gate or test conversation, and may be used like any training material.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from skillopt_sleep.domain.briefing import json_block
from skillopt_sleep.domain.checks import OPERATORS
from skillopt_sleep.domain.llm import Prompt, UserMessage, estimate_tokens
from skillopt_sleep.domain.slices import SLICES, Slice
from skillopt_sleep.mine.clipping import clip
from skillopt_sleep.mine.survey import Placed
from skillopt_sleep.prompts import render

BATCH_TOKENS = 8000
"""About so many tokens of conversations in one prompt."""
MOST_BATCHES = 24
"""Prompts of one night. Kinds seen most often come first; what does not fit is counted."""
MOST_WRITTEN_TOKENS = 4096
"""Longest answer of a mining model that is accepted."""
_MOST_REQUESTS = 12
"""Families of one kind that are shown, newest first."""
_PROMPT_CHARS, _REPLY_CHARS, _REMARK_CHARS, _MOST_REMARKS = 1200, 600, 400, 6

OFFERED = tuple(op for op in OPERATORS if op not in ("tool_called", "json_schema"))
"""Operators that a mining model may use: a replay of a session has no tools, and a schema takes a person's care."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One family within a kind: its newest wording, and all that was said about it."""

    family: str
    members: tuple[Placed, ...]

    @property
    def newest(self) -> Placed:
        return max(self.members, key=lambda member: (member.request.at, member.request.text))

    def row(self, number: int) -> dict[str, Any]:
        request = self.newest.request
        remarks = [remark.text for member in self.members for remark in member.request.remarks]
        return {
            "request": number,
            "text": clip(request.text, _PROMPT_CHARS),
            "reply": clip(request.reply, _REPLY_CHARS),
            "corrections": [clip(text, _REMARK_CHARS) for text in remarks[-_MOST_REMARKS:]],
        }


@dataclass(frozen=True, slots=True)
class Kind:
    """The requests of one group that lie in one slice."""

    group: str
    slice: Slice
    asked: tuple[Asked, ...]

    @property
    def skills(self) -> tuple[str, ...]:
        """Skills that were used in the conversations, by name: the only ones a kind can belong to."""
        return tuple(sorted({name for one in self.asked for m in one.members for name in m.request.session_skills}))

    @property
    def typed(self) -> Iterator[str]:
        """Everything that the person typed."""
        for member in (member for one in self.asked for member in one.members):
            yield member.request.text
            yield from (remark.text for remark in member.request.remarks)

    def row(self, number: int, first: int) -> dict[str, Any]:
        shown = [one.row(place) for place, one in enumerate(self.asked, start=first)]
        return {"kind": number, "skills": list(self.skills), "requests": shown}


@dataclass(frozen=True, slots=True)
class Batch:
    """Kinds of one slice that are asked about together. Kinds and requests are numbered from 1."""

    kinds: tuple[Kind, ...]

    @property
    def numbered(self) -> dict[int, tuple[Kind, dict[int, Asked]]]:
        found: dict[int, tuple[Kind, dict[int, Asked]]] = {}
        first = 1
        for number, kind in enumerate(self.kinds, start=1):
            found[number] = kind, dict(enumerate(kind.asked, start=first))
            first += len(kind.asked)
        return found

    @property
    def prompt(self) -> Prompt:
        system = render("mine_system", operators=", ".join(OFFERED))
        rows = [kind.row(number, min(asked)) for number, (kind, asked) in self.numbered.items()]
        user = render("mine_user", kinds=json_block("kinds", rows), count=len(rows))
        return Prompt(
            role="optimizer",
            system=system.text,
            messages=(UserMessage(text=user.text),),
            max_tokens=MOST_WRITTEN_TOKENS,
            template=f"{system.id} {user.id}",
        )


def batches(placed: Sequence[Placed]) -> tuple[tuple[Batch, ...], int]:
    """The batches, and how many families found no place in them. Depends on nothing but the requests."""
    kinds, hidden = _kinds(placed)
    packed: list[list[Kind]] = []
    open_batch: dict[Slice, int] = {}
    room: dict[Slice, int] = {}
    for kind in kinds:
        size = _size(kind)
        if room.get(kind.slice, 0) < size:
            if len(packed) == MOST_BATCHES:
                hidden += len(kind.asked)
                continue
            open_batch[kind.slice], room[kind.slice] = len(packed), max(BATCH_TOKENS, size)
            packed.append([])
        packed[open_batch[kind.slice]].append(kind)
        room[kind.slice] -= size
    return tuple(Batch(tuple(members)) for members in packed), hidden


def _kinds(placed: Sequence[Placed]) -> tuple[list[Kind], int]:
    """All kinds, those of groups that were met in most sessions first, and how many families none of them shows."""
    families: defaultdict[tuple[str, Slice], defaultdict[str, list[Placed]]] = defaultdict(lambda: defaultdict(list))
    sessions: defaultdict[str, set[str]] = defaultdict(set)
    for member in placed:
        families[member.family.group, member.slice][member.family.id].append(member)
        sessions[member.family.group].add(member.request.session)
    kinds, hidden = [], 0
    for (group, slice_), members in families.items():
        asked = [Asked(family, tuple(sorted(rows, key=_when))) for family, rows in members.items()]
        asked.sort(key=lambda one: (_when(one.newest), one.family), reverse=True)
        kinds.append(Kind(group, slice_, tuple(asked[:_MOST_REQUESTS])))
        hidden += len(asked[_MOST_REQUESTS:])
    return sorted(kinds, key=lambda kind: (-len(sessions[kind.group]), kind.group, SLICES.index(kind.slice))), hidden


def _when(member: Placed) -> tuple[datetime, str, str]:
    return member.request.at, member.request.session, member.request.text


def _size(kind: Kind) -> int:
    return estimate_tokens(json_block("kinds", [kind.row(1, 1)]))
