"""Sessions of the real shape, written the way a conversation reads."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

from skillopt_sleep.domain.sessions import Session, Turn
from skillopt_sleep.domain.slices import SplitPolicy
from skillopt_sleep.mine.families import family_id
from skillopt_sleep.mine.wording import label, read_wording

POLICY = SplitPolicy()
START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def session(number: int, *user: str, skills: tuple[str, ...] = ()) -> Session:
    """A session in which the person says these things, each answered by the assistant. Later numbers are later."""
    begin = START + timedelta(days=number)
    turns: list[Turn] = []
    for place, text in enumerate(user):
        at = begin + timedelta(minutes=2 * place)
        turns.append(Turn(role="user", text=text, at=at))
        answered = at + timedelta(minutes=1)
        turns.append(Turn(role="assistant", text="Here it is.", at=answered, skills=skills if not place else ()))
    return Session(
        id=f"s{number}",
        source="claude-code",
        project="/home/ada/notes",
        entrypoint="interactive",
        started_at=begin,
        ended_at=turns[-1].at,
        turns=tuple(turns),
    )


def subjects(
    wanted: Literal["train", "gate", "test"], count: int, template: str = "write the release notes for {}"
) -> list[str]:
    """Requests of one group whose families fall into a slice, found by trying names one after the other."""
    from skillopt_sleep.domain.slices import slice_of

    found: list[str] = []
    for name in _names():
        text = template.format(name)
        wording = read_wording(text)
        if slice_of(family_id(label(wording.head), " ".join(wording.words)), POLICY) == wanted:
            found.append(text)
        if len(found) == count:
            return found
    raise AssertionError("not enough names")


def _names() -> list[str]:
    heads = ("login", "signup", "billing", "search", "export", "profile", "upload", "payment", "calendar", "inbox")
    tails = ("form", "page", "wizard", "banner", "widget", "dialog")
    return [f"the {head} {tail}" for head in heads for tail in tails]
