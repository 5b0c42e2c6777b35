"""Chance without a generator: every draw is a hash of what it is about.

A draw has a name, so no decision shifts another one, and nothing depends on the order in which decisions are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from skillopt_sleep.domain.base import sha256_hex

T = TypeVar("T")


class Dice:
    """Draws that depend on `key` and on the name of the draw, and on nothing else."""

    def __init__(self, key: str) -> None:
        self._key = sha256_hex(key)

    def roll(self, *name: object) -> float:
        """A number in [0, 1)."""
        return int(sha256_hex(f"{self._key}|{name!r}")[:13], 16) / 16**13

    def pick(self, options: Sequence[T], *name: object) -> T:
        """One of the options, each equally likely."""
        return options[int(self.roll(*name) * len(options))]

    def shuffled(self, items: Sequence[T], *name: object) -> list[T]:
        """The items in a random order."""
        return [items[i] for i in sorted(range(len(items)), key=lambda i: self.roll(*name, i))]
