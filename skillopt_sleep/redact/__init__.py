"""Masks secrets in text before it is stored or sent: `redact(text)` gives the masked text and counts by kind.

How it stays fast and safe on megabytes of text:

* Every kind names literals (*anchors*), one of which stands at the beginning of each of its matches. Anchors are looked
  for with `str.find`; a pattern is tried only where one stands, and is compiled only when that first happens.
* No pattern can be made to rescan long stretches from many anchors: an unbounded repeat stands only at a pattern's end
  (where it cannot fail) or over characters that no anchor of the same kind can follow; all others are bounded.

Text comes from transcripts, so a secret may stand in prose, code, JSON, or JSON inside JSON: a quote is "any number of
backslashes and a quote mark", and a token may follow the letter of an escaped line break. What is encoded or broken
over lines is looked for in views of the text (`views`).
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator

from skillopt_sleep.domain.literals import Literals
from skillopt_sleep.redact.contexts import CONTEXTS
from skillopt_sleep.redact.kind import Kind
from skillopt_sleep.redact.tokens import TOKENS
from skillopt_sleep.redact.values import compiled
from skillopt_sleep.redact.views import View, views

__all__ = ["KINDS", "MASK", "REDACTOR_VERSION", "redact"]

MASK = "[masked:"
"""What each mask begins with; the kind and a bracket follow."""

REDACTOR_VERSION = 2
"""To be raised with every change of what is masked: what an older version masked is then read, or masked, anew."""

KINDS: tuple[Kind, ...] = (*TOKENS, *CONTEXTS)
"""Where two kinds meet, the earlier one gives the mask its name."""

_MAX_PASSES = 8
"""A mask can free a secret that its neighbour hid (a guard saw a letter before it), so passes repeat until none finds
anything. One pass is enough for clean text and two for nearly all other; the bound is for text made to defy us."""


@functools.cache
def _anchors() -> Literals:
    return Literals(anchor for kind in KINDS for anchor in kind.anchors)


@functools.cache
def _ranks() -> dict[str, tuple[int, ...]]:
    """The kinds that an anchor may begin, by their rank."""
    ranks: dict[str, tuple[int, ...]] = {}
    for rank, kind in enumerate(KINDS):
        for anchor in kind.anchors:
            ranks[anchor] = (*ranks.get(anchor, ()), rank)
    return ranks


def _fold(text: str) -> str:
    """Lower case with every character at its old place: U+0130 is the only one whose lower case is longer."""
    return text.replace("\u0130", "I").lower()


def _matches(kind: Kind, anchors: frozenset[str], text: str, folded: str) -> Iterator[tuple[int, int]]:
    """Where one kind's secrets stand, as (start, end); `anchors` are those that the text holds."""
    pattern = compiled(f"(?a){kind.pattern}")
    group = "secret" if "secret" in pattern.groupindex else 0
    for anchor in anchors.intersection(kind.anchors):
        at = folded.find(anchor)
        while at >= 0:
            found = pattern.match(text, at)
            after = at + 1
            if found:
                start, end = found.span(group)
                if not text.startswith(MASK, start) and kind.accept(text[start:end]):
                    yield start, end
                # Also past what was turned down: looking into it again from each anchor in it would not be linear.
                after = max(end, after)
            at = folded.find(anchor, after)


Found = tuple[int, int, int]
"""Start, rank of the kind, end: in the order in which overlaps are settled."""


def _found(text: str) -> Iterator[Found]:
    folded = _fold(text)
    anchors = _anchors().found_in(folded)
    if not anchors:
        return
    ranks = _ranks()
    for rank in sorted({rank for anchor in anchors for rank in ranks[anchor]}):
        for start, end in _matches(KINDS[rank], anchors, text, folded):
            yield start, rank, end


def _seen_in(view: View) -> Iterator[Found]:
    """What is found in a view, by its place in the text."""
    for start, rank, end in _found(view.text):
        first, last = view.original(start, end)
        yield first, rank, last


def _spans(text: str) -> list[tuple[int, int, str]]:
    """What to mask, in order and without overlap; where kinds meet, the earliest names it and the union is masked."""
    found = list(_found(text))
    sure, doubtful = views(text)
    for view in sure:
        found += _seen_in(view)
    if doubtful:
        # A line that is whole without its neighbour stays alone: "ghp_..." and, on the next line, "done".
        whole = {(start, rank) for start, rank, _ in found}
        found += (seen for seen in _seen_in(doubtful) if seen[:2] not in whole)
    spans: list[tuple[int, int, str]] = []
    for start, rank, end in sorted(found):
        if spans and start < spans[-1][1]:
            first, last, name = spans[-1]
            spans[-1] = (first, max(last, end), name)
        else:
            spans.append((start, end, KINDS[rank].name))
    return spans


def redact(text: str, /) -> tuple[str, dict[str, int]]:
    """The text with each secret replaced by `[masked:KIND]`, and how many of each kind were replaced.

    Idempotent: masked text comes back unchanged. Words next to a secret (the name of a variable, the server of a
    connection string) are kept. Takes time in proportion to the text's length.
    """
    counts: Counter[str] = Counter()
    for _ in range(_MAX_PASSES):
        spans = _spans(text)
        if not spans:
            break
        pieces: list[str] = []
        done = 0
        for start, end, name in spans:
            pieces += (text[done:start], f"{MASK}{name}]")
            done = end
            counts[name] += 1
        text = "".join(pieces) + text[done:]
    return text, dict(counts)
