"""What a kind of secret is made of."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from skillopt_sleep.redact.values import always

GUARD = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-Fa-f]{2}))"
"""Begins a token: not inside a longer word, unless what precedes is an escape sequence."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of secret."""

    name: str
    anchors: tuple[str, ...]
    """Lower-case literals; each match begins with one of them, whatever its case in the text."""
    pattern: str
    """Matched at an anchor. The group `secret` is masked, or the whole match where there is no such group."""
    accept: Callable[[str], bool] = always
    """Has the last word on what would be masked."""


def token(name: str, prefixes: str, body: str, accept: Callable[[str], bool] = always) -> Kind:
    """A vendor's token: one of the space-separated prefixes, then a body."""
    anchors = tuple(prefixes.split())
    return Kind(
        name, tuple(a.lower() for a in anchors), f"{GUARD}(?:{'|'.join(map(re.escape, anchors))}){body}", accept
    )
