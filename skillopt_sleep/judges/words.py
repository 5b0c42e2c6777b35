"""Counting words in any script."""

from __future__ import annotations

import regex

# Scripts written without spaces between words; Hangul is written with spaces, so it is not among them.
_SPACELESS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
_GAP = regex.compile(r"[\s\u2013\u2014]+")
_LETTER_OR_NUMBER = regex.compile(r"[\p{L}\p{N}]")


def count_words(text: str) -> int:
    """The number of words.

    A word is what stands between white space or long dashes and holds a letter or a digit: "don't", "e-mail" and
    "3.5" are one word each, a bullet or a table bar is none. In Chinese and Japanese each character counts as a
    word, as editors count there: finding the real words takes a dictionary. Thai, Lao and Khmer count by spaces.
    """
    spaced = _SPACELESS.sub(r" \g<0> ", text)
    return sum(1 for token in _GAP.split(spaced) if _LETTER_OR_NUMBER.search(token))
