"""Bland sentences about whatever was asked: the reply that a model gives when nobody tells it how."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skillopt_sleep.backend.sim.dice import Dice

_LEADS = (
    "There is more than one way to look at {topic}.",
    "The question of {topic} rarely has to be answered once and for all.",
    "Some of the usual advice on {topic} comes from settings that differ from yours.",
    "As to {topic}, a few points are worth keeping apart.",
)
_SENTENCES = (
    "Much depends on where you stand today and on what you can change with little effort.",
    "A careful reader would first ask what success looks like and for whom.",
    "On the one hand, moving early keeps doors open that may close later.",
    "On the other hand, waiting costs little as long as nothing else depends on it.",
    "The people involved matter at least as much as the plan itself.",
    "Past experience in similar situations points in both directions.",
    "It helps to separate what is known from what is only assumed.",
    "The first step is usually smaller than it seems, and it teaches the most.",
    "Costs tend to appear early, while benefits arrive late and unevenly.",
    "A small trial can show more than a long debate.",
    "What looks like a single choice often turns out to be several smaller ones.",
    "Time is a constraint here, and so is attention.",
    "Not every open point has to be settled before work can begin.",
    "A written plan makes it easier to notice when things drift.",
    "Others will judge the outcome, so it pays to involve them soon.",
    "If circumstances change, the reasoning should be looked at again.",
    "The simplest version that could work deserves a fair hearing.",
    "Details that seem minor now can dominate once the scale grows.",
    "It is worth asking who would notice if nothing were done at all.",
    "A choice that can be reversed needs less proof than one that cannot.",
    "Comparable teams have gone either way and done well.",
    "Good habits around the decision outlast the decision.",
    "Where opinions differ, the difference is often about goals and not about facts.",
    "Resources that are spent here are not available elsewhere.",
    "Looking back after a month will show what was missed.",
    "Clear ownership prevents most of the trouble that follows.",
    "In the end, consistency matters more than getting each detail right.",
)
_PREPOSITION = re.compile(r"\b(?:on|about|regarding|whether|for|of)\s+(?=\w)", re.IGNORECASE)
_LONGEST_TOPIC = 80


def topic_of(request: str) -> str:
    """What a request is about, in a few of its own words."""
    first = request.strip().split("\n")[0].strip()
    preposition = _PREPOSITION.search(first)
    rest = first[preposition.end() :] if preposition else first
    if len(rest) > _LONGEST_TOPIC:
        rest = rest[:_LONGEST_TOPIC].rpartition(" ")[0] or rest[:_LONGEST_TOPIC]
    return rest.strip().rstrip(".!?:") or "this"


class Prose:
    """Sentences in random order, as many as wanted; later rounds say the same again. None holds a text of `avoid`."""

    def __init__(self, topic: str, avoid: Sequence[str], dice: Dice) -> None:
        banned = [text.casefold() for text in avoid]
        subject = "this" if any(text in topic.casefold() for text in banned) else topic

        def allowed(sentences: Sequence[str]) -> list[str]:
            return [text for text in sentences if not any(ban in text.casefold() for ban in banned)] or ["…"]

        self._usable = allowed(_SENTENCES)
        self._dice = dice
        self._drawn = [dice.pick(allowed([lead.format(topic=subject) for lead in _LEADS]), "lead")]

    def first(self, count: int) -> list[str]:
        """The first `count` sentences; always the same ones. The very first is about the topic."""
        while len(self._drawn) < count:
            self._drawn += self._dice.shuffled(self._usable, "prose", len(self._drawn))
        return self._drawn[:count]

    def filling(self, characters: int) -> int:
        """How many sentences fill so many characters."""
        total = count = 0
        while total < characters:
            count += 1
            total += len(self.first(count)[-1]) + 1
        return count
