"""Keyword search over a task's notes: what its `search` tool really does."""

from __future__ import annotations

import math
from collections.abc import Mapping

import regex

_MOST = 3
_CLIP = 1500  # characters of each note
_TITLE_WEIGHT = 3.0
_TERM = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]|[^\W\p{Han}\p{Hiragana}\p{Katakana}]+")

NO_MATCH = "No notes match."


def search(notes: Mapping[str, str], query: str) -> str:
    """The best few notes for a query, best first, as Markdown; `NO_MATCH` where no note holds any of its words.

    Rare words weigh more than common ones, and a word in the title more than one in the text. Words of one or two
    Latin letters count only where the query has no others. Equal notes come in the order of their titles.
    """
    folded = {title: (title.casefold(), text.casefold()) for title, text in notes.items()}
    weights = {term: _rarity(term, folded) for term in _terms(query)}
    scores = {
        title: sum(
            weight * ((_TITLE_WEIGHT if term in head else 0.0) + (1.0 if term in body else 0.0))
            for term, weight in weights.items()
        )
        for title, (head, body) in folded.items()
    }
    best = sorted((title for title in notes if scores[title] > 0), key=lambda title: (-scores[title], title))
    return "\n\n".join(f"## {title}\n\n{_clip(notes[title])}" for title in best[:_MOST]) or NO_MATCH


def _terms(query: str) -> tuple[str, ...]:
    terms = tuple(dict.fromkeys(_TERM.findall(query.casefold())))
    telling = tuple(term for term in terms if len(term) > 2 or not term.isascii())
    return telling or terms


def _rarity(term: str, folded: Mapping[str, tuple[str, str]]) -> float:
    holding = sum(1 for head, body in folded.values() if term in head or term in body)
    return math.log(1 + len(folded) / holding) if holding else 0.0


def _clip(text: str) -> str:
    return text.strip() if len(text) <= _CLIP else text[:_CLIP].rstrip() + " [...]"
