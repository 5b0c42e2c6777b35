"""A session as the requests in it, each with the corrections that followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from skillopt_sleep.domain.sessions import Session
from skillopt_sleep.mine.corrections import read_turn


@dataclass(frozen=True, slots=True)
class Remark:
    """A correction as it was typed. What it asks for is read later, when the slices stand."""

    at: datetime
    text: str


@dataclass(slots=True)
class Request:
    """One request in one session, up to the next one."""

    session: str
    at: datetime
    text: str
    remarks: list[Remark] = field(default_factory=list)
    reply: str = ""
    """The last answer before the next request."""
    skills: list[str] = field(default_factory=list)
    """Skills loaded between this request and the next, with repetitions."""
    session_skills: tuple[str, ...] = ()
    answered: bool = False


def read_requests(session: Session, dropped: Counter[str]) -> Iterator[Request]:
    """The requests of a session, oldest first. Turns that are neither request nor correction count in `dropped`."""
    current: Request | None = None
    for turn in session.turns:
        if turn.role == "user":
            kind = read_turn(turn.text, follows_reply=current is not None and current.answered)
            if kind == "request":
                if current:
                    yield current
                current = Request(session.id, turn.at, turn.text, session_skills=session.skills)
            elif kind == "correction" and current:
                current.remarks.append(Remark(turn.at, turn.text))
            else:
                dropped["praise" if kind == "praise" else "not a request"] += 1
        elif current:
            current.answered = True
            current.reply = turn.text or current.reply
        if current:
            current.skills += turn.skills
    if current:
        yield current
