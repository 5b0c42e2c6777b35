"""Requests with the families and slices they belong to: settled from requests alone, before anything else is read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillopt_sleep.domain.sessions import Session
from skillopt_sleep.domain.slices import KnownFamily, Slice, SplitPolicy, slice_of
from skillopt_sleep.mine.conversations import Request, read_requests
from skillopt_sleep.mine.families import DatedText, assign_families

RECURRING_SESSIONS = 2
"""Distinct sessions a group must be seen in."""

_ONCE = "seen in one session only"
_REASKED = "asked again in the same session"


@dataclass(frozen=True, slots=True)
class Placed:
    """A request with the family and slice it belongs to."""

    request: Request
    family: KnownFamily
    slice: Slice


@dataclass(frozen=True, slots=True)
class Survey:
    """All requests of some sessions, placed."""

    placed: tuple[Placed, ...]
    book: tuple[KnownFamily, ...]
    """The updated book of families: the known ones unchanged, then the new ones."""
    dropped: Counter[str]
    """Turns that are no request, by reason."""


def survey(sessions: Sequence[Session], known: Sequence[KnownFamily], policy: SplitPolicy) -> Survey:
    """Every request of the sessions in its place. Pure: the order of `sessions` does not matter."""
    dropped: Counter[str] = Counter()
    distinct = {session.id: session for session in sessions}
    requests = [request for key in sorted(distinct) for request in read_requests(distinct[key], dropped)]
    families, book = assign_families([DatedText(request.at, request.text) for request in requests], known)
    placed = tuple(Placed(r, f, slice_of(f.id, policy)) for r, f in zip(requests, families, strict=True))
    return Survey(placed, book, dropped)


def recurring(groups: dict[str, list[Placed]], dropped: Counter[str]) -> dict[str, list[Placed]]:
    """Groups seen in enough sessions. Asking again in one session is counted, and its corrections are kept."""
    asked: set[tuple[str, str]] = set()
    for member in (member for members in groups.values() for member in members):
        occasion = (member.request.session, member.family.id)
        dropped[_REASKED] += occasion in asked
        asked.add(occasion)
    kept = {}
    for group, members in groups.items():
        if len({member.request.session for member in members}) >= RECURRING_SESSIONS:
            kept[group] = members
        else:
            dropped[_ONCE] += len({member.family.id for member in members})
    for reason in [reason for reason, count in dropped.items() if not count]:
        del dropped[reason]
    return kept


def by_group(placed: Sequence[Placed], intents: Mapping[str, str]) -> dict[str, list[Placed]]:
    """Requests by the group that their wording puts them in; groups of the same intent are one, named by it."""
    groups: defaultdict[str, list[Placed]] = defaultdict(list)
    names: dict[str, str] = {}
    for member in sorted(placed, key=lambda member: member.family.group):
        name = intents.get(member.family.group, member.family.group)
        groups[names.setdefault(name.casefold(), name)].append(member)
    return dict(groups)


def skill_of(requests: Sequence[Request]) -> str | None:
    """The skill used most often near the requests of a group; failing that, in their sessions. Ties: by name."""
    near = Counter(name for request in requests for name in set(request.skills))
    counted = near or Counter(name for request in requests for name in request.session_skills)
    return min(counted, key=lambda name: (-counted[name], name)) if counted else None
