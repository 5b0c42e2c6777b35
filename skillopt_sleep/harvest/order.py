"""The order in which sessions are handed on, and how many of them fit into memory."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from skillopt_sleep.domain.sessions import Session

MAX_WEIGHT = 40_000_000
"""About how many bytes of memory the sessions of a harvest may take together: the newest that fit are kept."""

_TURN_WEIGHT = 1_000
_PROMPT_TO_PRUNE = 256


def weight_of(session: Session) -> int:
    """About how many bytes of memory a session takes. One emoji makes its whole text four times as heavy."""
    return sum(_TURN_WEIGHT + sys.getsizeof(turn.text) for turn in session.turns)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A session that was read, or that the index holds."""

    id: str
    ended_at: datetime
    weight: int
    path: str = ""
    session: Session | None = None

    @property
    def rank(self) -> tuple[datetime, str]:
        return self.ended_at, self.id


class Newest:
    """The newest of many candidates, each id once (its newest copy), as many as the limit and memory allow."""

    def __init__(self, limit: int | None, max_weight: int = MAX_WEIGHT) -> None:
        self._limit = limit
        self._max_weight = max_weight
        self._by_id: dict[str, Candidate] = {}
        self._weight = 0
        self.cut_by_weight = False
        """Whether sessions were left out because they would not fit into memory."""

    def add(self, candidate: Candidate) -> None:
        other = self._by_id.get(candidate.id)
        if other is not None:
            if candidate.ended_at <= other.ended_at:
                return
            self._weight -= other.weight
        self._by_id[candidate.id] = candidate
        self._weight += candidate.weight
        crowd = self._limit is not None and len(self._by_id) >= 2 * self._limit + _PROMPT_TO_PRUNE
        if crowd or self._weight > self._max_weight * 1.5:
            self._prune()

    def __contains__(self, id_: str) -> bool:
        return id_ in self._by_id

    def __len__(self) -> int:
        return len(self._by_id)

    def ordered(self) -> tuple[Candidate, ...]:
        """Newest end first."""
        self._prune()
        return tuple(self._by_id.values())

    def _prune(self) -> None:
        kept: dict[str, Candidate] = {}
        weight = 0
        for candidate in sorted(self._by_id.values(), key=lambda c: c.rank, reverse=True)[: self._limit]:
            if kept and weight + candidate.weight > self._max_weight:
                self.cut_by_weight = True
                break
            kept[candidate.id] = candidate
            weight += candidate.weight
        self._by_id, self._weight = kept, weight


def newest_first(sessions: Iterable[Session], limit: int | None) -> tuple[Session, ...]:
    """Sessions by their end, newest first, each id once (its newest copy), at most `limit` of them."""
    newest = Newest(limit)
    for session in sessions:
        newest.add(Candidate(session.id, session.ended_at, weight_of(session), session=session))
    return tuple(candidate.session for candidate in newest.ordered() if candidate.session is not None)
