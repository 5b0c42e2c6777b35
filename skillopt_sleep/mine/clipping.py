"""Cutting long texts where a reader would."""

from __future__ import annotations


def clip(text: str, limit: int) -> str:
    """At most `limit` characters, cut at a paragraph, a line or a word, with a mark where something is left out."""
    text = text.strip()
    if len(text) <= limit:
        return text
    head = text[: limit - 4]
    for border in ("\n\n", "\n", " "):
        cut = head.rfind(border)
        if cut > limit // 2:
            return f"{head[:cut].rstrip()}\n[…]"
    return f"{head}\n[…]"[:limit]
