"""Families (rewordings of one concrete request) and groups (a recurring intent), found without a model.

Leader clustering: a prompt joins the first family whose leader asks for the same thing, or leads a new one. The book of
families is append-only and is searched in its own order, so a prompt's family is a function of the text and of the
book; it never changes when transcripts vanish or new ones come. Leaders are drawn in order of time, then wording.

Two wordings ask for the same thing when one holds all content words of the other and little besides. A word that is
*exchanged* (login for signup) makes another request; in long prompts a few exchanged words do not, because two
near-copies must not land in different slices.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from rapidfuzz.distance import Indel

from skillopt_sleep.domain.base import short_hash
from skillopt_sleep.domain.slices import KnownFamily
from skillopt_sleep.mine.lexicon import PINNING
from skillopt_sleep.mine.wording import Wording, has_cjk, label, read_wording

_SPELLING = 0.88
"""Normalised Indel similarity from which two words with the same beginning count as one word, inflected or mistyped."""
_BEGINNING = 3
"""Letters that such words must share: "encrypt" and "decrypt" are otherwise 86 % alike."""
_EXTRA = 0.2
"""Share of a wording's words that may be missing in the other."""
_LONG = 25
"""Content words from which a prompt counts as long."""
_EXCHANGED = 0.1
"""Share of a long prompt's words that may be exchanged."""


@dataclass(frozen=True, slots=True)
class DatedText:
    """A prompt and when it was written."""

    at: datetime
    text: str


def family_id(group: str, leader: str) -> str:
    """The stable id of a family: a hash of its group and its leader's content words."""
    key = f"{group}\n{leader}"
    return f"fam-{short_hash(key, 12)}"


def assign_families(
    prompts: Sequence[DatedText], known: Sequence[KnownFamily] = ()
) -> tuple[tuple[KnownFamily, ...], tuple[KnownFamily, ...]]:
    """The family of each prompt, in the order given, and the updated book: `known` unchanged, then the new families.

    The order of `known` is part of its meaning and must be kept. The order of `prompts` does not matter.
    """
    book = _Book(known)
    wordings = [read_wording(prompt.text) for prompt in prompts]
    order = sorted(range(len(prompts)), key=lambda index: (prompts[index].at, wordings[index].words))
    placed: dict[int, KnownFamily] = {index: book.place(wordings[index]) for index in order}
    return tuple(placed[index] for index in range(len(prompts))), tuple(book.families)


def same_request(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sets of content words ask for the same concrete thing."""
    if not one or not other:
        return False
    only_one, only_other = _without_spelling_variants(one - other, other - one)
    if not only_one and not only_other:
        return True
    if any(_pins(word) for word in only_one | only_other):
        return False
    longest = max(len(one), len(other))
    if only_one and only_other:
        return longest >= _LONG and max(len(only_one), len(only_other)) <= _EXCHANGED * longest
    return len(only_one or only_other) <= _EXTRA * longest


def _without_spelling_variants(one: frozenset[str], other: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    left, right = set(one), set(other)
    for word in sorted(one):
        twin = next((candidate for candidate in sorted(right) if _alike(word, candidate)), None)
        if twin is not None:
            left.discard(word)
            right.discard(twin)
    return frozenset(left), frozenset(right)


def _alike(word: str, other: str) -> bool:
    """Whether two different words are one word, inflected or mistyped. Numbers and CJK words never are."""
    if word[:_BEGINNING] != other[:_BEGINNING] or _pins(word) or _pins(other) or has_cjk(word):
        return False
    return Indel.normalized_similarity(word, other) >= _SPELLING


def _pins(word: str) -> bool:
    """Whether a word alone makes another request: a number, a version, a single letter, a negation."""
    return word in PINNING or any(sign.isdigit() for sign in word) or (len(word) == 1 and not has_cjk(word))


def _same_intent(head: Wording, known: frozenset[str]) -> bool:
    """Whether a head states the intent of a known group, whose label has these words."""
    words = frozenset(head.head)
    only_new, only_known = _without_spelling_variants(words - known, known - words)
    if not only_new and not only_known:
        return True
    if len(known) < 3 or only_known:  # two words ("write message") would swallow every kind of message
        return False
    return not head.bounded or len(only_new) == 1


@dataclass
class _Book:
    """The families in order, with an index over word beginnings so that placing does not compare with all of them."""

    known: Sequence[KnownFamily]
    families: list[KnownFamily] = field(init=False)
    _words: list[frozenset[str]] = field(init=False, default_factory=list)
    _exact: dict[frozenset[str], int] = field(init=False, default_factory=dict)
    _index: defaultdict[str, list[int]] = field(init=False, default_factory=lambda: defaultdict(list))
    _groups: dict[str, frozenset[str]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.families = []
        for family in self.known:
            self._enter(family)

    def place(self, wording: Wording) -> KnownFamily:
        """The family of a wording; a new one where no leader asks for the same thing."""
        words = frozenset(wording.words)
        position = self._exact.get(words)
        if position is None:
            position = next((p for p in self._candidates(words) if same_request(words, self._words[p])), None)
        if position is not None:
            return self.families[position]
        group = self._group(wording)
        leader = " ".join(wording.words)
        family = KnownFamily(id=family_id(group, leader), leader=leader, group=group)
        self._enter(family)
        return family

    def _enter(self, family: KnownFamily) -> None:
        words = frozenset(family.leader.split())
        position = len(self.families)
        self.families.append(family)
        self._words.append(words)
        self._exact.setdefault(words, position)
        self._groups.setdefault(family.group, frozenset(read_wording(family.group).words))
        for beginning in {word[:_BEGINNING] for word in words}:
            self._index[beginning].append(position)

    def _candidates(self, words: frozenset[str]) -> list[int]:
        """Positions, in book order, of families that share enough word beginnings to be the same request."""
        beginnings = {word[:_BEGINNING] for word in words}
        shared = Counter(position for beginning in beginnings for position in self._index.get(beginning, ()))
        enough = len(beginnings) - _EXTRA * len(words)
        return sorted(position for position, count in shared.items() if count >= enough)

    def _group(self, wording: Wording) -> str:
        name = label(wording.head) or label(wording.words[:_BEGINNING])
        if name in self._groups:
            return name
        return next((group for group, known in self._groups.items() if _same_intent(wording, known)), name)
