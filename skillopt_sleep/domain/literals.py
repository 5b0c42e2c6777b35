"""Which of many strings stand in a text, found faster than by looking for each of them."""

from __future__ import annotations

from collections.abc import Iterable


class Literals:
    """A fixed set of non-empty strings.

    Most texts lack some character of most strings: the text's characters are collected in one pass, and only strings
    made of these are looked for. A string that holds another of the set is looked for only where that one stands.
    """

    def __init__(self, strings: Iterable[str]) -> None:
        ordered = sorted(set(strings), key=lambda s: (len(s), s))
        self._bits = {char: 1 << n for n, char in enumerate(sorted(set("".join(ordered))))}
        self._groups: dict[str, list[tuple[str, int]]] = {}
        """Strings with the characters they need, under the shortest string of the set that each of them holds."""
        for string in ordered:
            root = next((other for other in self._groups if other in string), string)
            self._groups.setdefault(root, []).append((string, self._mask(string)))
        self._roots = [(root, members[0][1], members) for root, members in self._groups.items()]

    def _mask(self, text: str) -> int:
        mask = 0
        bits = self._bits
        for char in set(text):
            mask |= bits.get(char, 0)
        return mask

    def found_in(self, text: str) -> frozenset[str]:
        """Those of the strings that the text holds."""
        mask = self._mask(text)
        return frozenset(
            string
            for root, needed, members in self._roots
            if needed & mask == needed and root in text
            for string, wanted in members
            if wanted & mask == wanted and string in text
        )
