"""What was obeyed -> the text of a reply."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from skillopt_sleep.backend.sim.aims import (
    Aim,
    Closing,
    Instruction,
    Json,
    Length,
    Line,
    Mention,
    Opening,
    Section,
    Shape,
    Tone,
    Topic,
    Whole,
)
from skillopt_sleep.backend.sim.dice import Dice
from skillopt_sleep.backend.sim.prose import Prose, topic_of

_USUAL = {"thorough": (1550, 2400), "plain": (1000, 1900), "concise": (220, 420)}
"""Characters of prose that a reply aims at, from and to."""
_PER_PARAGRAPH = 4
_SPARE = 12
"""Sentences kept for bullets, tables and sections."""
_MOST_SENTENCES = 4000

A = TypeVar("A", bound=Aim)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The obeyed instructions, sorted by what they do to the text."""

    wanted: tuple[Aim, ...]
    forbidden: tuple[Aim, ...]

    def every(self, kind: type[A]) -> list[A]:
        """What is wanted of a kind, each once, without what is forbidden."""
        return [aim for aim in dict.fromkeys(self.wanted) if isinstance(aim, kind) and aim not in self.forbidden]

    def last(self, kind: type[A]) -> A | None:
        found = self.every(kind)
        return found[-1] if found else None

    def avoided(self) -> list[str]:
        """Texts that must not stand anywhere."""
        return [aim.text for aim in self.forbidden if isinstance(aim, Mention | Opening | Closing)]


def write(request: str, obeyed: Sequence[Instruction], found: Sequence[str], dice: Dice) -> str:
    """A reply to `request` that does what was obeyed; `found` are results of tools, to be used in it.

    Where everything cannot be had within a wanted length, prose goes first and the texts of sections go second.
    """
    plan = _Plan(
        wanted=tuple(one.aim for one in obeyed if one.wanted),
        forbidden=tuple(one.aim for one in obeyed if not one.wanted),
    )
    topic = topic_of(request)
    if (whole := plan.last(Whole)) is not None:
        return whole.text
    if (shape := plan.last(Json)) is not None:
        return _json(shape, topic)
    bounds = plan.every(Length)
    prose = Prose(topic, plan.avoided(), dice)
    count = prose.filling(_target(plan, bounds, dice))
    text = _render(plan, prose, count, found)
    while _violates(text, bounds, "min") and count < _MOST_SENTENCES:
        count += max(1, count // 8)
        text = _render(plan, prose, count, found)
    while _violates(text, bounds, "max") and count > 0:
        count -= 1
        text = _render(plan, prose, count, found)
    return _render(plan, prose, 0, (), bare=True) if _violates(text, bounds, "max") else text


def _target(plan: _Plan, bounds: Sequence[Length], dice: Dice) -> int:
    """Characters of prose to aim at."""
    tone = plan.last(Tone)
    low, high = _USUAL[tone.kind if tone else "plain"]
    target = low + int(dice.roll("length") * (high - low))
    limits = [bound.characters for bound in bounds if bound.bound == "max"]
    return min([target, *(int(limit * 0.85) for limit in limits)])


def _violates(text: str, bounds: Sequence[Length], kind: str) -> bool:
    sizes = {"characters": len(text), "words": len(text.split())}
    return any(
        sizes[bound.unit] > bound.count if kind == "max" else sizes[bound.unit] < bound.count
        for bound in bounds
        if bound.bound == kind
    )


def _render(plan: _Plan, prose: Prose, count: int, found: Sequence[str], *, bare: bool = False) -> str:
    """The reply with `count` sentences of prose; `bare` leaves out everything that nothing asked for."""
    spare = iter(prose.first(count + _SPARE)[count:])
    parts = [f"What I found: {_clip(text)}" for text in found if text.strip()]
    said = prose.first(count)
    parts += [" ".join(said[start : start + _PER_PARAGRAPH]) for start in range(0, count, _PER_PARAGRAPH)]
    if not bare:
        parts += [
            f"As for {topic.name}, opinions differ, and it deserves a thought."
            for topic in plan.every(Topic)
            if not any(text.casefold() in topic.name.casefold() for text in plan.avoided())
        ]
    for shape in plan.every(Shape):
        if shape.kind == "bullets":
            parts.append("\n".join(f"- {next(spare)}" for _ in range(1 if bare else 3)))
        else:
            parts.append(f"| Point | Remark |\n|---|---|\n| First | {next(spare)} |")
    for section in plan.every(Section):
        parts.append(f"## {section.name}" if bare else f"## {section.name}\n\n{next(spare, 'See above.')}")
    lines = [line.text for line in plan.every(Line)] + [mention.text for mention in plan.every(Mention)]
    if lines:
        parts.append("\n".join(lines))
    return _framed(plan, "\n\n".join(parts)) or "Yes."


def _framed(plan: _Plan, text: str) -> str:
    opening, closing = plan.last(Opening), plan.last(Closing)
    if opening is not None:
        gap = "\n\n" if text.startswith(("#", "-", "|")) else " "
        text = f"{opening.text}{gap}{text}"
    if closing is not None:
        text = f"{text}\n\n{closing.text}"
    return text.strip()


def _clip(text: str, longest: int = 200) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def _json(shape: Json, topic: str) -> str:
    if shape.sample is not None:
        try:
            return json.dumps(json.loads(shape.sample), ensure_ascii=False)
        except ValueError:
            pass  # an example that is not JSON is no help
    return json.dumps(dict.fromkeys(shape.keys or ("answer",), topic), ensure_ascii=False)
