"""The order in which sessions are handed on."""

from __future__ import annotations

from collections.abc import Iterable

from skillopt_sleep.domain.sessions import Session


def newest_first(sessions: Iterable[Session], limit: int | None) -> tuple[Session, ...]:
    """Sessions by their end, newest first, each id once (its newest copy), at most `limit` of them."""
    by_end = sorted(sessions, key=lambda session: (session.ended_at, session.id), reverse=True)
    unique: dict[str, Session] = {}
    for session in by_end:
        unique.setdefault(session.id, session)
    return tuple(unique.values())[:limit]
